// SPDX-License-Identifier: MIT
/*
 * What the library does when it is loaded, and when its process forks: one file, as what nothing
 * refers to is not taken out of an archive.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "abandon.h"
#include "fork.h"
#include "guard.h"
#include "heap.h"
#include "huge.h"
#include "lock.h"
#include "message.h"
#include "meta.h"
#include "region.h"
#include "sample.h"
#include "secure.h"

/*
 * Fork. All locks are taken, from the outermost in; so the child finds every shared structure
 * whole. The other threads' heaps stay as they are for ever, since their threads may have been
 * anywhere: what the child frees of their blocks goes to mailboxes that nobody empties. Their names
 * are taken off their spans, because the child's new threads will get the same: libc gives them the
 * stacks of those that are no more, and the thread pointers with them.
 *
 * A process without threads takes no lock: a signal's handler may fork, wherever it has interrupted
 * malloc, free or fork itself. And stdio's list of files is locked before ours, as glibc's own fork
 * does with its malloc: a thread that has locked a file or that list may be waiting for memory, and
 * fork, after these handlers, waits for the list.
 */
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));
extern void _IO_list_resetlock(void) __attribute__((weak));

bool ap_fork_registered;
uintptr_t ap_lock_holder;

static void fork_prepare(void)
{
	/* Already by the same handler: two threads may have registered it at once. */
	if (process_is_single() || lock_is_held())
		return;
	if (_IO_list_lock)
		_IO_list_lock();
	ap_sample_lock();
	ap_heap_lock();
	ap_abandon_lock();
	ap_guard_lock();
	ap_huge_lock();
	ap_region_lock();
	ap_meta_lock();
	__atomic_store_n(&ap_lock_holder, thread_pointer(), __ATOMIC_RELAXED);
}

static void fork_unlock(void)
{
	__atomic_store_n(&ap_lock_holder, 0, __ATOMIC_RELAXED);
	ap_meta_unlock();
	ap_region_unlock();
	ap_huge_unlock();
	ap_guard_unlock();
	ap_abandon_unlock();
	ap_heap_unlock();
	ap_sample_unlock();
}

static void fork_parent(void)
{
	if (!lock_is_held())
		return;
	fork_unlock();
	if (_IO_list_unlock)
		_IO_list_unlock();
}

static void spans_disown(void)
{
	uintptr_t self = thread_pointer();

	if (!ap_heaps || (ap_heaps == ap_heap && !ap_heap->next))
		return; /* there never was another thread */
	for (size_t slice = ap_region.first; slice < ap_table.limit; slice++) {
		struct ap_span *span = &ap_table.spans[slice];
		uintptr_t owner = span->owner & ~OWNER_FLAGS;

		if (owner != 0 && owner != self)
			span->owner = OWNER_GONE | (span->owner & OWNER_FLAGS);
	}
}

static void fork_child(void)
{
	if (lock_is_held()) {
		spans_disown();
		ap_heap_forget_parked();
		fork_unlock();
		if (_IO_list_resetlock)
			_IO_list_resetlock();
	}
	ap_sample_forked(ap_heap);
}

void ap_fork_register(void)
{
	/* Volatile, as libc declares pthread_atfork to be a leaf, which would never come back here. */
	static __thread volatile bool entered __attribute__((tls_model("initial-exec")));

	if (entered || __atomic_load_n(&ap_fork_registered, __ATOMIC_RELAXED))
		return;
	entered = true; /* register_atfork.c, and what allocates meanwhile, lead here again */
	pthread_atfork(fork_prepare, fork_parent, fork_child);
	entered = false;
	__atomic_store_n(&ap_fork_registered, true, __ATOMIC_RELAXED);
}

/*
 * Whether a variable of the environment is set, and not to 0. Not by secure_getenv, which would map
 * 64 KiB of libc that many programs never use: for a small one that is a twentieth of its memory.
 */
static bool option_is_on(const char *name)
{
	size_t length = strlen(name);

	for (char **variable = environ; variable && *variable; variable++) {
		const char *value = *variable + length;

		if (!strncmp(*variable, name, length) && *value == '=')
			return strcmp(value, "=") && strcmp(value, "=0") && !getauxval(AT_SECURE);
	}
	return false;
}

/*
 * malloc needs none of this: it has been called before, by the dynamic linker and by constructors
 * of other libraries.
 */
__attribute__((constructor)) static void library_start(void)
{
	if (option_is_on("ALLOCPROF_GUARD"))
		allocprof_guard = 1;
	if (option_is_on("ALLOCPROF_SECURE") && !ap_secure_start()) {
		struct ap_line line = {0};

		ap_line_text(&line, "allocprof: ALLOCPROF_SECURE ignored: threads run already");
		ap_line_write(&line, STDERR_FILENO);
	}
}
