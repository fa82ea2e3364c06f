// SPDX-License-Identifier: MIT
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "intern.h"
#include "printable.h"

const char *const ap_value_names[AP_VALUES] = {
	[AP_ALLOC_OBJECTS] = "alloc_objects",
	[AP_ALLOC_SPACE] = "alloc_space",
	[AP_INUSE_OBJECTS] = "inuse_objects",
	[AP_INUSE_SPACE] = "inuse_space",
};

struct ap_profile_index {
	struct ap_intern strings;
	struct ap_table mappings, functions, locations, samples, stacks, threads;
	uint32_t mapping_room, function_room, location_room, sample_room, thread_room;
};

struct ap_profile *ap_profile_new(void)
{
	static uint64_t made;
	struct ap_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->number = ++made;
	profile->index = calloc(1, sizeof(*profile->index));
	if (!profile->index) {
		free(profile);
		return NULL;
	}
	for (int i = 0; i < AP_VALUES; i++) {
		bool is_space = i == AP_ALLOC_SPACE || i == AP_INUSE_SPACE;

		profile->type[i].type = ap_value_names[i];
		profile->type[i].unit = is_space ? "bytes" : "count";
	}
	profile->default_value = AP_INUSE_SPACE;
	return profile;
}

void ap_profile_free(struct ap_profile *profile)
{
	if (!profile)
		return;
	for (uint32_t i = 0; i < profile->location_count; i++)
		free(profile->locations[i].line);
	for (uint32_t i = 0; i < profile->sample_count; i++)
		if (profile->samples[i].first == i)
			free(profile->samples[i].location);
	free(profile->mappings);
	free(profile->functions);
	free(profile->locations);
	free(profile->samples);
	free(profile->threads);
	free(profile->info.command);
	free(profile->info.comm);
	free(profile->info.host);
	free(profile->info.end_reason);
	free(profile->info.filter);
	ap_intern_clear(&profile->index->strings);
	ap_table_clear(&profile->index->mappings);
	ap_table_clear(&profile->index->functions);
	ap_table_clear(&profile->index->locations);
	ap_table_clear(&profile->index->samples);
	ap_table_clear(&profile->index->stacks);
	ap_table_clear(&profile->index->threads);
	free(profile->index);
	free(profile);
}

/* ---- Strings ---- */

/* The length of the longest prefix of a text that is valid UTF-8 and within AP_STRING_MAX. */
static size_t valid_length(const char *text, size_t length)
{
	size_t used = 0;

	if (length > AP_STRING_MAX)
		length = AP_STRING_MAX;
	while (used < length) {
		uint32_t character;
		size_t bytes = ap_utf8_decode(text + used, length - used, &character);

		if (!bytes)
			break;
		used += bytes;
	}
	return used;
}

/*
 * A copy of a text, with U+FFFD for what is no UTF-8, cut at AP_STRING_MAX bytes.
 * NULL: out of memory.
 */
static char *valid_copy(const char *text, size_t length)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t room = length < AP_STRING_MAX / 3 ? length * 3 : AP_STRING_MAX, used = 0;
	char *copy = malloc(room + 1);

	if (!copy)
		return NULL;
	for (size_t i = 0; i < length;) {
		uint32_t character;
		size_t bytes = ap_utf8_decode(text + i, length - i, &character);
		const char *from = bytes ? text + i : replacement;
		size_t wide = bytes ? bytes : 3;

		if (used + wide > room)
			break;
		memcpy(copy + used, from, wide);
		used += wide;
		i += bytes ? bytes : 1;
	}
	copy[used] = '\0';
	return copy;
}

const char *ap_profile_string(struct ap_profile *profile, const char *text, size_t length)
{
	const char *interned;
	char *copy;

	length = strnlen(text, length);
	if (valid_length(text, length) == length)
		return ap_intern(&profile->index->strings, text, length);
	copy = valid_copy(text, length);
	if (!copy)
		return NULL;
	interned = ap_intern(&profile->index->strings, copy, strlen(copy));
	free(copy);
	return interned;
}

static const char *string_or_empty(struct ap_profile *profile, const char *text)
{
	return ap_profile_string(profile, text ? text : "", text ? strlen(text) : 0);
}

bool ap_profile_has(const struct ap_profile *profile, enum ap_value value)
{
	return strcmp(profile->type[value].type, ap_value_names[value]) == 0;
}

int ap_profile_set(char **field, const char *text)
{
	char *copy = valid_copy(text, strlen(text));

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

/* ---- Mappings, functions, locations ---- */

static bool mapping_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_profile_mapping *a = (const struct ap_profile_mapping *)array + index;
	const struct ap_profile_mapping *b = key;

	return a->start == b->start && a->limit == b->limit && a->offset == b->offset &&
	       a->file == b->file && a->build_id == b->build_id;
}

