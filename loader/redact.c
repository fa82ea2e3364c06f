// SPDX-License-Identifier: MIT
#include "redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What follows the last slash; a pointer into the same string. */
static const char *without_folders(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Compilers at run time put the source into the name: "JS:*get /home/a/app.js:3:17". In each word,
 * an absolute path is cut to its last part.
 */
static int name_redact(struct ap_profile *profile, const char **name)
{
	static const char around[] = " :@(),'\"<>=";
	char *kept;
	size_t length = 0;

	if (!strchr(*name, '/'))
		return 0;
	kept = malloc(strlen(*name) + 1);
	if (!kept)
		return -ENOMEM;
	for (const char *at = *name; *at;) {
		size_t word = strcspn(at, around);
		size_t skip = 0;

		if (*at == '/')
			for (size_t i = 0; i < word; i++)
				skip = at[i] == '/' ? i + 1 : skip;
		memcpy(kept + length, at + skip, word - skip);
		length += word - skip;
		at += word;
		if (*at)
			kept[length++] = *at++;
	}
	*name = ap_profile_string(profile, kept, length);
	free(kept);
	return *name ? 0 : -ENOMEM;
}

static int functions_redact(struct ap_profile *profile)
{
	for (uint32_t i = 0; i < profile->function_count; i++) {
		struct ap_function *function = &profile->functions[i];
		int err = name_redact(profile, &function->name);

		if (!err)
			err = name_redact(profile, &function->system_name);
		if (err)
			return err;
		function->file = without_folders(function->file);
	}
	return 0;
}

int ap_profile_redact(struct ap_profile *profile)
{
	struct ap_profile_info *info = &profile->info;
	int err = functions_redact(profile);

	if (!err && info->command)
		err = ap_profile_set(&info->command, info->comm ? info->comm : "");
	if (err)
		return err;
	free(info->host);
	info->host = NULL;
	for (uint32_t i = 0; i < profile->mapping_count; i++)
		profile->mappings[i].file = without_folders(profile->mappings[i].file);
	return 0;
}
