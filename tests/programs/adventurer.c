// SPDX-License-Identifier: MIT
/*
 * Speaks the probe contract itself and gets into something: adventurer WHAT [ARGUMENT]. A byte of
 * its standard input lets it fire SHOTS allocations of 16 bytes through before(), then do WHAT,
 * then fire as many through after(), and say "done". WHAT is
 *
 *   user          become nobody
 *   namespaces    enter a mount namespace with an empty /tmp, and a pid namespace for its children
 *   daemon        go on in a child, in a session of its own
 *   replace FILE  have FILE in the place of its own executable
 *   libraries FILE   load and unload FILE 100 times, with an allocation in between
 *   threads       create and end 10,000 threads, each with an allocation through in_thread()
 *   stop          be stopped, until somebody lets it go on
 *   exec          execute itself, to do only what comes after
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "probes.h"

#define SHOTS	100
#define THREADS 10000
#define AT_ONCE 50
#define LOADS	100

static __attribute__((noinline)) void fire(void)
{
	static uint64_t fired;

	fire_alloc(0x100000000000 + 16 * __atomic_fetch_add(&fired, 1, __ATOMIC_RELAXED), 16, 16);
}

static __attribute__((noinline)) void before(void)
{
	for (int i = 0; i < SHOTS; i++)
		fire();
}

static __attribute__((noinline)) void after(void)
{
	for (int i = 0; i < SHOTS; i++)
		fire();
}

static void *in_thread(void *unused)
{
	fire();
	__asm__ volatile("");
	return NULL;
}

static int threads_run(void)
{
	pthread_t threads[AT_ONCE];

	for (int i = 0; i < THREADS / AT_ONCE; i++) {
		for (int k = 0; k < AT_ONCE; k++)
			if (pthread_create(&threads[k], NULL, in_thread, NULL))
				return -1;
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(threads[k], NULL);
	}
	return 0;
}

static int libraries_load(const char *path)
{
	for (int i = 0; i < LOADS; i++) {
		void *library = dlopen(path, RTLD_NOW);

		if (!library)
			return -1;
		fire();
		dlclose(library);
	}
	return 0;
}

static int namespaces_enter(void)
{
	return unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("none", "/tmp", "tmpfs", 0, NULL) || unshare(CLONE_NEWPID);
}

static int have(const char *what, const char *argument, char **argv)
{
	char path[4096];
	ssize_t length;

	if (!strcmp(what, "user"))
		return setgid(65534) || setuid(65534);
	if (!strcmp(what, "namespaces"))
		return namespaces_enter();
	if (!strcmp(what, "daemon"))
		return daemon(1, 1);
	if (!strcmp(what, "libraries"))
		return libraries_load(argument);
	if (!strcmp(what, "threads"))
		return threads_run();
	if (!strcmp(what, "stop"))
		return raise(SIGSTOP);
	length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length < 0)
		return -1;
	path[length] = '\0';
	if (!strcmp(what, "replace"))
		return rename(argument, path);
	if (!strcmp(what, "exec"))
		return execl(path, argv[0], "after", NULL);
	return -1;
}

int main(int argc, char **argv)
{
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "after")) {
		printf("semaphores %zu %zu\n", (size_t)&alloc_semaphore, (size_t)&free_semaphore);
		printf("ready\n");
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return 1;
		before();
		printf("fired\n");
		if (have(argv[1], argc > 2 ? argv[2] : NULL, argv)) {
			perror(argv[1]);
			return 1;
		}
	}
	after();
	printf("done %d\n", getpid());
	return read(STDIN_FILENO, &byte, 1) < 0;
}