static uint64_t mapping_hash(const struct ap_profile_mapping *mapping)
{
	uint64_t hash = ap_hash_u64(0, mapping->start);

	hash = ap_hash_u64(hash, mapping->limit);
	hash = ap_hash_u64(hash, mapping->offset);
	hash = ap_hash_u64(hash, (uintptr_t)mapping->file);
	return ap_hash_u64(hash, (uintptr_t)mapping->build_id);
}

int ap_profile_add_mapping(struct ap_profile *profile, uint64_t start, uint64_t limit,
	uint64_t offset, const char *file, const char *build_id)
{
	struct ap_profile_index *index = profile->index;
	struct ap_profile_mapping key = {
		.start = start,
		.limit = limit,
		.offset = offset,
		.file = string_or_empty(profile, file),
		.build_id = string_or_empty(profile, build_id),
	};
	uint64_t hash;
	int64_t found;

	if (!key.file || !key.build_id)
		return -ENOMEM;
	hash = mapping_hash(&key);
	found = ap_table_find(&index->mappings, hash, mapping_equal, profile->mappings, &key);
	if (found >= 0)
		return (int)found;
	return (int)ap_table_append(&index->mappings, hash, (void **)&profile->mappings,
		&profile->mapping_count, &index->mapping_room, &key, sizeof(key));
}

static bool function_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_function *a = (const struct ap_function *)array + index, *b = key;

	return a->name == b->name && a->system_name == b->system_name && a->file == b->file &&
	       a->start_line == b->start_line;
}

int ap_profile_add_function(struct ap_profile *profile, const char *name, const char *system_name,
	const char *file, int64_t start_line)
{
	struct ap_profile_index *index = profile->index;
	struct ap_function key = {
		.name = string_or_empty(profile, name),
		.system_name = string_or_empty(profile, system_name),
		.file = string_or_empty(profile, file),
		.start_line = start_line,
	};
	uint64_t hash;
	int64_t found;

	if (!key.name || !key.system_name || !key.file)
		return -ENOMEM;
	hash = ap_hash_u64((uint64_t)start_line, (uintptr_t)key.name);
	hash = ap_hash_u64(hash, (uintptr_t)key.system_name);
	hash = ap_hash_u64(hash, (uintptr_t)key.file);
	found = ap_table_find(&index->functions, hash, function_equal, profile->functions, &key);
	if (found >= 0)
		return (int)found;
	return (int)ap_table_append(&index->functions, hash, (void **)&profile->functions,
		&profile->function_count, &index->function_room, &key, sizeof(key));
}

static bool location_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_location *a = (const struct ap_location *)array + index, *b = key;

	if (a->mapping != b->mapping || a->address != b->address || a->lines != b->lines)
		return false;
	for (uint32_t i = 0; i < a->lines; i++)
		if (a->line[i].function != b->line[i].function ||
			a->line[i].line != b->line[i].line)
			return false;
	return true;
}

int ap_profile_add_location(struct ap_profile *profile, int32_t mapping, uint64_t address,
	const struct ap_line *line, uint32_t lines)
{
	struct ap_profile_index *index = profile->index;
	struct ap_location key = {
		.mapping = mapping,
		.address = address,
		.line = (struct ap_line *)line,
		.lines = lines,
	};
	uint64_t hash = ap_hash_u64((uint64_t)mapping, address);
	int64_t found;

	for (uint32_t i = 0; i < lines; i++)
		hash = ap_hash_u64(ap_hash_u64(hash, line[i].function), (uint64_t)line[i].line);
	found = ap_table_find(&index->locations, hash, location_equal, profile->locations, &key);
	if (found >= 0)
		return (int)found;
	if (ap_array_grow((void **)&profile->locations, profile->location_count,
		    &index->location_room, sizeof(key)))
		return -ENOMEM;
	key.line = NULL;
	if (lines) {
		key.line = reallocarray(NULL, lines, sizeof(*line));
		if (!key.line)
			return -ENOMEM;
		for (uint32_t i = 0; i < lines; i++)
			key.line[i] = line[i];
	}
	if (ap_table_add(&index->locations, hash, profile->location_count)) {
		free(key.line);
		return -ENOMEM;
	}
	profile->locations[profile->location_count] = key;
	return (int)profile->location_count++;
}

int ap_profile_reserved(struct ap_profile *profile, const char *name)
{
	int function = ap_profile_add_function(profile, name, NULL, NULL, 0);
	struct ap_line line = {.function = (uint32_t)function};

	return function < 0 ? function : ap_profile_add_location(profile, -1, 0, &line, 1);
}

bool ap_location_is_reserved(const struct ap_profile *profile, const struct ap_location *location)
{
	return location->mapping < 0 && !location->address && location->lines == 1 &&
	       profile->functions[location->line->function].name[0] == '[';
}

/* ---- Samples ---- */

int64_t ap_value_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static bool thread_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_profile_thread *a = (const struct ap_profile_thread *)array + index;
	const struct ap_profile_thread *b = key;

	return a->tid == b->tid && a->name == b->name;
}

