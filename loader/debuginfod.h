/* SPDX-License-Identifier: MIT */
/*
 * Debug files from the servers that the user has named in DEBUGINFOD_URLS: by elfutils' library,
 * which keeps them in its own cache. It is loaded only then: it brings an HTTP client with it.
 *
 * Without that variable, or when this program has privilege from its file (setuid, file
 * capabilities), no server is asked.
 */
#ifndef ALLOCPROF_DEBUGINFOD_H
#define ALLOCPROF_DEBUGINFOD_H

#include <stdint.h>

struct ap_debuginfod;

struct ap_debuginfod_options {
	uint64_t limit_ns; /* for all requests together */
	/*
	 * Called now and then during a request; total 0: no answer yet. NULL: nobody wants to know.
	 */
	void (*progress)(void *context, const char *name, long done, long total);
	void *context;
};

/* 0; -ENOENT: not configured; -ENOSYS: the library is not there; -ENOMEM. */
int ap_debuginfod_new(struct ap_debuginfod **ret, const struct ap_debuginfod_options *options);

/*
 * The debug file with this build id, for the file `name`. The caller has to check that it is the
 * right one. May block until limit_ns is used up. Returns a descriptor, which the caller closes;
 * -ENOENT: no server has it, or none answers; -ETIMEDOUT: limit_ns is used up.
 */
int ap_debuginfod_open(struct ap_debuginfod *debuginfod, const char *build_id, const char *name);

/* How many files were not had because limit_ns was used up. */
uint32_t ap_debuginfod_late(const struct ap_debuginfod *debuginfod);

void ap_debuginfod_free(struct ap_debuginfod *debuginfod); /* NULL is fine */

#endif
