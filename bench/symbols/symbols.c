// SPDX-License-Identifier: MIT
/*
 * How long it takes to name addresses all over a file: `symbols FILE [COUNT]`, on its own, as a
 * recording does at its end, for the first time and then with what the first has left in the cache.
 * The addresses are different, drawn from the file's code by a generator that always starts the
 * same.
 */
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "build_id.h"
#include "elf_file.h"
#include "mapping.h"
#include "profile.h"
#include "symbolize.h"
#include "table.h"

#define COUNT_DEFAULT 100000

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The file's largest section of code, as a mapping of it. */
static struct ap_mapping code_find(const struct ap_elf_file *file, struct ap_object *object)
{
	struct ap_mapping mapping = {.object = object, .name = object->path};
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
			header.sh_size > mapping.end - mapping.start) {
			mapping.offset = header.sh_offset;
			mapping.start = header.sh_offset;
			mapping.end = header.sh_offset + header.sh_size;
		}
	if (mapping.start == mapping.end)
		errx(1, "%s has no code", object->path);
	return mapping;
}

static void counts_print(const struct ap_profile *profile)
{
	uint32_t lines = 0, frames = 0, named = 0;

	for (uint32_t i = 0; i < profile->location_count; i++) {
		const struct ap_location *location = &profile->locations[i];
		const struct ap_line *outer = &location->line[location->lines - 1];

		frames += location->lines;
		lines += outer->line != 0;
		named += *profile->functions[outer->function].system_name != '\0';
	}
	printf("%u addresses, %u with a name, %u with a line, %u frames, %u functions\n",
		profile->location_count, named, lines, frames, profile->function_count);
}

static void recording_end(const char *how, const struct ap_mapping *mapping, uint32_t count)
{
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	struct ap_symbolizer *symbolizer = ap_symbolizer_new();
	struct ap_profile *profile = ap_profile_new();
	uint64_t state = 1;
	struct rusage usage;

	if (!symbolizer || !profile)
		errx(1, "out of memory");
	while (profile->location_count < count) {
		state = ap_hash_u64(state, 1);
		if (ap_symbolize_location(symbolizer, profile, mapping,
			    mapping->start + state % (mapping->end - mapping->start), false) < 0)
			errx(1, "out of memory");
	}
	ap_symbolizer_keep(symbolizer);
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	getrusage(RUSAGE_SELF, &usage);
	if (!strcmp(how, "cold"))
		counts_print(profile);
	printf("%s: %.2f s, of them %.2f s of CPU; at most %.0f MiB resident\n", how, wall, cpu,
		(double)usage.ru_maxrss / 1024);
	ap_profile_free(profile);
	ap_symbolizer_free(symbolizer);
}

/* Runs in a process of its own, so that the next one can only use what is on disk. */
static void recording_run(const char *how, const struct ap_mapping *mapping, uint32_t count)
{
	pid_t child = fork();
	int status;

	if (!child) {
		recording_end(how, mapping, count);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		errx(1, "%s failed", how);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : COUNT_DEFAULT;
	char cache[] = "/tmp/allocprof-bench-XXXXXX", command[64];
	struct ap_elf_file file;
	struct ap_object object = {0};
	struct ap_mapping mapping;

	if (argc < 2)
		errx(1, "usage: symbols FILE [COUNT]");
	object.path = argv[1];
	object.fd = open(object.path, O_RDONLY | O_CLOEXEC);
	if (object.fd < 0 || ap_build_id_read(object.fd, object.build_id) ||
		ap_elf_file_open(&file, object.fd))
		errx(1, "cannot read %s", object.path);
	mapping = code_find(&file, &object);
	ap_elf_file_close(&file);
	if (count > (mapping.end - mapping.start) / 2)
		errx(1, "%s has too little code for %u addresses", object.path, count);
	printf("%s: %.1f MiB of code\n", object.path,
		(double)(mapping.end - mapping.start) / (1 << 20));
	fflush(stdout);
	if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1))
		err(1, "%s", cache);
	recording_run("cold", &mapping, count);
	recording_run("warm", &mapping, count);
	snprintf(command, sizeof(command), "rm -r %s", cache);
	return system(command) ? 1 : 0;
}
