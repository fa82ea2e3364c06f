// SPDX-License-Identifier: MIT
/* The table of sites: which functions called the allocator for how much. */
#include "format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "error.h"
#include "estimate.h"
#include "printable.h"
#include "short_name.h"
#include "table.h"
#include "text_blocks.h"
#include "units.h"

#define NAME_COLUMNS 64
#define TEXT_ROOM    256
#define VALUE_TEXT   32
#define ERROR_TEXT   (VALUE_TEXT + 4)

#define ERROR_COLUMNS  7
#define CHANGE_COLUMNS 14
#define THREAD_COLUMNS 15

struct site {
	uint32_t function; /* NO_FUNCTION: samples without a stack */
	int64_t line;
	int32_t thread; /* index into the profile's threads; -1: threads are not kept apart */
	int64_t value;
	struct ap_estimate estimate;
	struct ap_text_blocks blocks;
};

#define NO_FUNCTION UINT32_MAX

struct sites {
	struct site *sites;
	uint32_t count, room;
	struct ap_table table;
};

static bool site_equal(const void *array, uint32_t index, const void *key)
{
	const struct site *a = (const struct site *)array + index, *b = key;

	return a->function == b->function && a->line == b->line && a->thread == b->thread;
}

static int site_add(struct sites *sites, struct site key, const struct ap_profile *profile,
	const struct ap_sample *sample, const struct ap_format_options *options)
{
	uint64_t hash = ap_hash_u64(key.function, (uint64_t)key.line ^ (uint64_t)key.thread << 32);
	struct site *site;
	int64_t index = ap_table_find(&sites->table, hash, site_equal, sites->sites, &key);

	if (index < 0)
		index = ap_table_append(&sites->table, hash, (void **)&sites->sites, &sites->count,
			&sites->room, &key, sizeof(key));
	if (index < 0)
		return (int)index;
	site = &sites->sites[index];
	site->value = ap_value_add(site->value, sample->value[options->value]);
	ap_estimate_add(&site->estimate, profile, sample, options->value);
	ap_text_blocks_add(&site->blocks, sample, options->value);
	return 0;
}

