// SPDX-License-Identifier: MIT
/* The options that attach, run and top have in common. */
#include "cmd.h"

#include <errno.h>
#include <string.h>

#include "output_name.h"
#include "units.h"

const char whole_recording_options_help[] =
	"      --follow-fork        also record the children that it has from now on\n"
	"      --tree               also record all its descendants, old and new\n"
	"      --strict             exit with status 7 if a stack or a free was lost\n";

const char recording_options_help[] =
	"  -d, --duration TIME      stop after this time: 30s, 5m, 1h\n"
	"      --every TIME         also write the outputs that often, as SIGUSR1 does\n"
	"                           once; -o names may hold %n (the name of the process),\n"
	"                           %p (its number), %t (the time)\n"
	"      --keep N             keep only the outputs of the last N times\n"
	"      --period BYTES       mean bytes between two samples: 64K, 512K, 2M\n"
	"      --max-rate N         raise the period to get at most N samples a second\n"
	"                           (50 without --period; 0: no limit)\n"
	"      --guard              put sampled blocks against guard pages: overflows and\n"
	"                           uses after free end the process where they happen\n"
	"      --by-thread          keep the threads of a stack apart\n"
	"      --min-size BYTES     record only requests of at least this size\n"
	"      --max-size BYTES     record only requests of at most this size\n"
	"      --depth N            keep the N innermost frames of a stack (127)\n"
	"      --max-stacks N       room for N different stacks (16384)\n"
	"      --max-live N         room for N live sampled blocks (65536)\n"
	"  -v, --verbose            tell which unwind tables are used, and show libbpf's\n"
	"                           warnings; twice: all messages of libbpf\n";

/*
 * The default limit, in samples a second. At such a rate each sample finds the kernel's code out of
 * the caches and puts the program's out of them: it costs some 45 us (5 us at thousands a second), so
 * 50 of them take 0.2 to 0.25% of a CPU. After 20 s they give a total to 3%, and a site with a tenth
 * of it to 10%.
 */
#define MAX_RATE_DEFAULT 50

/* The common options and those of one command together. */
#define OPTIONS_MAX 64

enum {
	OPTION_FOLLOW_FORK = OPTION_RECORDING,
	OPTION_TREE,
	OPTION_EVERY,
	OPTION_KEEP,
	OPTION_PERIOD,
	OPTION_MAX_RATE,
	OPTION_GUARD,
	OPTION_BY_THREAD,
	OPTION_MIN_SIZE,
	OPTION_MAX_SIZE,
	OPTION_DEPTH,
	OPTION_STRICT,
	OPTION_MAX_STACKS,
	OPTION_MAX_LIVE
};