int ap_profile_add_thread(struct ap_profile *profile, const char *name, int64_t tid)
{
	struct ap_profile_index *index = profile->index;
	struct ap_profile_thread key = {.name = string_or_empty(profile, name), .tid = tid};
	uint64_t hash = ap_hash_u64((uint64_t)tid, (uintptr_t)key.name);
	int64_t found;

	if (!key.name)
		return -ENOMEM;
	found = ap_table_find(&index->threads, hash, thread_equal, profile->threads, &key);
	if (found >= 0)
		return (int)found;
	return (int)ap_table_append(&index->threads, hash, (void **)&profile->threads,
		&profile->thread_count, &index->thread_room, &key, sizeof(key));
}

static bool stack_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_sample *a = (const struct ap_sample *)array + index, *b = key;

	return a->depth == b->depth && (!a->depth || memcmp(a->location, b->location,
							     a->depth * sizeof(*a->location)) == 0);
}

static bool sample_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_sample *a = (const struct ap_sample *)array + index, *b = key;

	return ap_labels_equal(&a->labels, &b->labels) && stack_equal(array, index, key);
}

/*
 * Adds a new sample. It shares the locations of the first sample with the same stack, or gets a
 * copy of its own.
 */
static int sample_create(struct ap_profile *profile, struct ap_sample *key, uint64_t stack_hash,
	uint64_t sample_hash)
{
	struct ap_profile_index *index = profile->index;
	uint32_t new = profile->sample_count;
	int64_t first =
		ap_table_find(&index->stacks, stack_hash, stack_equal, profile->samples, key);

	if (ap_array_grow((void **)&profile->samples, new, &index->sample_room, sizeof(*key)))
		return -ENOMEM;
	key->first = first < 0 ? new : (uint32_t)first;
	if (first >= 0) {
		key->location = profile->samples[first].location;
	} else if (key->depth) {
		uint32_t *copy = reallocarray(NULL, key->depth, sizeof(*copy));

		if (!copy)
			return -ENOMEM;
		memcpy(copy, key->location, key->depth * sizeof(*copy));
		key->location = copy;
	} else {
		key->location = NULL;
	}
	/* From here on the array owns the locations, also if an error follows. */
	profile->samples[new] = *key;
	profile->sample_count++;
	if (first < 0) {
		if (ap_table_add(&index->stacks, stack_hash, new))
			return -ENOMEM;
		profile->stack_count++;
	}
	return ap_table_add(&index->samples, sample_hash, new);
}

int ap_profile_add_labeled(struct ap_profile *profile, const uint32_t *location, uint32_t depth,
	const struct ap_labels *labels, const int64_t value[AP_VALUES], uint64_t samples)
{
	struct ap_profile_index *index = profile->index;
	struct ap_sample key = {
		.location = (uint32_t *)location, .depth = depth, .labels = *labels};
	uint64_t stack_hash = ap_hash(0, location, depth * sizeof(*location));
	uint64_t hash = ap_labels_hash(stack_hash, labels);
	int64_t found = ap_table_find(&index->samples, hash, sample_equal, profile->samples, &key);

	if (found < 0) {
		found = profile->sample_count;
		if (sample_create(profile, &key, stack_hash, hash))
			return -ENOMEM;
	}
	for (int i = 0; i < AP_VALUES; i++) {
		int64_t *sum = &profile->samples[found].value[i];

		*sum = ap_value_add(*sum, value[i]);
		profile->total[i] = ap_value_add(profile->total[i], value[i]);
	}
	profile->samples[found].samples += samples;
	return (int)found;
}

int ap_profile_add_sample(struct ap_profile *profile, const uint32_t *location, uint32_t depth,
	const int64_t value[AP_VALUES])
{
	return ap_profile_add_labeled(profile, location, depth, &AP_LABELS_NONE, value, 0);
}

/* ---- A sample as it is shown ---- */

int ap_profile_frames(const struct ap_profile *profile, const struct ap_sample *sample,
	bool show_allocator, struct ap_shown_frames *frames)
{
	uint32_t hidden;

	frames->count = 0;
	for (uint32_t i = 0; i < sample->depth; i++) {
		const struct ap_location *location = &profile->locations[sample->location[i]];

		for (uint32_t j = 0; j < location->lines; j++) {
			if (ap_array_grow((void **)&frames->frame, frames->count, &frames->room,
				    sizeof(*frames->frame)))
				return -ENOMEM;
			frames->frame[frames->count++] = (struct ap_shown_frame){
				.function = location->line[j].function,
				.location = sample->location[i],
				.line = location->line[j].line,
			};
		}
	}
	if (show_allocator || !frames->count)
		return 0;
	hidden = ap_allocator_frames(profile, frames->frame, frames->count);
	if (hidden == frames->count)
		hidden--;
	frames->count -= hidden;
	memmove(frames->frame, frames->frame + hidden, frames->count * sizeof(*frames->frame));
	return 0;
}
