// SPDX-License-Identifier: MIT
/* Reads pprof's profile.proto, which anybody may have written: every index is checked. */
#include "format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "comment.h"
#include "estimate.h"
#include "file_map.h"
#include "gzip.h"
#include "pprof_budget.h"
#include "pprof_label.h"
#include "pprof_type.h"
#include "profile.pb-c.h"
#include "table.h"

#define INPUT_MAX ((size_t)1 << 30)

struct reader {
	const Pprof__Profile *from;
	struct ap_profile *to;
	struct ap_table mappings, functions, locations; /* from ids to indices in the file */
	uint32_t *mapping, *function, *location; /* the indices that they have in the profile */
	struct ap_file_map files;		 /* finds names for addresses without any */
	const struct ap_mapping **file; /* for each mapping that in `files`; NULL: not looked for */
	int slot[AP_VALUES];		/* which of a sample's values each of ours is; -1: none */
	int samples_slot, variance_slot; /* the same for the values of pprof_type.h */
	char *reason;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int reader_fail(
	struct reader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->reason, reader->size, format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

/* The string with this index; NULL, with the reason given, when there is none. */
static const char *string_get(struct reader *reader, int64_t index)
{
	if (index == 0 && reader->from->n_string_table == 0)
		return "";
	if (index < 0 || (uint64_t)index >= reader->from->n_string_table) {
		reader_fail(
			reader, "string %" PRId64 " of %zu", index, reader->from->n_string_table);
		return NULL;
	}
	return reader->from->string_table[index];
}

/* ---- Sample types ---- */

/* `name` NULL: as the file calls it. */
static int type_place(struct reader *reader, size_t index, int value, const char *name)
{
	const Pprof__ValueType *from = reader->from->sample_type[index];
	const char *type = string_get(reader, from->type), *unit = string_get(reader, from->unit);
	struct ap_value_type *to = &reader->to->type[value];

	if (!type || !unit)
		return -EBADMSG;
	if (name || !*type)
		type = name ? name : "value";
	to->type = ap_profile_string(reader->to, type, strlen(type));
	to->unit = ap_profile_string(reader->to, unit, strlen(unit));
	reader->slot[value] = (int)index;
	return to->type && to->unit ? 0 : -ENOMEM;
}

/*
 * Types with a known name go to their places, and the others are left out. In a profile of
 * something else, with no known name, the first four types take the four places.
 */
static int types_read(struct reader *reader)
{
	const Pprof__Profile *from = reader->from;
	int64_t wanted = from->default_sample_type;
	bool any = false;
	int err = 0;

	if (from->n_sample_type == 0)
		return reader_fail(reader, "no sample types: not a profile");
	for (int value = 0; value < AP_VALUES; value++) {
		reader->to->type[value] = (struct ap_value_type){"", ""};
		reader->slot[value] = -1;
	}
	for (size_t i = 0; i < from->n_sample_type && !err; i++) {
		const char *name = string_get(reader, from->sample_type[i]->type);
		int value = name ? ap_pprof_value(name) : -1;

		if (!name)
			return -EBADMSG;
		if (strcmp(name, AP_PPROF_SAMPLES) == 0)
			reader->samples_slot = (int)i;
		if (strcmp(name, AP_PPROF_VARIANCE) == 0)
			reader->variance_slot = (int)i;
		if (value < 0 || reader->slot[value] >= 0)
			continue;
		any = true;
		err = type_place(reader, i, value, ap_value_names[value]);
	}
	if (!any)
		reader->samples_slot = reader->variance_slot = -1;
	for (size_t i = 0; !any && i < from->n_sample_type && i < AP_VALUES && !err; i++)
		err = type_place(reader, i, (int)i, NULL);

	/* pprof's rule: the default type is the one that the file names, or else the last. */
	for (int value = 0; value < AP_VALUES; value++) {
		if (reader->slot[value] < 0)
			continue;
		reader->to->default_value = value;
		if (wanted && from->sample_type[reader->slot[value]]->type == wanted)
			break;
	}
	return err;
}

/* ---- Mappings, functions, locations ---- */

/* Each array in the file has messages that begin with an id; these find one again by it. */
static bool mapping_has_id(const void *array, uint32_t index, const void *key)
{
	return ((Pprof__Mapping *const *)array)[index]->id == *(const uint64_t *)key;
}

static bool function_has_id(const void *array, uint32_t index, const void *key)
{
	return ((Pprof__Function *const *)array)[index]->id == *(const uint64_t *)key;
}

static bool location_has_id(const void *array, uint32_t index, const void *key)
{
	return ((Pprof__Location *const *)array)[index]->id == *(const uint64_t *)key;
}

static int id_add(struct reader *reader, struct ap_table *table, ap_table_equal_fn *equal,
	const void *array, size_t index, uint64_t id, const char *what)
{
	uint64_t hash = ap_hash_u64(0, id);

	if (id == 0)
		return reader_fail(reader, "a %s has no id", what);
	if (ap_table_find(table, hash, equal, array, &id) >= 0)
		return reader_fail(reader, "two %ss have the id %" PRIu64, what, id);
	return ap_table_add(table, hash, (uint32_t)index);
}

static int mapping_read(struct reader *reader, size_t index)
{
	const Pprof__Mapping *from = reader->from->mapping[index];
	const char *file = string_get(reader, from->filename);
	const char *build_id = string_get(reader, from->build_id);
	int added;

	if (!file || !build_id)
		return -EBADMSG;
	added = ap_profile_add_mapping(reader->to, from->memory_start, from->memory_limit,
		from->file_offset, file, build_id);
	if (added < 0)
		return added;
	reader->mapping[index] = (uint32_t)added;
	return id_add(reader, &reader->mappings, mapping_has_id, reader->from->mapping, index,
		from->id, "mapping");
}

static int function_read(struct reader *reader, size_t index)
{
	const Pprof__Function *from = reader->from->function[index];
	const char *name = string_get(reader, from->name);
	const char *system_name = string_get(reader, from->system_name);
	const char *file = string_get(reader, from->filename);
	int added;

	if (!name || !system_name || !file)
		return -EBADMSG;
	if (!*name)
		name = *system_name ? system_name : "[unknown]";
	added = ap_profile_add_function(reader->to, name, system_name, file, from->start_line);
	if (added < 0)
		return added;
	reader->function[index] = (uint32_t)added;
	return id_add(reader, &reader->functions, function_has_id, reader->from->function, index,
		from->id, "function");
}

/*
 * Adds the location of an address without functions, with the names from the mapped file; -ENOENT:
 * there is no such file.
 */
static int address_symbolize(struct reader *reader, size_t index, uint64_t address)
{
	const Pprof__Mapping *from = reader->from->mapping[index];
	const struct ap_mapping **file = &reader->file[index];
	int err = *file ? 0
			: ap_file_map_add(&reader->files, from->memory_start, from->memory_limit,
				  from->file_offset, string_get(reader, from->filename),
				  string_get(reader, from->build_id), file);

	if (err)
		return err == -E2BIG ? -ENOENT : err;
	if (!(*file)->object || (*file)->object->fd < 0 || address < from->memory_start)
		return -ENOENT;
	return ap_file_map_location(&reader->files, reader->to, *file, address, false);
}

/*
 * Whether a location has no functions, or only the made-up one of our own profiles ("file+0x1234"):
 * debug symbols may have been installed since.
 */
static bool is_nameless(struct reader *reader, const Pprof__Location *from)
{
	const uint64_t *id = from->n_line == 1 ? &from->line[0]->function_id : NULL;
	const Pprof__Function *function;
	const char *name, *system_name;
	int64_t index;

	if (!id)
		return !from->n_line;
	index = ap_table_find(&reader->functions, ap_hash_u64(0, *id), function_has_id,
		reader->from->function, id);
	if (index < 0)
		return false;
	function = reader->from->function[index];
	name = string_get(reader, function->name);
	system_name = string_get(reader, function->system_name);
	return name && strstr(name, "+0x") && system_name && !*system_name;
}

/* Makes up a function for a location without any: "file+0x1234". */
static int address_function(struct reader *reader, int32_t mapping, uint64_t address)
{
	const struct ap_profile_mapping *in = mapping < 0 ? NULL : &reader->to->mappings[mapping];
	const char *base = in && *in->file ? in->file : "[unknown]";
	char *name;
	int function;

	if (strrchr(base, '/'))
		base = strrchr(base, '/') + 1;
	if (in && address >= in->start)
		address = address - in->start + in->offset;
	if (asprintf(&name, "%s+0x%" PRIx64, base, address) < 0)
		return -ENOMEM;
	function = ap_profile_add_function(reader->to, name, NULL, NULL, 0);
	free(name);
	return function;
}

/* Adds a location with the functions that the file names. Its index, or a negative errno. */
static int location_add(struct reader *reader, const Pprof__Location *from, int32_t mapping)
{
	struct ap_line *line = calloc(from->n_line + 1, sizeof(*line));
	uint32_t lines = (uint32_t)from->n_line;
	int added = 0;

	if (!line)
		return -ENOMEM;
	for (uint32_t i = 0; i < lines; i++) {
		const uint64_t *id = &from->line[i]->function_id;
		int64_t function = ap_table_find(&reader->functions, ap_hash_u64(0, *id),
			function_has_id, reader->from->function, id);

		if (function < 0) {
			added = reader_fail(reader, "no function %" PRIu64, *id);
			goto out;
		}
		line[i].function = reader->function[function];
		line[i].line = from->line[i]->line;
	}
	if (!lines) {
		added = address_function(reader, mapping, from->address);
		if (added < 0)
			goto out;
		line[lines++].function = (uint32_t)added;
	}
	added = ap_profile_add_location(reader->to, mapping, from->address, line, lines);
out:
	free(line);
	return added;
}

static int location_read(struct reader *reader, size_t index)
{
	const Pprof__Location *from = reader->from->location[index];
	int64_t mapping = -1;
	int added = -ENOENT;

	if (from->mapping_id) {
		mapping = ap_table_find(&reader->mappings, ap_hash_u64(0, from->mapping_id),
			mapping_has_id, reader->from->mapping, &from->mapping_id);
		if (mapping < 0)
			return reader_fail(reader, "no mapping %" PRIu64, from->mapping_id);
		if (is_nameless(reader, from))
			added = address_symbolize(reader, (size_t)mapping, from->address);
		mapping = reader->mapping[mapping];
	}
	if (added == -ENOENT)
		added = location_add(reader, from, (int32_t)mapping);
	if (added < 0)
		return added;
	reader->location[index] = (uint32_t)added;
	return id_add(reader, &reader->locations, location_has_id, reader->from->location, index,
		from->id, "location");
}

/* ---- Samples ---- */

static int labels_read(
	struct reader *reader, const Pprof__Sample *from, struct ap_pprof_labels *labels)
{
	*labels = (struct ap_pprof_labels){.labels = AP_LABELS_NONE};
	for (size_t i = 0; i < from->n_label; i++) {
		struct ap_pprof_label label = {
			.key = string_get(reader, from->label[i]->key),
			.text = string_get(reader, from->label[i]->str),
			.number = from->label[i]->num,
			.unit = string_get(reader, from->label[i]->num_unit),
		};

		if (!label.key || !label.text || !label.unit)
			return -EBADMSG;
		if (!*label.text)
			label.text = NULL;
		ap_pprof_label_take(labels, &label);
	}
	return ap_pprof_labels_finish(labels, reader->to);
}

static int64_t slot_get(const Pprof__Sample *from, int slot)
{
	return slot < 0 ? 0 : from->value[slot];
}

static int sample_read(struct reader *reader, const Pprof__Sample *from)
{
	uint32_t *location = calloc(from->n_location_id + 1, sizeof(*location));
	int64_t value[AP_VALUES] = {0};
	struct ap_pprof_labels labels;
	int64_t samples, variance;
	int added;

	if (!location)
		return -ENOMEM;
	added = labels_read(reader, from, &labels);
	if (added)
		goto out;
	if (from->n_value != reader->from->n_sample_type) {
		added = reader_fail(reader, "a sample has %zu values for %zu types", from->n_value,
			reader->from->n_sample_type);
		goto out;
	}
	for (size_t i = 0; i < from->n_location_id; i++) {
		uint64_t id = from->location_id[i];
		int64_t found = ap_table_find(&reader->locations, ap_hash_u64(0, id),
			location_has_id, reader->from->location, &id);

		if (found < 0) {
			added = reader_fail(reader, "no location %" PRIu64, id);
			goto out;
		}
		location[i] = reader->location[found];
	}
	for (int i = 0; i < AP_VALUES; i++)
		value[i] = slot_get(from, reader->slot[i]);
	samples = slot_get(from, reader->samples_slot);
	variance = slot_get(from, reader->variance_slot);
	added = ap_profile_add_labeled(reader->to, location, (uint32_t)from->n_location_id,
		&labels.labels, value, samples > 0 ? (uint64_t)samples : 0);
	if (added >= 0 && variance > 0)
		ap_estimate_know(&reader->to->samples[added], value,
			ldexp((double)variance, AP_PPROF_VARIANCE_SHIFT));
out:
	free(location);
	return added;
}

static int info_read(struct reader *reader)
{
	struct ap_profile_info *info = &reader->to->info;
	const Pprof__Profile *from = reader->from;
	int err = 0;

	info->start_ns = from->time_nanos;
	info->duration_ns = from->duration_nanos;
	info->period = from->period;
	for (size_t i = 0; i < from->n_comment && !err; i++) {
		const char *comment = string_get(reader, from->comment[i]);

		err = comment ? ap_comment_read(info, comment) : -EBADMSG;
	}
	return err;
}

static int profile_read(struct reader *reader)
{
	const Pprof__Profile *from = reader->from;
	int err;

	if (from->n_string_table && *from->string_table[0])
		return reader_fail(reader, "the first string is not empty: not a profile");
	err = types_read(reader);
	if (!err)
		err = info_read(reader);
	for (size_t i = 0; i < from->n_mapping && err >= 0; i++)
		err = mapping_read(reader, i);
	for (size_t i = 0; i < from->n_function && err >= 0; i++)
		err = function_read(reader, i);
	for (size_t i = 0; i < from->n_location && err >= 0; i++)
		err = location_read(reader, i);
	for (size_t i = 0; i < from->n_sample && err >= 0; i++)
		err = sample_read(reader, from->sample[i]);
	return err < 0 ? err : 0;
}

/* ---- From bytes ---- */

static int profile_convert(
	const Pprof__Profile *from, struct ap_profile **ret, char *reason, size_t size)
{
	struct reader reader = {
		.from = from,
		.to = ap_profile_new(),
		.mapping = calloc(from->n_mapping + 1, sizeof(uint32_t)),
		.file = calloc(from->n_mapping + 1, sizeof(*reader.file)),
		.function = calloc(from->n_function + 1, sizeof(uint32_t)),
		.location = calloc(from->n_location + 1, sizeof(uint32_t)),
		.samples_slot = -1,
		.variance_slot = -1,
		.reason = reason,
		.size = size,
	};
	int err = -ENOMEM;

	if (reader.to && reader.mapping && reader.file && reader.function && reader.location)
		err = profile_read(&reader);
	ap_table_clear(&reader.mappings);
	ap_table_clear(&reader.functions);
	ap_table_clear(&reader.locations);
	ap_file_map_clear(&reader.files);
	free(reader.file);
	free(reader.mapping);
	free(reader.function);
	free(reader.location);
	if (err) {
		ap_profile_free(reader.to);
		return err;
	}
	*ret = reader.to;
	return 0;
}

int ap_format_pprof_read(FILE *in, struct ap_profile **ret, char *reason, size_t size)
{
	struct ap_pprof_budget budget;
	Pprof__Profile *unpacked = NULL;
	uint8_t *bytes = NULL;
	size_t length = 0;
	int err = ap_gzip_read(in, INPUT_MAX, &bytes, &length);

	if (err == -E2BIG)
		snprintf(reason, size, "larger than %zu MiB decompressed", INPUT_MAX >> 20);
	else if (err)
		snprintf(
			reason, size, "%s", err == -EBADMSG ? "damaged gzip data" : strerror(-err));
	if (err)
		goto out;
	if (ap_format_heap_is(bytes, length)) {
		err = ap_format_heap_read(bytes, length, ret, reason, size);
		if (err == -ENOMEM)
			snprintf(reason, size, "out of memory");
		goto out;
	}
	ap_pprof_budget_init(&budget, length);
	if (length)
		unpacked = pprof__profile__unpack(&budget.allocator, length, bytes);
	if (!unpacked) {
		err = -EBADMSG;
		snprintf(reason, size, "%s", length ? "damaged, or not a heap profile" : "empty");
		goto out;
	}
	err = profile_convert(unpacked, ret, reason, size);
	if (err == -ENOMEM)
		snprintf(reason, size, "out of memory");
out:
	if (unpacked)
		pprof__profile__free_unpacked(unpacked, &budget.allocator);
	free(bytes);
	return err;
}
