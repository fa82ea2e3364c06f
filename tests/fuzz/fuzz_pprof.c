// SPDX-License-Identifier: MIT
/*
 * The reader of profiles, on arbitrary ones, gzipped or not, and then the writers of all formats. A
 * profile that could be read can be written, and written as pprof it has the same totals.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ap_profile *profile_read(const void *data, size_t size)
{
	FILE *in = fmemopen((void *)data, size, "r");
	struct ap_profile *profile = NULL;
	char reason[128];

	if (!in)
		abort();
	if (ap_format_pprof_read(in, &profile, reason, sizeof(reason)))
		profile = NULL;
	fclose(in);
	return profile;
}

static void profile_write(const struct ap_profile *profile, const struct ap_format *format)
{
	struct ap_format_options options = {.value = profile->default_value};
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct ap_profile *again;

	if (!out || format->write(out, profile, &options) || fclose(out))
		abort();
	if (format->write == ap_format_pprof_write) {
		again = profile_read(text, length);
		if (!again)
			abort();
		for (int i = 0; i < AP_VALUES; i++)
			if (again->total[i] != profile->total[i])
				abort();
		ap_profile_free(again);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ap_profile *profile = size ? profile_read(data, size) : NULL;

	if (!profile)
		return 0;
	for (const struct ap_format *format = ap_formats; format->name; format++)
		profile_write(profile, format);
	ap_profile_free(profile);
	return 0;
}
