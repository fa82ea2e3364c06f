// SPDX-License-Identifier: MIT
#include "comment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	TEXT,	/* char * */
	SIGNED, /* int64_t */
	COUNT,	/* uint64_t, written also when 0 */
};

/*
 * The header fields that become comments. Time, duration and period have fields of
 * their own in pprof.
 */
static const struct key {
	const char *name;
	enum kind kind;
	size_t offset; /* in struct ap_profile_info */
} keys[] = {
	{"command", TEXT, offsetof(struct ap_profile_info, command)},
	{"name", TEXT, offsetof(struct ap_profile_info, comm)},
	{"pid", SIGNED, offsetof(struct ap_profile_info, pid)},
	{"host", TEXT, offsetof(struct ap_profile_info, host)},
	{"ended", TEXT, offsetof(struct ap_profile_info, end_reason)},
	{"filter", TEXT, offsetof(struct ap_profile_info, filter)},
	{"left out objects", SIGNED, offsetof(struct ap_profile_info, left_out[AP_ALLOC_OBJECTS])},
	{"left out bytes", SIGNED, offsetof(struct ap_profile_info, left_out[AP_ALLOC_SPACE])},
	{"left out live objects", SIGNED,
		offsetof(struct ap_profile_info, left_out[AP_INUSE_OBJECTS])},
	{"left out live bytes", SIGNED, offsetof(struct ap_profile_info, left_out[AP_INUSE_SPACE])},
	{"lowest period", SIGNED, offsetof(struct ap_profile_info, period_lowest)},
	{"samples", COUNT, offsetof(struct ap_profile_info, samples)},
	{"frees", COUNT, offsetof(struct ap_profile_info, frees)},
	{"lost", COUNT, offsetof(struct ap_profile_info, lost)},
	{"whole stacks", COUNT, offsetof(struct ap_profile_info, whole_stacks)},
};

#define KEYS (sizeof(keys) / sizeof(*keys))

static char *comment_new(const struct ap_profile_info *info, const struct key *key)
{
	const char *field = (const char *)info + key->offset;
	char *comment = NULL;
	int length;

	if (key->kind == TEXT)
		length = asprintf(&comment, "%s: %s", key->name, *(char *const *)field);
	else
		length = asprintf(&comment, "%s: %" PRId64, key->name, *(const int64_t *)field);
	return length < 0 ? NULL : comment;
}

static bool is_known(const struct ap_profile_info *info, const struct key *key)
{
	const char *field = (const char *)info + key->offset;

	if (key->kind == TEXT)
		return *(char *const *)field != NULL;
	return key->kind == COUNT || *(const int64_t *)field != 0;
}

char **ap_comments_new(const struct ap_profile_info *info)
{
	char **comments = calloc(KEYS + 1, sizeof(*comments));
	size_t count = 0;

	for (size_t i = 0; comments && i < KEYS; i++) {
		if (!is_known(info, &keys[i]))
			continue;
		comments[count] = comment_new(info, &keys[i]);
		if (!comments[count++]) {
			ap_comments_free(comments);
			return NULL;
		}
	}
	return comments;
}

void ap_comments_free(char **comments)
{
	for (size_t i = 0; comments && comments[i]; i++)
		free(comments[i]);
	free(comments);
}

int ap_comment_read(struct ap_profile_info *info, const char *comment)
{
	for (size_t i = 0; i < KEYS; i++) {
		size_t length = strlen(keys[i].name);
		char *field = (char *)info + keys[i].offset;

		if (strncmp(comment, keys[i].name, length) || strncmp(comment + length, ": ", 2))
			continue;
		if (keys[i].kind == TEXT)
			return ap_profile_set((char **)field, comment + length + 2);
		*(int64_t *)field = (int64_t)strtoull(comment + length + 2, NULL, 10);
		return 0;
	}
	return 0;
}
