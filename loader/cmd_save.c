// SPDX-License-Identifier: MIT
/*
 * The outputs of a recording: their names, and where the profile goes when they cannot be written.
 */
#include "cmd_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "output.h"
#include "output_name.h"

/* The default outputs: one to look at, and one to keep and to compare. */
static const char *const default_paths[] = {"allocprof-%n-%p-%t.html", "allocprof-%n-%p-%t.pb.gz"};

#define DEFAULTS (sizeof(default_paths) / sizeof(*default_paths))

void recording_outputs_clear(struct output_options *named)
{
	for (size_t i = 0; i < named->count; i++)
		free((char *)named->output[i].path);
	output_options_clear(named);
}

int recording_outputs_name(
	const struct recording *recording, int64_t time_ns, struct output_options *ret)
{
	const struct output_options *options = &recording->options->out;
	const struct ap_target *target = &recording->target;
	size_t count = options->count ? options->count : DEFAULTS;

	*ret = *options;
	ret->count = 0;
	ret->output = calloc(count, sizeof(*ret->output));
	if (!ret->output)
		return -ENOMEM;
	for (; ret->count < count; ret->count++) {
		size_t i = ret->count;
		const char *pattern = options->count ? options->output[i].path : default_paths[i];
		char *path = ap_output_name_fill(pattern, target->comm, target->pid, time_ns);

		if (!path) {
			recording_outputs_clear(ret);
			return -ENOMEM;
		}
		ret->output[i] = (struct command_output){
			.path = path,
			.format = options->count ? options->output[i].format
						 : ap_format_by_extension(path),
		};
	}
	return 0;
}

/*
 * Writes the profile to a folder for temporary files that has room, and names it in the hint of the
 * error. It gets a new folder of its own there, since others can write to such places.
 */
static void rescue(const struct recording *recording, int64_t time_ns,
	const struct ap_profile *profile, struct ap_error *error)
{
	const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm", "."};
	const struct ap_target *target = &recording->target;
	char *folder, *path, *pattern;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		bool saved = false;

		if (!places[i] || !*places[i] ||
			asprintf(&folder, "%s/allocprof-XXXXXX", places[i]) < 0)
			continue;
		path = pattern = NULL;
		if (mkdtemp(folder) && asprintf(&pattern, "/%s", default_paths[1]) >= 0) {
			char *name =
				ap_output_name_fill(pattern, target->comm, target->pid, time_ns);

			if (name && asprintf(&path, "%s%s", folder, name) < 0)
				path = NULL;
			free(name);
			free(pattern);
			saved = path && !ap_output_write(path, ap_format_by_name("pprof"), profile,
						&recording->options->out.format);
			if (!saved)
				rmdir(folder);
		}
		if (saved)
			ap_error_hint(error,
				"the profile is in %s; for other formats: allocprof "
				"report -o FILE",
				path);
		free(folder);
		free(path);
		if (saved)
			return;
	}
	ap_error_hint(error, "the profile is lost: there is no room for it in /tmp either");
}

int recording_save(const struct recording *recording, const struct output_options *named,
	const struct ap_profile *profile, struct ap_error *error)
{
	bool whole = false; /* one of those that were written has everything */
	int err = 0;

	for (size_t i = 0; i < named->count; i++) {
		const struct command_output *output = &named->output[i];
		int failed = output_write(named, output->path, output->format, profile, error);

		whole |= !failed && output->format->write == ap_format_pprof_write;
		err = err ? err : failed;
	}
	if (err && !whole)
		rescue(recording, profile->info.start_ns + profile->info.duration_ns, profile,
			error);
	return err;
}
