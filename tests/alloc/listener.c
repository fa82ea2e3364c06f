// SPDX-License-Identifier: MIT
#include "listener.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"

#define SLOTS (1 << 20)

extern uint64_t allocprof_sample_period;

__thread struct site *listener_site __attribute__((tls_model("initial-exec")));
__thread uint64_t listener_thread_samples __attribute__((tls_model("initial-exec")));

/* Open addressing, with tombstones; static, since the allocator is under test. */
#define TOMBSTONE ((const void *)1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const void *slots[SLOTS];
static uint64_t live, fired, unknown_frees;
static bool tolerant;

void __wrap_ap_probe_alloc(const void *pointer, size_t size, uint64_t weight);
void __wrap_ap_probe_free(const void *pointer);

static void fail(const char *what, const void *pointer)
{
	fprintf(stderr, "listener: %s %p\n", what, pointer);
	abort();
}

/* The pointer's slot; if it is in none, the one where it may go. */
static size_t slot_of(const void *pointer)
{
	size_t i = ((uintptr_t)pointer >> 4) * 0x9e3779b97f4a7c15 >> 44, grave = SLOTS;

	for (size_t steps = 0; steps < SLOTS; steps++, i = (i + 1) % SLOTS) {
		if (slots[i] == pointer)
			return i;
		if (slots[i] == TOMBSTONE && grave == SLOTS)
			grave = i;
		if (!slots[i])
			return grave == SLOTS ? i : grave;
	}
	fail("table full at", pointer);
	return 0;
}

void __wrap_ap_probe_alloc(const void *pointer, size_t size, uint64_t weight)
{
	struct site *site = listener_site;
	size_t i;

	listener_thread_samples++;
	pthread_mutex_lock(&lock);
	fired++;
	if (weight < size)
		fail("a weight below the size of", pointer);
	i = slot_of(pointer);
	if (slots[i] != pointer)
		live++;
	else if (!tolerant)
		fail("alloc of a live sample", pointer);
	slots[i] = pointer;
	if (site) {
		__atomic_fetch_add(&site->weight, weight, __ATOMIC_RELAXED);
		__atomic_fetch_add(&site->samples, 1, __ATOMIC_RELAXED);
		site->objects += (double)weight / (double)size;
	}
	pthread_mutex_unlock(&lock);
}

void __wrap_ap_probe_free(const void *pointer)
{
	size_t i;

	pthread_mutex_lock(&lock);
	fired++;
	i = slot_of(pointer);
	if (slots[i] == pointer) {
		slots[i] = TOMBSTONE;
		live--;
	} else {
		unknown_frees++;
	}
	pthread_mutex_unlock(&lock);
}

void listener_attach(uint64_t period)
{
	__atomic_store_n(&allocprof_sample_period, period, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ap_free_semaphore, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ap_alloc_word.semaphore, 1, __ATOMIC_RELAXED);
	/* Meanwhile a thread may have noticed that the last listener had gone. */
	__atomic_store_n(&allocprof_sample_period, period, __ATOMIC_RELAXED);
}

void listener_detach(void)
{
	__atomic_fetch_sub(&ap_alloc_word.semaphore, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&ap_free_semaphore, 1, __ATOMIC_RELAXED);
}

bool listener_attached(void)
{
	return probe_alloc_enabled();
}

uint64_t listener_period(void)
{
	return ap_probe_period();
}

static uint64_t read_locked(const uint64_t *value)
{
	uint64_t copy;

	pthread_mutex_lock(&lock);
	copy = *value;
	pthread_mutex_unlock(&lock);
	return copy;
}

uint64_t listener_live(void)
{
	return read_locked(&live);
}

uint64_t listener_fired(void)
{
	return read_locked(&fired);
}

uint64_t listener_unknown_frees(void)
{
	return read_locked(&unknown_frees);
}

void listener_tolerate(bool reuse)
{
	pthread_mutex_lock(&lock);
	tolerant = reuse;
	pthread_mutex_unlock(&lock);
}

void listener_forget(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < SLOTS; i++)
		slots[i] = NULL;
	live = 0;
	pthread_mutex_unlock(&lock);
}
