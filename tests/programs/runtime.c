// SPDX-License-Identifier: MIT
/*
 * A runtime in small: makes two functions, each of which calls what it is given, tells perf of
 * them, and allocates through both until it is killed. The first one is in /tmp/perf-PID.map, the
 * second in jit-PID.dump in the folder of the first argument, with a line. Says "ready" when it
 * allocates.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

typedef void work_fn(void);
typedef void made_fn(work_fn *work);

struct dump_header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
};

struct dump_record {
	uint32_t kind, size;
	uint64_t time;
};

static const char file[] = "made.src", name[] = "made_by_dump";

struct dump_lines {
	struct dump_record record;
	uint64_t address, entries, entry;
	int32_t line, discriminator;
	char file[sizeof(file)];
} __attribute__((packed));

struct dump_load {
	struct dump_record record;
	uint32_t pid, tid;
	uint64_t virtual_address, address, size, index;
	char name[sizeof(name)];
	unsigned char code[sizeof(code)];
} __attribute__((packed));

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void map_write(uint64_t address)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "we");
	if (!map)
		err(1, "%s", path);
	fprintf(map, "%lx %zx made_by_map\n", address, sizeof(code));
	fclose(map);
}

static void dump_write(const char *folder, uint64_t address)
{
	struct dump_header header = {
		.magic = 0x4a695444, .version = 1, .size = sizeof(header), .pid = getpid()};
	struct dump_lines lines = {
		.record = {2, sizeof(lines), now()},
		.address = address,
		.entries = 1,
		.entry = address,
		.line = 42,
	};
	struct dump_load load = {
		.record = {0, sizeof(load), now()},
		.pid = getpid(),
		.address = address,
		.size = sizeof(code),
	};
	char path[256];
	FILE *dump;

	memcpy(lines.file, file, sizeof(file));
	memcpy(load.name, name, sizeof(name));
	memcpy(load.code, code, sizeof(code));
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, getpid());
	dump = fopen(path, "w+e");
	if (!dump)
		err(1, "%s", path);
	fwrite(&header, sizeof(header), 1, dump);
	fwrite(&lines, sizeof(lines), 1, dump);
	fwrite(&load, sizeof(load), 1, dump);
	fflush(dump);
	/* That is how a profiler learns of it. */
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		err(1, "mmap");
	fclose(dump);
}

/* In memory of its own, or in a file of memory, as runtimes that map it twice do. */
static unsigned char *code_make(int fd)
{
	unsigned char *page;

	if (fd >= 0 && ftruncate(fd, PAGE))
		err(1, "ftruncate");
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		err(1, "mmap");
	memcpy(page, code, sizeof(code));
	return page;
}

__attribute__((noinline)) void allocate(void)
{
	for (int i = 0; i < 100; i++)
		free(malloc(10007));
}

int main(int argc, char **argv)
{
	unsigned char *mapped = code_make(memfd_create("code", MFD_CLOEXEC));
	unsigned char *dumped = code_make(-1);

	map_write((uintptr_t)mapped);
	dump_write(argc > 1 ? argv[1] : ".", (uintptr_t)dumped);
	for (long round = 0;; round++) {
		((made_fn *)(void *)mapped)(allocate);
		((made_fn *)(void *)dumped)(allocate);
		if (!round)
			puts("ready");
		fflush(stdout);
		usleep(1000);
	}
}
