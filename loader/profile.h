/* SPDX-License-Identifier: MIT */
/*
 * The profile in memory: pprof's model, with everything interned. A recording becomes one, a
 * .pb.gz read from the disk becomes one, and every output is written from one.
 *
 * The arrays of struct ap_profile may be read by everybody and are changed by the functions below
 * alone. They move when something is added: keep indices, not pointers. Strings do not move.
 *
 * Every string in a profile is valid UTF-8 of at most AP_STRING_MAX bytes (what was not has been
 * replaced by U+FFFD, or cut), because the formats want that. It may still hold control
 * characters, quotes and markup: a writer escapes for its own syntax.
 *
 * Functions that can fail return a negative errno (only -ENOMEM, unless said otherwise), and
 * those that return an index return it as a number >= 0.
 */
#ifndef ALLOCPROF_PROFILE_H
#define ALLOCPROF_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "labels.h"

#define AP_STRING_MAX 65536

/* The four values of a sample, in the order in which pprof files from Go have them. */
enum ap_value {
	AP_ALLOC_OBJECTS, /* count */
	AP_ALLOC_SPACE,	  /* bytes */
	AP_INUSE_OBJECTS, /* count */
	AP_INUSE_SPACE,	  /* bytes */
	AP_VALUES
};

/* Their names in pprof files: "inuse_space", ... */
extern const char *const ap_value_names[AP_VALUES];

/*
 * What a value is. Of our own recordings always the four above; a file that somebody else wrote
 * may lack some (type "") or hold others in their place.
 */
struct ap_value_type {
	const char *type; /* one of ap_value_names in its place, or what a file has instead */
	const char *unit; /* "bytes", "count", ... */
};

struct ap_profile_mapping {
	uint64_t start, limit, offset;
	const char *file;     /* interned; "" unknown */
	const char *build_id; /* interned; hex, "" unknown */
};

struct ap_function {
	const char *name;	 /* demangled; never "" in a profile that was recorded */
	const char *system_name; /* as in the symbol table; "": the name is made up */
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
	uint64_t address;     /* in the target; inside the call, not the return address. 0: none */
	struct ap_line *line; /* innermost inlined function first; the last is the real one */
	uint32_t lines;	      /* 0: not symbolized; at least one afterwards */
};

struct ap_profile_thread {
	const char *name; /* interned; "" unknown */
	int64_t tid;	  /* 0 unknown */
};

/* A part of a stack's blocks: those with these labels. */
struct ap_sample {
	uint32_t *location; /* indices, leaf first; shared by the samples of one stack */
	uint32_t depth;
	uint32_t first; /* index of the first sample with this stack: equal for equal stacks */
	struct ap_labels labels;
	int64_t value[AP_VALUES];
	uint64_t samples; /* how many samples of the allocator the values stand for; 0: not known */
	double variance[AP_VALUES]; /* 0: follows from `samples`, see estimate.h */
};

/*
 * What is known of the recording as a whole: the header of a picture, the comments of a .pb.gz. The
 * strings belong to the profile, NULL where unknown; set them with ap_profile_set().
 */
struct ap_profile_info {
	char *command; /* the target's command line */
	char *comm;    /* its short name */
	char *host;
	char *filter;	  /* what was left out, as options: "--leak=10% -X cache" */
	char *end_reason; /* why the recording ended: "interrupted", "target exited", ... */
	int64_t pid;
	int64_t start_ns; /* Unix time of the attach */
	int64_t duration_ns;
	int64_t period;	       /* bytes between samples, mean; where it changed, the largest */
	int64_t period_lowest; /* 0: it did not change */
	uint64_t samples;      /* alloc probes that fired */
	uint64_t frees;	       /* free probes that fired for a block of this recording */
	uint64_t lost;	       /* samples that could not be filed under their stack; charged to a
				* reserved frame, see ap_profile_reserved() */
	uint64_t whole_stacks; /* samples whose stack reached the start of its thread */
	int64_t left_out[AP_VALUES]; /* by a filter, by enum ap_value: not in the totals */
};

struct ap_profile {
	struct ap_profile_info info;
	struct ap_value_type type[AP_VALUES];
	enum ap_value default_value; /* what a reader should see first */
	struct ap_profile_mapping *mappings;
	struct ap_function *functions;
	struct ap_location *locations;
	struct ap_sample *samples;
	struct ap_profile_thread *threads;
	uint32_t mapping_count, function_count, location_count, sample_count, thread_count;
	uint32_t stack_count;	  /* different stacks among the samples */
	uint32_t main_mapping;	  /* index of the program itself, for writers that put it first */
	int64_t total[AP_VALUES]; /* sums over the samples; saturating */
	uint64_t number;	  /* different for every profile that this process makes */
	bool is_merged; /* made by merging: the samples' variances are complete, see estimate.h */
	struct ap_profile_index *index; /* private */
};

