/* SPDX-License-Identifier: MIT */
/*
 * The allocator's locks, which fork takes all of: init.c. The thread that forks may go on to
 * allocate while it holds them, since other libraries' handlers of the fork do so.
 */
#ifndef ALLOC_LOCK_H
#define ALLOC_LOCK_H

#include <pthread.h>

#include "fork.h"
#include "types.h"

/* The thread pointer of the thread that holds all locks across a fork; 0: none does. Atomic. */
extern uintptr_t ap_lock_holder __attribute__((visibility("hidden")));

static inline bool lock_is_held(void)
{
	return __atomic_load_n(&ap_lock_holder, __ATOMIC_RELAXED) ==
	       (uintptr_t)__builtin_thread_pointer();
}

static inline void lock_take(pthread_mutex_t *lock)
{
	if (unlikely(lock_is_held()))
		return;
	fork_mind();
	pthread_mutex_lock(lock);
}

static inline void lock_give(pthread_mutex_t *lock)
{
	if (likely(!lock_is_held()))
		pthread_mutex_unlock(lock);
}

#endif
