// SPDX-License-Identifier: MIT
/* allocprof diff BASE NEW: what has changed. */
#include "cmd_view.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "profile.h"
#include "units.h"

static const char usage[] =
	"usage: allocprof diff [OPTIONS] BASE NEW\n"
	"Prints what has changed from one profile to another, or writes it. Allocated\n"
	"bytes are compared as rates per second, live bytes as they are.\n";

const char *const cmd_diff_help[] = {
	usage,
	view_options_help,
	filter_options_help,
	"      --fail-above SIZE    exit with status 8 when it grew by more: 5M, 1G\n",
	output_options_help,
	NULL,
};

static const struct option diff_options[] = {
	VIEW_OPTIONS_LONG,
	{"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
	{NULL, 0, NULL, 0},
};

/*
 * Allocated values grow with the length of a recording: scales those of the base to the length of
 * the other, so that what is shown is the difference of their rates.
 */
static void base_scale(
	struct ap_profile *base, const struct ap_profile *profile, struct view_options *options)
{
	double before = (double)base->info.duration_ns / AP_SECOND_NS;
	double now = (double)profile->info.duration_ns / AP_SECOND_NS;

	if (before <= 0 || now <= 0 ||
		(!ap_profile_has(profile, AP_ALLOC_SPACE) &&
			!ap_profile_has(profile, AP_ALLOC_OBJECTS)))
		return;
	options->out.format.seconds = now;
	options->out.format.base_scale = now / before;
	for (int value = AP_ALLOC_OBJECTS; value <= AP_ALLOC_SPACE; value++)
		if (ap_profile_has(base, value))
			ap_profile_scale(base, value, now / before);
	if (!options->out.quiet && options->out.format.value <= AP_ALLOC_SPACE && before != now)
		fprintf(stderr, "note: the base lasted %.1f s, the other %.1f s: scaled by %.3f\n",
			before, now, now / before);
}

/* Leaves out the values that only one of the profiles has. Fails when none is left. */
static int types_match(struct ap_profile *base, struct ap_profile *profile, struct ap_error *error)
{
	int common = -1;

	for (int i = 0; i < AP_VALUES; i++) {
		struct ap_value_type *before = &base->type[i], *now = &profile->type[i];

		if (strcmp(before->type, now->type) || strcmp(before->unit, now->unit))
			*before = *now = (struct ap_value_type){"", ""};
		if (*now->type && (common < 0 || i == (int)profile->default_value))
			common = i;
	}
	if (common < 0) {
		ap_error_what(error, AP_EXIT_FAILURE, "the two profiles hold different values");
		ap_error_hint(error, "see what they hold with allocprof report");
		return -EINVAL;
	}
	if (!*profile->type[profile->default_value].type)
		profile->default_value = common;
	return 0;
}

static int difference_make(struct ap_profile **ret, const struct ap_profile *profile,
	const struct ap_profile *base, struct ap_error *error)
{
	struct ap_profile *difference = ap_profile_new();
	int err = difference ? ap_profile_difference(difference, profile, base) : -ENOMEM;

	if (err) {
		ap_profile_free(difference);
		ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot compare the two profiles");
		return err;
	}
	/* The strings stay the profile's, which outlives the difference. */
	for (int i = 0; i < AP_VALUES; i++) {
		difference->type[i].type = profile->type[i].type;
		difference->type[i].unit = profile->type[i].unit;
	}
	difference->default_value = profile->default_value;
	*ret = difference;
	return 0;
}

static int limit_check(const struct view_options *options, const struct ap_profile *difference,
	struct ap_error *error)
{
	enum ap_value value = options->out.format.value;
	bool by_second = value <= AP_ALLOC_SPACE && options->out.format.seconds > 0;
	double grown = (double)difference->total[value];
	char by[AP_SIZE_TEXT], most[AP_SIZE_TEXT];
	const char *unit = by_second ? "/s" : "";

	if (by_second)
		grown /= options->out.format.seconds;
	if (!options->has_limit || grown <= (double)options->limit)
		return 0;
	if (strcmp(difference->type[value].unit, "bytes") == 0) {
		ap_size_format(by, grown);
		ap_size_format(most, (double)options->limit);
	} else {
		snprintf(by, sizeof(by), "%.0f", grown);
		snprintf(most, sizeof(most), "%.0f", (double)options->limit);
	}
	ap_error_what(
		error, AP_EXIT_THRESHOLD, "grew by %s%s, more than %s%s", by, unit, most, unit);
	ap_error_hint(error, "see where with: allocprof diff BEFORE AFTER -o grown.html");
	return -ERANGE;
}

int cmd_diff(int argc, char **argv)
{
	struct view_options options = {.out.format.difference = true};
	struct ap_error error = {.status = AP_EXIT_FAILURE};
	struct ap_profile *base = NULL, *profile = NULL, *difference = NULL;
	int err = view_options_parse(&options, argc, argv, diff_options, 2, &error);

	if (!err && options.help) {
		help_print(cmd_diff_help);
		output_options_clear(&options.out);
		return AP_EXIT_OK;
	}
	if (!err)
		err = view_load(&options, argv[optind], &base, &error);
	if (!err)
		err = view_load(&options, argv[optind + 1], &profile, &error);
	if (!err)
		err = types_match(base, profile, &error);
	if (!err)
		err = view_choose(&options, profile, &error);
	if (!err) {
		base_scale(base, profile, &options);
		err = difference_make(&difference, profile, base, &error);
	}
	if (!err) {
		options.out.format.base = base;
		err = view_show(&options, profile, difference, &error);
	}
	if (!err)
		err = limit_check(&options, difference, &error);
	ap_profile_free(difference);
	ap_profile_free(profile);
	ap_profile_free(base);
	output_options_clear(&options.out);
	return err ? command_fail(argc, argv, &error) : AP_EXIT_OK;
}