/* An empty profile with the four types above, live bytes the default. NULL: out of memory. */
struct ap_profile *ap_profile_new(void);
void ap_profile_free(struct ap_profile *profile); /* NULL is fine */

/*
 * Whether the profile has this value. Files of other profilers may have another one in its place.
 */
bool ap_profile_has(const struct ap_profile *profile, enum ap_value value);

/* Replaces one of info's strings by a copy, made valid UTF-8. */
int ap_profile_set(char **field, const char *text);

/* The profile's own copy of a string; equal strings have equal pointers. NULL: out of memory. */
const char *ap_profile_string(struct ap_profile *profile, const char *text, size_t length);

/* Find or add; the index. file and build_id may be NULL. */
int ap_profile_add_mapping(struct ap_profile *profile, uint64_t start, uint64_t limit,
	uint64_t offset, const char *file, const char *build_id);

/* Find or add; the index. system_name NULL: made up. file NULL: unknown. */
int ap_profile_add_function(struct ap_profile *profile, const char *name, const char *system_name,
	const char *file, int64_t start_line);

/*
 * Find or add; the index. Two locations are one when mapping, address and lines are equal.
 * `lines` may be 0; the array is copied.
 */
int ap_profile_add_location(struct ap_profile *profile, int32_t mapping, uint64_t address,
	const struct ap_line *line, uint32_t lines);

/*
 * The location that stands for a loss or an unreadable stack: no address, one function of this
 * name. By custom the name is in brackets: "[stack map full]". A sample charged to it has that
 * one location, or the frames that are known and then it as the outermost.
 */
int ap_profile_reserved(struct ap_profile *profile, const char *name);

bool ap_location_is_reserved(const struct ap_profile *profile, const struct ap_location *location);

/* Find or add; the index. name NULL: unknown. */
int ap_profile_add_thread(struct ap_profile *profile, const char *name, int64_t tid);

/*
 * Add the values, and the number of samples that they stand for, to the sample with these locations
 * (leaf first) and labels, creating it when it is new. The second one adds to the sample without
 * labels, for an unknown number.
 */
int ap_profile_add_labeled(struct ap_profile *profile, const uint32_t *location, uint32_t depth,
	const struct ap_labels *labels, const int64_t value[AP_VALUES], uint64_t samples);
int ap_profile_add_sample(struct ap_profile *profile, const uint32_t *location, uint32_t depth,
	const int64_t value[AP_VALUES]);

/*
 * a + b, saturating. Sums of what an untrusted file says must not wrap: a total that is too small
 * would be believed.
 */
int64_t ap_value_add(int64_t a, int64_t b);

/*
 * Adds `factor` times everything in `other`; -1 subtracts, which makes a diff. Locations are
 * matched by mapping (build id or file, size and offset), address within it, and lines, so two
 * runs at other addresses meet. Samples whose values all come out 0 stay. Variances add up, also
 * when it is subtracted.
 */
int ap_profile_merge(struct ap_profile *profile, const struct ap_profile *other, int factor);

/*
 * Fills an empty profile with `profile` minus `base`. Where both are moments of one recording, the
 * blocks that were live at both add nothing to the variance. 0 or -ENOMEM.
 */
int ap_profile_difference(struct ap_profile *difference, const struct ap_profile *profile,
	const struct ap_profile *base);

/* Multiplies one value of all samples, and makes the total their sum. */
void ap_profile_scale(struct ap_profile *profile, enum ap_value value, double factor);

/* ---- A sample as it is shown ---- */

/* One function of a stack, inlined ones included. */
struct ap_shown_frame {
	uint32_t function; /* index */
	uint32_t location; /* index */
	int64_t line;	   /* 0 unknown */
};

/* A buffer for ap_profile_frames(): start with {0}, free(frame) at the end. */
struct ap_shown_frames {
	struct ap_shown_frame *frame; /* leaf first */
	uint32_t count;
	uint32_t room;
};

/*
 * The functions of a sample, leaf first. Unless `show_allocator`, the allocator's own frames
 * (see allocator.h) are left out at the leaf end, so that frame[0] is the function that called
 * malloc. At least one frame is left for a sample that has any.
 */
int ap_profile_frames(const struct ap_profile *profile, const struct ap_sample *sample,
	bool show_allocator, struct ap_shown_frames *frames);

#endif
