/* SPDX-License-Identifier: MIT */
/* A small profile with known totals and with names that are hard on writers. */
#ifndef ALLOCPROF_TESTS_SAMPLE_PROFILE_H
#define ALLOCPROF_TESTS_SAMPLE_PROFILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define HOSTILE_NAME "evil;\"name\" <script>\n\x1b[31m \\ 100 \xff"

static inline uint32_t sample_location(struct ap_profile *profile, int mapping, uint64_t address,
	const char *name, const char *file)
{
	int function = ap_profile_add_function(profile, name, name, file, 10);
	struct ap_line line = {.function = (uint32_t)function, .line = file ? (int64_t)address : 0};

	return (uint32_t)ap_profile_add_location(profile, mapping, address, &line, 1);
}

/* Prime values, so that a mistake shows. Totals: 30 objects of 3187 bytes, 18 of 2028 live. */
static inline struct ap_profile *sample_profile(void)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_profile_info *info = &profile->info;
	int library = ap_profile_add_mapping(
		profile, 0x7f0000, 0x7f9000, 0, "/usr/lib/liballocprof.so", "0badc0de");
	int program = ap_profile_add_mapping(
		profile, 0x400000, 0x500000, 0x1000, "/usr/bin/program", "0123456789abcdef");
	uint32_t malloc_ = sample_location(profile, library, 0x7f0010, "malloc", NULL);
	uint32_t left = sample_location(profile, program, 0x400011, "left", "program.c");
	uint32_t main_ = sample_location(profile, program, 0x400022, "main", "program.c");
	uint32_t evil = sample_location(profile, program, 0x400033, HOSTILE_NAME, HOSTILE_NAME);
	uint32_t lost = (uint32_t)ap_profile_reserved(profile, "[stack map full]");
	char *large = malloc(1000001);
	struct ap_line inlined[2];
	uint32_t both;

	memset(large, 'L', 1000000);
	large[1000000] = '\0';
	inlined[0].function = (uint32_t)ap_profile_add_function(profile, "inlined", NULL, "i.h", 1);
	inlined[0].line = 5;
	inlined[1].function =
		(uint32_t)ap_profile_add_function(profile, large, NULL, "program.c", 1);
	inlined[1].line = 6;
	both = (uint32_t)ap_profile_add_location(profile, program, 0x400044, inlined, 2);
	free(large);

	profile->main_mapping = (uint32_t)program;
	ap_profile_set(&info->command, "program --with \"arguments\" and:colons");
	ap_profile_set(&info->comm, "program");
	ap_profile_set(&info->host, "host");
	ap_profile_set(&info->end_reason, "interrupted");
	info->pid = 4127;
	info->start_ns = 1796000000123456789;
	info->duration_ns = 5000000017;
	info->period = 524288;
	info->samples = 31;
	info->frees = 7;
	info->lost = 2;
	info->whole_stacks = 29;

	ap_profile_add_sample(
		profile, (uint32_t[]){malloc_, left, main_}, 3, (int64_t[]){2, 101, 1, 53});
	ap_profile_add_sample(
		profile, (uint32_t[]){malloc_, evil, main_}, 3, (int64_t[]){3, 211, 3, 211});
	ap_profile_add_sample(
		profile, (uint32_t[]){malloc_, both, main_}, 3, (int64_t[]){7, 1009, 5, 757});
	ap_profile_add_sample(profile, (uint32_t[]){malloc_, main_}, 2, (int64_t[]){5, 859, 0, 0});
	ap_profile_add_sample(profile, &lost, 1, (int64_t[]){13, 1007, 9, 1007});
	return profile;
}

/* What a writer writes; the caller frees it. */
static inline char *written(ap_format_write_fn *write, const struct ap_profile *profile,
	const struct ap_format_options *options)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(write(out, profile, options), 0);
	fclose(out);
	assert_int_equal(strlen(text), length);
	return text;
}

static inline unsigned int occurrences(const char *text, const char *what)
{
	unsigned int count = 0;

	for (; (text = strstr(text, what)); text++)
		count++;
	return count;
}

#endif
