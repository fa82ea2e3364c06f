/* SPDX-License-Identifier: MIT */
/*
 * The probes of an ELF file: where its .note.stapsdt notes of the provider otel_memory say that
 * they are, and the variables that a profiler may set. The file is the target's and not trusted:
 * it is read with pread (a mapped file could be truncated under us), every offset is checked.
 */
#ifndef ALLOCPROF_USDT_H
#define ALLOCPROF_USDT_H

#include <stddef.h>
#include <stdint.h>

/* Inlined probes have many sites; more than this in one file are not followed. */
#define AP_USDT_SITES 64

enum ap_usdt_kind { AP_USDT_ALLOC, AP_USDT_FREE };

struct ap_usdt_site {
	enum ap_usdt_kind kind;
	uint64_t offset;	    /* in the file, of the instruction */
	uint64_t semaphore;	    /* in the file, of the counter; 0: none */
	uint64_t semaphore_address; /* the same as an address, as linked */
};

struct ap_usdt {
	struct ap_usdt_site site[AP_USDT_SITES];
	size_t count;
	/*
	 * The addresses, as linked, of the variables; 0: none. And address and file offset of the
	 * executable segment, by which they are found in the target.
	 */
	uint64_t period, guard;
	uint64_t text_address, text_offset;
};

/* A note as it stands in the file, before any relocation. Strings point into the note. */
struct ap_usdt_note {
	uint64_t address, base, semaphore;
	const char *provider, *name, *arguments;
};

/*
 * Reads the probes and variables of a file. 0; -ENOENT: it has no such probes; -ENOTSUP: it has
 * some, but their arguments are not where the contract wants them, or it is not for this machine;
 * -EBADMSG: the file is damaged; or another negative errno. Moves no file offset.
 */
int ap_usdt_read(int fd, struct ap_usdt *ret);

/* Parses the descriptor of one note. 0 or -EBADMSG. */
int ap_usdt_note_parse(const void *bytes, size_t length, struct ap_usdt_note *ret);

#endif