static int sites_collect(struct sites *sites, const struct ap_profile *profile,
	const struct ap_format_options *options)
{
	struct ap_shown_frames frames = {0};
	int err = 0;

	for (uint32_t i = 0; i < profile->sample_count && !err; i++) {
		const struct ap_sample *sample = &profile->samples[i];
		struct site key = {.function = NO_FUNCTION, .thread = sample->labels.thread};

		err = ap_profile_frames(profile, sample, options->show_allocator, &frames);
		if (!err && frames.count) {
			uint32_t site = ap_site_frame(profile, frames.frame, frames.count);

			key.function = frames.frame[site].function;
			key.line = frames.frame[site].line;
		}
		if (!err)
			err = site_add(sites, key, profile, sample, options);
	}
	free(frames.frame);
	return err;
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static int site_compare(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (magnitude(x->value) != magnitude(y->value))
		return magnitude(x->value) > magnitude(y->value) ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* "41.2 MiB", "1234"; in a difference with a sign, and allocated values as a rate per second. */
static const char *value_text(char out[VALUE_TEXT], const struct ap_profile *profile,
	const struct ap_format_options *options, int64_t value)
{
	bool by_second = options->seconds > 0 && options->value <= AP_ALLOC_SPACE;
	const char *sign = value < 0 ? "-" : options->difference ? "+" : "";
	double number = (double)magnitude(value) / (by_second ? options->seconds : 1);
	char size[VALUE_TEXT - 4];

	if (strcmp(profile->type[options->value].unit, "bytes") == 0)
		ap_size_format(size, number);
	else if (by_second)
		snprintf(size, sizeof(size), "%.3g", number);
	else
		snprintf(size, sizeof(size), "%" PRIu64, magnitude(value));
	snprintf(out, VALUE_TEXT, "%s%s%s", sign, size, by_second ? "/s" : "");
	return out;
}

/*
 * The error of a difference, in its unit: "+/-1.2 MiB". As a share of a small change it
 * would tell nothing.
 */
static const char *change_error_text(char out[ERROR_TEXT], const struct ap_profile *profile,
	const struct ap_format_options *options, const struct ap_estimate *estimate)
{
	double half = ap_estimate_interval(estimate->variance);
	struct ap_format_options unsigned_options = *options;
	char value[VALUE_TEXT];

	*out = '\0';
	unsigned_options.difference = false;
	if (half >= 0.5 && half < 0x1p62)
		snprintf(out, ERROR_TEXT, "+/-%s",
			value_text(value, profile, &unsigned_options, llround(half)));
	return out;
}

/* The error of a value: "+/-12%", or "" when it is unknown or 0. */
static const char *error_text(char out[ERROR_TEXT], const struct ap_profile *profile,
	const struct ap_format_options *options, const struct ap_estimate *estimate)
{
	double percent = 100 * ap_estimate_share(estimate);

	if (options->difference)
		return change_error_text(out, profile, options, estimate);
	*out = '\0';
	if (percent <= 0)
		return out;
	if (percent < 999)
		snprintf(out, ERROR_TEXT, "+/-%.0f%%", percent);
	else
		snprintf(out, ERROR_TEXT, ">+999%%");
	return out;
}

/*
 * Counts the stacks: in a difference those that differ, in a recording all, also those of which
 * nothing is live.
 */
static int stacks_count(
	const struct ap_profile *profile, const struct ap_format_options *options, uint32_t *count)
{
	int64_t *sum;

	*count = profile->stack_count;
	if (!options->difference)
		return 0;
	sum = calloc(profile->sample_count + 1, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		int64_t *of_stack = &sum[profile->samples[i].first];

		*of_stack = ap_value_add(*of_stack, profile->samples[i].value[options->value]);
	}
	*count = 0;
	for (uint32_t i = 0; i < profile->sample_count; i++)
		*count += sum[i] != 0;
	free(sum);
	return 0;
}

/* Writes how much a filter has left out, which is not in the total. */
static void left_out_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	const struct ap_profile_info *info = &profile->info;
	char value[VALUE_TEXT], filter[TEXT_ROOM];

	if (!info->filter || options->difference)
		return;
	ap_printable(filter, sizeof(filter), info->filter);
	fprintf(out, "  left out: %s, by %s\n",
		value_text(value, profile, options, info->left_out[options->value]), filter);
}

static void total_write(FILE *out, const struct ap_profile *profile,
	const struct ap_format_options *options, const struct ap_estimate *total, uint32_t stacks)
{
	const struct ap_profile_info *info = &profile->info;
	const struct ap_value_type *type = &profile->type[options->value];
	bool is_live = options->value == AP_INUSE_OBJECTS || options->value == AP_INUSE_SPACE;
	bool is_objects = options->value == AP_ALLOC_OBJECTS || options->value == AP_INUSE_OBJECTS;
	enum ap_value allocated = is_objects ? AP_ALLOC_OBJECTS : AP_ALLOC_SPACE;
	char what[64], unit[32], value[VALUE_TEXT], error[ERROR_TEXT];

	error_text(error, profile, options, total);
	value_text(value, profile, options, profile->total[options->value]);
	if (ap_profile_has(profile, options->value)) {
		fprintf(out, "%s %s%s%s", is_live ? "live" : "allocated", value, *error ? " " : "",
			error);
		if (is_live && !options->difference && ap_profile_has(profile, allocated))
			fprintf(out, " of %s%s allocated",
				value_text(value, profile, options, profile->total[allocated]),
				is_objects ? " objects" : "");
		else if (is_objects)
			fputs(" objects", out);
	} else {
		ap_printable(what, sizeof(what), type->type);
		ap_printable(unit, sizeof(unit), type->unit);
		fprintf(out, "%s %s %s", what, value, strcmp(unit, "bytes") ? unit : "");
	}
	if (options->difference) {
		fprintf(out, " since the base, in %" PRIu32 " stack%s\n", stacks,
			stacks == 1 ? "" : "s");
		return;
	}
	if (info->samples)
		fprintf(out, " in %" PRIu64 " samples", info->samples);
	fprintf(out, "%s %" PRIu32 " stack%s", info->samples ? "," : " in", stacks,
		stacks == 1 ? "" : "s");
	if (info->samples)
		fprintf(out, "; %.0f%% of samples have a whole stack",
			100.0 * (double)info->whole_stacks / (double)info->samples);
	if (info->lost)
		fprintf(out, "; %" PRIu64 " samples lost their stack", info->lost);
	fputc('\n', out);
}

static void thread_write(FILE *out, const struct ap_profile_thread *thread)
{
	char name[THREAD_COLUMNS + 1];

	ap_printable(name, sizeof(name), *thread->name ? thread->name : "[unknown]");
	fprintf(out, "  %-*s %7" PRId64, THREAD_COLUMNS, name, thread->tid);
}

static void site_write(FILE *out, const struct ap_profile *profile,
	const struct ap_format_options *options, const struct site *site, bool has_errors)
{
	const struct ap_function *function =
		site->function == NO_FUNCTION ? NULL : &profile->functions[site->function];
	int64_t total = profile->total[options->value];
	char value[VALUE_TEXT], name[TEXT_ROOM], shown[NAME_COLUMNS + 1], file[TEXT_ROOM];
	char error[ERROR_TEXT];

	ap_short_name(name, sizeof(name), function ? function->name : "[no stack]");
	ap_printable(shown, sizeof(shown), name);
	fprintf(out, "  %10s", value_text(value, profile, options, site->value));
	if (has_errors)
		fprintf(out, "  %-*s", options->difference ? CHANGE_COLUMNS : ERROR_COLUMNS,
			error_text(error, profile, options, &site->estimate));
	if (!options->difference)
		fprintf(out, "  %5.1f%%", total ? 100.0 * (double)site->value / (double)total : 0);
	if (site->thread >= 0)
		thread_write(out, &profile->threads[site->thread]);
	if (function && *function->file) {
		ap_printable(file, sizeof(file), function->file);
		fprintf(out, "  %-32s  %s", shown, file);
		if (site->line)
			fprintf(out, ":%" PRId64, site->line);
	} else {
		fprintf(out, "  %s", shown);
	}
	fputc('\n', out);
	ap_text_blocks_write(out, &site->blocks, options);
}

static void sites_write(FILE *out, const struct ap_profile *profile,
	const struct ap_format_options *options, const struct sites *sites, bool has_errors)
{
	uint32_t rows = sites->count;
	int64_t rest = 0;
	char value[VALUE_TEXT];

	if (options->top && options->top < rows)
		rows = options->top;
	for (uint32_t i = 0; i < rows; i++)
		site_write(out, profile, options, &sites->sites[i], has_errors);
	for (uint32_t i = rows; i < sites->count; i++)
		rest = ap_value_add(rest, sites->sites[i].value);
	if (rows < sites->count)
		fprintf(out, "  %10s  in %" PRIu32 " more sites\n",
			value_text(value, profile, options, rest), sites->count - rows);
}

int ap_format_text_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct ap_estimate total = {0};
	struct sites sites = {0};
	uint32_t stacks;
	int err = sites_collect(&sites, profile, options);

	if (!err)
		err = stacks_count(profile, options, &stacks);
	errno = 0;
	if (!err) {
		for (uint32_t i = 0; i < sites.count; i++) {
			total.value += sites.sites[i].estimate.value;
			total.variance += sites.sites[i].estimate.variance;
		}
		if (sites.count)
			qsort(sites.sites, sites.count, sizeof(*sites.sites), site_compare);
		/* Drops the rows at the end of a difference that have not changed. */
		while (sites.count && !sites.sites[sites.count - 1].value)
			sites.count--;
		total_write(out, profile, options, &total, stacks);
		left_out_write(out, profile, options);
		sites_write(out, profile, options, &sites, total.variance > 0);
		if (fflush(out) || ferror(out))
			err = ap_errno();
	}
	free(sites.sites);
	ap_table_clear(&sites.table);
	return err;
}
