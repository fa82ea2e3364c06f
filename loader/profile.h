/* SPDX-License-Identifier: MIT */
/*
 * The profile in memory: pprof's model, with everything interned. A recording becomes one, a
 * .pb.gz read from the disk becomes one, and every output is written from one.
 *
 * Strings, functions, mappings, locations and samples live in the profile and are freed with it.
 * Functions that can fail return a negative errno (only -ENOMEM, unless said otherwise).
 */
#ifndef ALLOCPROF_PROFILE_H
#define ALLOCPROF_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* The four values of a sample, in the order in which pprof files from Go have them. */
enum ap_value {
	AP_ALLOC_OBJECTS, /* count */
	AP_ALLOC_SPACE,	  /* bytes */
	AP_INUSE_OBJECTS, /* count */
	AP_INUSE_SPACE,	  /* bytes */
	AP_VALUES
};

struct ap_profile_mapping {
	uint64_t start, limit, offset;
	const char *file;     /* interned; "" unknown */
	const char *build_id; /* interned; hex, "" unknown */
};

struct ap_function {
	const char *name;	 /* demangled; "" unknown */
	const char *system_name; /* as in the symbol table */
	const char *file;	 /* source file; "" unknown */
	int64_t start_line;
};

/* One source position; a location has several where functions were inlined. */
struct ap_line {
	uint32_t function; /* index */
	int64_t line;	   /* 0 unknown */
};

struct ap_location {
	int32_t mapping;      /* index, -1: none */
	uint64_t address;     /* in the target */
	struct ap_line *line; /* innermost inlined function first; the last is the real one */
	uint32_t lines;	      /* 0: not symbolized; at least one afterwards */
};

struct ap_sample {
	uint32_t *location; /* indices, leaf first */
	uint32_t depth;
	int64_t value[AP_VALUES];
};

/* What is not stacks: the header of a picture, the comments of a .pb.gz. */
struct ap_profile_info {
	char *command;	       /* the target's command line, printable */
	char *comm;	       /* its short name */
	char *host;
	char *end_reason;      /* why the recording ended: "interrupted", "target exited", ... */
	int64_t pid;
	int64_t start_ns;      /* Unix time of the attach */
	int64_t duration_ns;
	int64_t period;	       /* bytes between samples, mean */
	uint64_t samples;      /* alloc probes that fired */
	uint64_t frees;	       /* free probes that fired for a block of this recording */
	uint64_t lost;	       /* samples that could not be filed under their stack; charged to a
				* reserved frame, see ap_loss_name() */
	uint64_t whole_stacks; /* samples whose stack reached the start of its thread */
};

struct ap_profile; /* opaque below this line; see profile.c */

#endif
