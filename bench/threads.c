// SPDX-License-Identifier: MIT
/*
 * Threads that share work, N blocks or so each:
 *
 *   threads slots N     four threads with 256 slots each: nothing is shared but the allocator
 *   threads handoff N   two threads produce, two consume; every block is freed by another thread
 *   threads free N      one thread allocates, three threads never do anything but free
 *   threads spawn N     short-lived threads, four at a time, 100 blocks each, of which ten outlive
 *                       the thread and are freed by the main one
 *   threads server N    as in larson's benchmark: four threads replace random ones of 1,000 blocks
 *                       each; after a while each hands its blocks to a new thread, and ends
 *
 * Blocks are handed over by hundreds under a lock, so that waiting costs little CPU time and the
 * allocator's shows.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define BATCH	256
#define THREADS 4

struct batch {
	struct batch *next;
	char *block[BATCH];
};

/* A bounded queue of batches. */
struct pipe {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *first, **end;
	int length, producers;
};

static void *checked(void *block)
{
	if (!block) {
		fprintf(stderr, "threads: out of memory\n");
		exit(1);
	}
	return block;
}

static pthread_t thread_start(void *(*run)(void *), void *data)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, run, data);

	if (err) {
		fprintf(stderr, "threads: cannot create a thread: %s\n", strerror(err));
		exit(1);
	}
	return thread;
}

static char *block_new(uint32_t *state, size_t low, size_t range)
{
	char *block = checked(malloc(low + random_next(state) % range));

	*block = 1;
	return block;
}

static void pipe_put(struct pipe *pipe, struct batch *batch)
{
	pthread_mutex_lock(&pipe->lock);
	while (pipe->length >= 16)
		pthread_cond_wait(&pipe->changed, &pipe->lock);
	batch->next = NULL;
	*pipe->end = batch;
	pipe->end = &batch->next;
	pipe->length++;
	pthread_cond_broadcast(&pipe->changed);
	pthread_mutex_unlock(&pipe->lock);
}

/* NULL: nothing will come any more. */
static struct batch *pipe_get(struct pipe *pipe)
{
	struct batch *batch;

	pthread_mutex_lock(&pipe->lock);
	while (!pipe->first && pipe->producers)
		pthread_cond_wait(&pipe->changed, &pipe->lock);
	batch = pipe->first;
	if (batch) {
		pipe->first = batch->next;
		if (!pipe->first)
			pipe->end = &pipe->first;
		pipe->length--;
		pthread_cond_broadcast(&pipe->changed);
	}
	pthread_mutex_unlock(&pipe->lock);
	return batch;
}

static void pipe_close(struct pipe *pipe)
{
	pthread_mutex_lock(&pipe->lock);
	pipe->producers--;
	pthread_cond_broadcast(&pipe->changed);
	pthread_mutex_unlock(&pipe->lock);
}

static struct pipe shared = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.end = &shared.first,
};
static long blocks_each;

static void *produce(void *data)
{
	uint32_t state = (uint32_t)(uintptr_t)data;

	for (long i = 0; i < blocks_each; i += BATCH) {
		struct batch *batch = checked(malloc(sizeof(*batch)));

		for (int k = 0; k < BATCH; k++)
			batch->block[k] = block_new(&state, 16, 512);
		pipe_put(&shared, batch);
	}
	pipe_close(&shared);
	return NULL;
}

static void *consume(void *data)
{
	struct batch *batch;

	while ((batch = pipe_get(&shared))) {
		for (int k = 0; k < BATCH; k++)
			free(batch->block[k]);
		free(batch);
	}
	return data;
}

static void run_pipe(long n, int producers, int consumers)
{
	pthread_t thread[2 * THREADS];
	int count = 0;

	blocks_each = n / producers;
	shared.producers = producers;
	while (count < producers) {
		thread[count] = thread_start(produce, (void *)(uintptr_t)(count + 1));
		count++;
	}
	while (count < producers + consumers)
		thread[count++] = thread_start(consume, NULL);
	while (count)
		pthread_join(thread[--count], NULL);
}

static void run_handoff(long n)
{
	run_pipe(n, 2, 2);
}

static void run_free(long n)
{
	run_pipe(n, 1, 3);
}

static void *replace_own(void *data)
{
	char *slot[256] = {NULL};
	uint32_t state = (uint32_t)(uintptr_t)data;

	for (long i = 0; i < blocks_each; i++) {
		char **at = &slot[random_next(&state) % 256];

		free(*at);
		*at = block_new(&state, 16, 1024);
	}
	for (int i = 0; i < 256; i++)
		free(slot[i]);
	return NULL;
}

static void run_slots(long n)
{
	pthread_t thread[THREADS];

	blocks_each = n / THREADS;
	for (int i = 0; i < THREADS; i++)
		thread[i] = thread_start(replace_own, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

struct visit {
	uint32_t state;
	char *left[10]; /* what outlives the thread */
};

static void *visit(void *data)
{
	struct visit *visit = data;
	char *block[100];

	for (int i = 0; i < 100; i++)
		block[i] = block_new(&visit->state, 16, 1024);
	for (int i = 0; i < 100; i++) {
		if (i % 10)
			free(block[i]);
		else
			visit->left[i / 10] = block[i];
	}
	return NULL;
}

static void run_spawn(long n)
{
	struct visit visits[THREADS] = {{1}, {2}, {3}, {4}};
	pthread_t thread[THREADS];

	for (long i = 0; i < n; i += 100 * THREADS) {
		for (int k = 0; k < THREADS; k++)
			thread[k] = thread_start(visit, &visits[k]);
		for (int k = 0; k < THREADS; k++) {
			pthread_join(thread[k], NULL);
			for (int left = 0; left < 10; left++)
				free(visits[k].left[left]);
		}
	}
}

struct server {
	char *block[1000];
	uint32_t state;
	long remaining;
};

/* One of the threads that follow each other; joined by nobody, waited for by `served`. */
static pthread_mutex_t served_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t served_changed = PTHREAD_COND_INITIALIZER;
static int serving = THREADS;

static void *serve(void *data)
{
	struct server *server = data;

	for (int i = 0; i < 20000 && server->remaining > 0; i++, server->remaining--) {
		char **at = &server->block[random_next(&server->state) % 1000];

		free(*at);
		*at = block_new(&server->state, 8, 1000);
	}
	if (server->remaining > 0) {
		pthread_detach(thread_start(serve, server));
		return NULL;
	}
	pthread_mutex_lock(&served_lock);
	serving--;
	pthread_cond_signal(&served_changed);
	pthread_mutex_unlock(&served_lock);
	return NULL;
}

static void run_server(long n)
{
	static struct server servers[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		servers[i].state = i + 1;
		servers[i].remaining = n / THREADS;
		pthread_detach(thread_start(serve, &servers[i]));
	}
	pthread_mutex_lock(&served_lock);
	while (serving)
		pthread_cond_wait(&served_changed, &served_lock);
	pthread_mutex_unlock(&served_lock);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long n);
	} kinds[] = {
		{"slots", run_slots},
		{"handoff", run_handoff},
		{"free", run_free},
		{"spawn", run_spawn},
		{"server", run_server},
	};
	long n = argc == 3 ? atol(argv[2]) : 0;

	for (size_t i = 0; n > 0 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].run(n);
			return 0;
		}
	}
	fprintf(stderr, "usage: threads slots|handoff|free|spawn|server N\n");
	return 2;
}
