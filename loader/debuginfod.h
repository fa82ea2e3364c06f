/* SPDX-License-Identifier: MIT */
/*
 * Debug files from the servers that the user has named in DEBUGINFOD_URLS: by elfutils' library,
 * which keeps them in its own cache. It is loaded only then: it brings an HTTP client with it.
 *
 * Never a surprise: without that variable, or with privilege from the program's file (setuid, file
 * capabilities), nobody is asked.
 */
#ifndef ALLOCPROF_DEBUGINFOD_H
#define ALLOCPROF_DEBUGINFOD_H

#include <stdint.h>

struct ap_debuginfod;

struct ap_debuginfod_options {
	uint64_t limit_ns; /* for everything that is asked for, together */
	/* Called now and then while it is waited for; total 0: nothing has come yet. NULL: not. */
	void (*progress)(void *context, const char *name, long done, long total);
	void *context;
};

/* 0; -ENOENT: not configured; -ENOSYS: the library is not there; -ENOMEM. */
int ap_debuginfod_new(struct ap_debuginfod **ret, const struct ap_debuginfod_options *options);

/*
 * The debug file with this build id, for the file `name`. Whether it is the right one is for the
 * caller to see. A descriptor; -ENOENT: nobody has it, or nobody answers; -ETIMEDOUT: the time is
 * over.
 */
int ap_debuginfod_open(struct ap_debuginfod *debuginfod, const char *build_id, const char *name);

/* How many files were not waited for because the time was over. */
uint32_t ap_debuginfod_late(const struct ap_debuginfod *debuginfod);

void ap_debuginfod_free(struct ap_debuginfod *debuginfod); /* NULL is fine */

#endif
