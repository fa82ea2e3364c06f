// SPDX-License-Identifier: MIT
/*
 * Threads that run, sleep, begin and end while somebody attaches. Each byte of standard input
 * begins a round, to be sent when the attach is done; from then on each group of threads counts
 * what it allocates, in a function of its own, and after the round the program prints
 *
 *   runner N       threads that were allocating all the time
 *   sleeper N      threads that were asleep
 *   leaver N       short-lived threads that had begun before, and end in this round
 *   starter N      short-lived threads that began in this round
 *   done ROUND
 *
 * All blocks are of 4 KiB and more: with a period of a few bytes every one of them is a sample. A
 * thread that is in the middle of a refill when the attach comes may use up that list unseen.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RUNNERS	 3
#define SLEEPERS 3
#define SPAWNERS 2
#define BLOCKS	 300 /* of a thread in a round */
#define STARTERS 100 /* in a round, at least */

static atomic_ulong opened, closed; /* rounds that have begun, and ended */
static atomic_ulong counted[4], finished, started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void block_use(unsigned long turn)
{
	void *block;

	switch (turn % 4) {
	case 0:
		block = calloc(1, 6000);
		break;
	case 1:
		block = aligned_alloc(256, 8192);
		break;
	case 2:
		block = malloc(100000);
		break;
	default:
		block = malloc(4096);
	}
	if (!block)
		abort();
	free(block);
}

#define GROUP(name, number)                                             \
	static __attribute__((noinline)) void name(unsigned long count) \
	{                                                               \
		for (unsigned long i = 0; i < count; i++)               \
			block_use(i);                                   \
		counted[number] += count;                               \
	}
GROUP(runner, 0)
GROUP(sleeper, 1)
GROUP(leaver, 2)
GROUP(starter, 3)

static __attribute__((noinline)) void warm_up(void)
{
	for (unsigned long i = 0; i < 64; i++)
		block_use(i);
	pause_shortly();
}

static void *runner_main(void *unused)
{
	for (unsigned long round = 1;; round++) {
		while (opened < round)
			warm_up();
		runner(BLOCKS);
		finished++;
		while (closed < round)
			pause_shortly();
	}
	return NULL;
}

static void *sleeper_main(void *unused)
{
	warm_up();
	for (unsigned long round = 1;; round++) {
		pthread_mutex_lock(&lock);
		while (opened < round)
			pthread_cond_wait(&woken, &lock);
		pthread_mutex_unlock(&lock);
		sleeper(BLOCKS);
		finished++;
		while (closed < round)
			pause_shortly();
	}
	return NULL;
}

static void *short_main(void *unused)
{
	if (opened != closed) {
		starter(BLOCKS);
		started++;
		return NULL;
	}
	for (int i = 0; i < 20 && opened == closed; i++)
		warm_up();
	if (opened != closed)
		leaver(BLOCKS);
	return NULL;
}

static void *spawner_main(void *unused)
{
	pthread_t ids[3];
	unsigned long round;

	for (;;) {
		for (int i = 0; i < 3; i++)
			if (pthread_create(&ids[i], NULL, short_main, NULL))
				abort();
		for (int i = 0; i < 3; i++)
			pthread_join(ids[i], NULL);
		if (started < STARTERS)
			continue;
		finished++;
		round = opened;
		while (closed < round)
			pause_shortly();
	}
	return NULL;
}

static void threads_create(int count, void *(*function)(void *))
{
	pthread_t id;

	for (int i = 0; i < count; i++)
		if (pthread_create(&id, NULL, function, NULL))
			abort();
}

int main(void)
{
	static const char *const groups[4] = {"runner", "sleeper", "leaver", "starter"};
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	threads_create(RUNNERS, runner_main);
	threads_create(SLEEPERS, sleeper_main);
	threads_create(SPAWNERS, spawner_main);
	printf("ready\n");
	for (unsigned long round = 1; read(STDIN_FILENO, &byte, 1) > 0; round++) {
		/* A slow path, which tells all threads that somebody listens. */
		free(malloc(1 << 20));
		pthread_mutex_lock(&lock);
		opened = round;
		pthread_cond_broadcast(&woken);
		pthread_mutex_unlock(&lock);
		while (finished < RUNNERS + SLEEPERS + SPAWNERS)
			pause_shortly();
		for (int i = 0; i < 4; i++)
			printf("%s %lu\n", groups[i], atomic_exchange(&counted[i], 0));
		finished = started = 0;
		printf("done %lu\n", round);
		closed = round;
	}
	return 0;
}