static const struct option long_options[] = {
	OUTPUT_OPTIONS_LONG,
	{"duration", required_argument, NULL, 'd'},
	{"follow-fork", no_argument, NULL, OPTION_FOLLOW_FORK},
	{"tree", no_argument, NULL, OPTION_TREE},
	{"every", required_argument, NULL, OPTION_EVERY},
	{"keep", required_argument, NULL, OPTION_KEEP},
	{"period", required_argument, NULL, OPTION_PERIOD},
	{"max-rate", required_argument, NULL, OPTION_MAX_RATE},
	{"guard", no_argument, NULL, OPTION_GUARD},
	{"by-thread", no_argument, NULL, OPTION_BY_THREAD},
	{"min-size", required_argument, NULL, OPTION_MIN_SIZE},
	{"max-size", required_argument, NULL, OPTION_MAX_SIZE},
	{"depth", required_argument, NULL, OPTION_DEPTH},
	{"strict", no_argument, NULL, OPTION_STRICT},
	{"max-stacks", required_argument, NULL, OPTION_MAX_STACKS},
	{"max-live", required_argument, NULL, OPTION_MAX_LIVE},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void libbpf_log(const char *text)
{
	/* Most messages of libbpf begin with its name. */
	fprintf(stderr, "%s%s", strncmp(text, "libbpf:", 7) ? "libbpf: " : "", text);
}

/*
 * Takes the size of a map. The kernel allocates maps at once, so `most` keeps it
 * below about a gigabyte.
 */
static int count_take(
	const char *option, const char *text, uint32_t most, uint32_t *ret, struct ap_error *error)
{
	uint64_t count;

	if (ap_count_parse(text, &count) || count < 1 || count > most) {
		option_value_error(error, option, text, "");
		ap_error_hint(error, "give a number from 1 to %u", most);
		return -EINVAL;
	}
	*ret = count;
	return 0;
}

static int size_take(const char *option, const char *text, uint64_t *ret, struct ap_error *error)
{
	if (ap_size_parse(text, ret))
		return option_value_error(error, option, text, "give a size: 100, 4K, 1M");
	return 0;
}

static int option_take(
	struct recording_options *options, int option, const char *text, struct ap_error *error)
{
	switch (option) {
	case 'd':
		if (ap_duration_parse(text, &options->duration_ns) || !options->duration_ns)
			return option_value_error(error, "--duration", text,
				"give a number and a unit: 500ms, 30s, 5m, 1h");
		return 0;
	case OPTION_TREE:
		options->tree = true;
		options->follow = true;
		return 0;
	case OPTION_FOLLOW_FORK:
		options->follow = true;
		return 0;
	case OPTION_EVERY:
		if (ap_duration_parse(text, &options->every_ns) || !options->every_ns)
			return option_value_error(
				error, "--every", text, "give a number and a unit: 30s, 5m, 1h");
		return 0;
	case OPTION_KEEP:
		if (ap_count_parse(text, &options->keep) || !options->keep)
			return option_value_error(
				error, "--keep", text, "give a number of snapshots: 10");
		return 0;
	case OPTION_PERIOD:
		if (ap_size_parse(text, &options->period) || !options->period)
			return option_value_error(
				error, "--period", text, "give a number of bytes: 64K, 512K, 2M");
		return 0;
	case OPTION_MAX_RATE:
		if (ap_count_parse(text, &options->max_rate))
			return option_value_error(
				error, "--max-rate", text, "give a number of samples: 1000");
		options->rate_asked = true;
		return 0;
	case OPTION_GUARD:
		options->guard = true;
		return 0;
	case OPTION_BY_THREAD:
		options->session.by_thread = true;
		return 0;
	case OPTION_MIN_SIZE:
		return size_take("--min-size", text, &options->session.min_size, error);
	case OPTION_MAX_SIZE:
		return size_take("--max-size", text, &options->session.max_size, error);
	case OPTION_DEPTH:
		return count_take("--depth", text, AP_FRAMES, &options->session.max_depth, error);
	case OPTION_STRICT:
		options->strict = true;
		return 0;
	case OPTION_MAX_STACKS:
		return count_take(
			"--max-stacks", text, 1 << 20, &options->session.max_stacks, error);
	case OPTION_MAX_LIVE:
		return count_take("--max-live", text, 1 << 23, &options->session.max_live, error);
	case 'v':
		options->session.log_debug = options->verbose;
		options->verbose = true;
		options->session.log = libbpf_log;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	}
	return output_option_take(&options->out, option, text, error);
}

static int names_check(const struct output_options *options, struct ap_error *error)
{
	for (size_t i = 0; i < options->count; i++) {
		const char *bad = ap_output_name_check(options->output[i].path);

		if (!bad)
			continue;
		ap_error_what(error, AP_EXIT_USAGE, "unknown pattern in '%s': '%.2s'",
			options->output[i].path, bad);
		ap_error_hint(error, "%%n is the name of the process, %%p its number, %%t the "
				     "time, %%%% a percent sign");
		return -EINVAL;
	}
	return 0;
}

/* The options of all recordings and those of one command, together. */
static void options_join(struct option all[OPTIONS_MAX], const struct option *own)
{
	size_t count = sizeof(long_options) / sizeof(*long_options) - 1;

	memcpy(all, long_options, sizeof(long_options));
	while (own->name && count + 1 < OPTIONS_MAX)
		all[count++] = *own++;
	all[count] = (struct option){0};
}

int recording_options_parse(struct recording_options *options, const struct command_options *own,
	int argc, char **argv, struct ap_error *error)
{
	static const struct command_options none = {.letters = ""};
	/* '+' keeps getopt_long() from looking for options behind the first other argument. */
	const char *plus = own ? "" : "+";
	struct option all[OPTIONS_MAX];
	char letters[64];
	int option, err = 0;

	*options = (struct recording_options){
		.session = AP_SESSION_DEFAULTS,
		.out.format.top = 10,
	};
	own = own ? own : &none;
	options_join(all, own->options);
	snprintf(letters, sizeof(letters), "%s:d:vh" OUTPUT_OPTIONS_SHORT "%s", plus, own->letters);
	opterr = 0;
	optind = 1;
	while (!err && (option = getopt_long(argc, argv, letters, all, NULL)) >= 0) {
		if (option == '?' || option == ':')
			return option_error(error, option, argv, all);
		err = option_take(options, option, optarg, error);
		if (err == -ENOENT && own->take)
			err = own->take(options, option, optarg, error);
	}
	if (!options->rate_asked && !options->period)
		options->max_rate = MAX_RATE_DEFAULT;
	if (!err && options->session.min_size > options->session.max_size) {
		ap_error_what(error, AP_EXIT_USAGE, "--min-size is larger than --max-size");
		ap_error_hint(error, "no size is in between: swap them, or leave one out");
		err = -EINVAL;
	}
	if (options->out.filter.thread)
		options->session.by_thread = true;
	if (!err)
		err = names_check(&options->out, error);
	if (!err)
		err = output_options_finish(&options->out, error);
	/* Without -o the files go to the current folder. */
	if (!err && !options->out.count && !options->help)
		err = output_check("./allocprof.html", error);
	return err;
}

int recording_process_take(
	struct recording_options *options, int option, const char *text, struct ap_error *error)
{
	if (option != OPTION_NAME)
		return -ENOENT;
	options->name = text;
	return 0;
}

void recording_options_clear(struct recording_options *options)
{
	output_options_clear(&options->out);
}
