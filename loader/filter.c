// SPDX-License-Identifier: MIT
#include "filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int ap_filter_add_regex(
	struct ap_filter *filter, const char *text, bool excludes, char *reason, size_t size)
{
	struct ap_filter_regex *regex =
		reallocarray(filter->regex, filter->regex_count + 1, sizeof(*regex));
	int failed;

	if (!regex)
		return -ENOMEM;
	filter->regex = regex;
	regex += filter->regex_count;
	*regex = (struct ap_filter_regex){.text = text, .excludes = excludes};
	failed = regcomp(&regex->compiled, text, REG_EXTENDED | REG_NOSUB);
	if (failed) {
		regerror(failed, &regex->compiled, reason, size);
		return failed == REG_ESPACE ? -ENOMEM : -EINVAL;
	}
	filter->regex_count++;
	return 0;
}

bool ap_filter_is_empty(const struct ap_filter *filter)
{
	return !filter->regex_count && !filter->thread && !filter->leak;
}

void ap_filter_clear(struct ap_filter *filter)
{
	for (size_t i = 0; i < filter->regex_count; i++)
		regfree(&filter->regex[i].compiled);
	free(filter->regex);
	*filter = (struct ap_filter){0};
}

/* ---- What stays ---- */

enum verdict { UNSEEN, STAYS, GOES };

struct sieve {
	const struct ap_filter *filter;
	const struct ap_profile *profile;
	unsigned char *function; /* its matches: bit 0 an including one, bit 1 an excluding one */
	enum verdict *stack;	 /* the verdict on each stack, at the index of its first sample */
	bool includes;
};

static void functions_match(struct sieve *sieve)
{
	const struct ap_filter *filter = sieve->filter;

	for (size_t r = 0; r < filter->regex_count; r++)
		sieve->includes |= !filter->regex[r].excludes;
	for (uint32_t i = 0; i < sieve->profile->function_count; i++) {
		const char *name = sieve->profile->functions[i].name;

		for (size_t r = 0; r < filter->regex_count; r++)
			if (!regexec(&filter->regex[r].compiled, name, 0, NULL, 0))
				sieve->function[i] |= filter->regex[r].excludes ? 2 : 1;
	}
}

static int stack_judge(
	struct sieve *sieve, const struct ap_sample *sample, struct ap_shown_frames *frames)
{
	unsigned char seen = 0;
	int err = ap_profile_frames(sieve->profile, sample, sieve->filter->show_allocator, frames);

	if (err)
		return err;
	for (uint32_t i = 0; i < frames->count; i++)
		seen |= sieve->function[frames->frame[i].function];
	sieve->stack[sample->first] = seen & 2 || (sieve->includes && !(seen & 1)) ? GOES : STAYS;
	return 0;
}

static bool thread_stays(const struct ap_filter *filter, const struct ap_profile *profile,
	const struct ap_sample *sample)
{
	const struct ap_profile_thread *thread;
	char tid[24];

	if (!filter->thread)
		return true;
	if (sample->labels.thread < 0)
		return false;
	thread = &profile->threads[sample->labels.thread];
	snprintf(tid, sizeof(tid), "%" PRId64, thread->tid);
	return !strcmp(tid, filter->thread) || !fnmatch(filter->thread, thread->name, 0);
}

static void value_leave_out(struct ap_profile *profile, struct ap_sample *sample, int value)
{
	int64_t *out = &profile->info.left_out[value];

	*out = ap_value_add(*out, sample->value[value]);
	sample->value[value] = 0;
	sample->variance[value] = 0;
}

static void samples_sift(struct sieve *sieve, struct ap_profile *profile)
{
	const struct ap_filter *filter = sieve->filter;

	for (int v = 0; v < AP_VALUES; v++)
		profile->total[v] = 0;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		struct ap_sample *sample = &profile->samples[i];
		bool goes = sieve->stack[sample->first] == GOES ||
			    !thread_stays(filter, profile, sample);
		/* Blocks of unknown age may be old, so they stay. */
		bool is_young = sample->labels.age >= 0 && sample->labels.age < (int)filter->leak;

		for (int v = 0; v < AP_VALUES; v++) {
			bool is_live = v == AP_INUSE_OBJECTS || v == AP_INUSE_SPACE;

			if (goes || (is_young && is_live))
				value_leave_out(profile, sample, v);
			profile->total[v] = ap_value_add(profile->total[v], sample->value[v]);
		}
		if (goes)
			sample->samples = 0;
	}
}

/* ---- The note in the header ---- */

/* Notes the options as on a command line, behind those of an earlier filter. */
static int filter_note(const struct ap_filter *filter, struct ap_profile *profile)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int err;

	if (!out)
		return -ENOMEM;
	if (profile->info.filter)
		fprintf(out, "%s ", profile->info.filter);
	if (filter->leak)
		fprintf(out, "--leak=%u%% ", filter->leak * 100 / AP_AGES);
	if (filter->thread)
		fprintf(out, "--thread %s ", filter->thread);
	for (size_t r = 0; r < filter->regex_count; r++)
		fprintf(out, "%s %s ", filter->regex[r].excludes ? "-X" : "-I",
			filter->regex[r].text);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	text[length - 1] = '\0';
	err = ap_profile_set(&profile->info.filter, text);
	free(text);
	return err;
}

static int data_check(
	const struct ap_filter *filter, const struct ap_profile *profile, struct ap_error *error)
{
	bool has_ages = !profile->total[AP_INUSE_OBJECTS];

	for (uint32_t i = 0; i < profile->sample_count; i++)
		has_ages |= profile->samples[i].labels.age >= 0;
	if (filter->leak && !has_ages) {
		ap_error_what(error, AP_EXIT_FAILURE,
			"the profile does not say how old its live blocks are");
		ap_error_hint(
			error, "only profiles that allocprof has recorded do; leave out --leak");
		return -ENODATA;
	}
	if (filter->thread && !profile->thread_count) {
		ap_error_what(error, AP_EXIT_FAILURE, "the profile does not tell threads apart");
		ap_error_hint(error, "record it with --by-thread");
		return -ENODATA;
	}
	return 0;
}

int ap_filter_apply(
	const struct ap_filter *filter, struct ap_profile *profile, struct ap_error *error)
{
	struct sieve sieve = {
		.filter = filter,
		.profile = profile,
		.function = calloc(profile->function_count + 1, 1),
		.stack = calloc(profile->sample_count + 1, sizeof(*sieve.stack)),
	};
	struct ap_shown_frames frames = {0};
	int err = 0;

	if (!sieve.function || !sieve.stack) {
		err = -ENOMEM;
		goto out;
	}
	if (ap_filter_is_empty(filter))
		goto out;
	err = data_check(filter, profile, error);
	if (err)
		goto out;
	functions_match(&sieve);
	for (uint32_t i = 0; filter->regex_count && i < profile->sample_count && !err; i++)
		if (profile->samples[i].first == i)
			err = stack_judge(&sieve, &profile->samples[i], &frames);
	if (err)
		goto out;
	samples_sift(&sieve, profile);
	err = filter_note(filter, profile);
out:
	if (err == -ENOMEM)
		ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot filter the profile");
	free(frames.frame);
	free(sieve.function);
	free(sieve.stack);
	return err;
}
