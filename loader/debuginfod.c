// SPDX-License-Identifier: MIT
#include "debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <elfutils/debuginfod.h>

#include "clock.h"

struct ap_debuginfod {
	struct ap_debuginfod_options options;
	debuginfod_client *client;
	uint64_t used_ns;  /* used up of options.limit_ns before the current file */
	uint64_t begin_ns; /* when the current file was asked for */
	const char *name;
	uint32_t late;
	__typeof__(&debuginfod_begin) begin;
	__typeof__(&debuginfod_find_debuginfo) find;
	__typeof__(&debuginfod_set_progressfn) set_progress;
	__typeof__(&debuginfod_end) end;
};

static bool is_late(const struct ap_debuginfod *debuginfod)
{
	return debuginfod->used_ns + (ap_clock_ns(CLOCK_MONOTONIC) - debuginfod->begin_ns) >=
	       debuginfod->options.limit_ns;
}

/*
 * Who is waiting for a file now. The library's callback gets its own client only, and nothing that
 * leads back here.
 */
static const struct ap_debuginfod *asking;

/* Anything but 0 ends the transfer. */
static int progress(debuginfod_client *client, long done, long total)
{
	const struct ap_debuginfod_options *options = &asking->options;

	if (options->progress)
		options->progress(options->context, asking->name, done, total);
	return is_late(asking);
}

static bool library_load(struct ap_debuginfod *debuginfod)
{
	const struct {
		void *function;
		const char *name;
	} wanted[] = {
		{&debuginfod->begin, "debuginfod_begin"},
		{&debuginfod->find, "debuginfod_find_debuginfo"},
		{&debuginfod->set_progress, "debuginfod_set_progressfn"},
		{&debuginfod->end, "debuginfod_end"},
	};
	void *library;

	/* Never unloaded: libraries that it loads have state that outlives it. */
	library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		void *found = dlsym(library, wanted[i].name);

		if (!found)
			return false;
		*(void **)wanted[i].function = found;
	}
	return true;
}

int ap_debuginfod_new(struct ap_debuginfod **ret, const struct ap_debuginfod_options *options)
{
	const char *urls = secure_getenv(DEBUGINFOD_URLS_ENV_VAR);
	struct ap_debuginfod *debuginfod;

	if (!urls || !*urls)
		return -ENOENT;
	debuginfod = calloc(1, sizeof(*debuginfod));
	if (!debuginfod)
		return -ENOMEM;
	debuginfod->options = *options;
	if (library_load(debuginfod))
		debuginfod->client = debuginfod->begin();
	if (!debuginfod->client) {
		ap_debuginfod_free(debuginfod);
		return -ENOSYS;
	}
	debuginfod->set_progress(debuginfod->client, progress);
	*ret = debuginfod;
	return 0;
}

int ap_debuginfod_open(struct ap_debuginfod *debuginfod, const char *build_id, const char *name)
{
	int fd;

	debuginfod->begin_ns = ap_clock_ns(CLOCK_MONOTONIC);
	if (is_late(debuginfod)) {
		debuginfod->late++;
		return -ETIMEDOUT;
	}
	debuginfod->name = name;
	asking = debuginfod;
	/* A length of 0 says that it is hex. */
	fd = debuginfod->find(debuginfod->client, (const unsigned char *)build_id, 0, NULL);
	asking = NULL;
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	else if (is_late(debuginfod))
		debuginfod->late++;
	debuginfod->used_ns += ap_clock_ns(CLOCK_MONOTONIC) - debuginfod->begin_ns;
	if (fd >= 0)
		return fd;
	return debuginfod->used_ns >= debuginfod->options.limit_ns ? -ETIMEDOUT : -ENOENT;
}

uint32_t ap_debuginfod_late(const struct ap_debuginfod *debuginfod)
{
	return debuginfod->late;
}

void ap_debuginfod_free(struct ap_debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	if (debuginfod->client)
		debuginfod->end(debuginfod->client);
	free(debuginfod);
}
