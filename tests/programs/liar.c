// SPDX-License-Identifier: MIT
/*
 * A target that is hostile: liar FILE... maps the files as code, whatever they are, and goes on to
 * map and unmap the first one at full speed. Its /tmp/perf-PID.map is a pipe to which nobody
 * writes. A byte of its standard input lets it fire SHOTS allocations of one object through
 * honest(), and then, through garbage(), GARBAGE allocations and frees with whatever numbers; it
 * says "done", and at the next byte removes the pipe and exits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes.h"

#define SHOTS	100
#define GARBAGE 100000

static __attribute__((noinline)) void honest(void)
{
	for (uint64_t i = 0; i < SHOTS; i++)
		fire_alloc(0x100000000000 + 16 * i, 16, 16);
}

static __attribute__((noinline)) void garbage(void)
{
	static const uint64_t edges[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
	uint64_t random = 88172645463325252, number[3];

	for (int i = 0; i < GARBAGE; i++) {
		for (int k = 0; k < 3; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			number[k] = random % 8 < 5 ? edges[random % 8] : random >> random % 64;
		}
		fire_alloc(number[0], number[1], number[2]);
		fire_free(i % 2 ? number[0] : number[1]);
	}
}

static atomic_int ended;

static void *map_and_unmap(void *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (!ended && fd >= 0) {
		void *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		void *nothing =
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(code, 8192);
		munmap(nothing, 4096);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t mapper;
	struct stat status;
	char path[64], byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (argc < 2 || mkfifo(path, 0644))
		return 2;
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &status) ||
			mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_NORESERVE, fd, 0) == MAP_FAILED) {
			perror(argv[i]);
			return 1;
		}
	}
	if (pthread_create(&mapper, NULL, map_and_unmap, argv[1]))
		return 1;
	printf("ready\n");
	if (read(STDIN_FILENO, &byte, 1) == 1) {
		honest();
		garbage();
		printf("done\n");
		byte = (char)read(STDIN_FILENO, &byte, 1);
	}
	ended = 1;
	pthread_join(mapper, NULL);
	unlink(path);
	return 0;
}
