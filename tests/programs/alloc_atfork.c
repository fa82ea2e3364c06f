// SPDX-License-Identifier: MIT
/*
 * A program with handlers of fork, registered before it has a thread, that take a lock under which
 * others allocate: when they wait for it, the allocator must not hold its own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 300

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stop;

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

/* Blocks that come from the region, whose lock is taken for each. */
static void *thread(void *argument)
{
	for (size_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		pthread_mutex_lock(&lock);
		free(memset(malloc(100000 + i * 7919 % 1000000), 1, 100));
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t other;

	pthread_atfork(take, give, give);
	if (pthread_create(&other, NULL, thread, NULL))
		return 1;
	for (int i = 0; i < FORKS; i++) {
		int status = 1;
		pid_t pid = fork();

		if (pid == 0) {
			free(malloc(100000 + i * 1000));
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	write(1, "finished\n", 9);
	return 0;
}
