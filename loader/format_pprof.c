// SPDX-License-Identifier: MIT
/*
 * Writes pprof's profile.proto. A message may be written as several whose fields are put together
 * again by the reader, so each sample, location, string is packed as a profile with one element
 * and goes to gzip at once: the size of a profile costs no memory here.
 */
#include "format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "comment.h"
#include "gzip.h"
#include "intern.h"
#include "pprof_label.h"
#include "pprof_type.h"
#include "profile.pb-c.h"

struct writer {
	ProtobufCBuffer buffer; /* first: protobuf-c hands it back to buffer_append() */
	struct ap_gzip_writer *gzip;
	struct ap_intern strings;	/* numbered as in string_table */
	bool has_samples, has_variance; /* there are more values, see pprof_type.h */
	int err;
};

static void buffer_append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes)
{
	ap_gzip_write(((struct writer *)buffer)->gzip, bytes, length);
}

static void profile_pack(struct writer *writer, const Pprof__Profile *part)
{
	pprof__profile__pack_to_buffer(part, &writer->buffer);
}

/* The number of a string, which is written when it is new. */
static int64_t string_id(struct writer *writer, const char *text)
{
	uint32_t known = writer->strings.count;
	int id = ap_intern_index(&writer->strings, text, strlen(text));

	if (id < 0) {
		writer->err = id;
		return 0;
	}
	if ((uint32_t)id == known) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		char *string = (char *)writer->strings.strings[id];

		part.n_string_table = 1;
		part.string_table = &string;
		profile_pack(writer, &part);
	}
	return id;
}

static Pprof__ValueType value_type(struct writer *writer, const char *type, const char *unit)
{
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT;

	value.type = string_id(writer, type);
	value.unit = string_id(writer, unit);
	return value;
}

/*
 * The variance of a sample's bytes in square KiB. One number is enough: in our samples either all
 * bytes are live or none.
 */
static int64_t square_kib(const struct ap_sample *sample)
{
	double variance = fmax(sample->variance[AP_ALLOC_SPACE], sample->variance[AP_INUSE_SPACE]);

	return llround(fmin(ldexp(fmax(variance, 0), -AP_PPROF_VARIANCE_SHIFT), 0x1p62));
}

static void errors_find(struct writer *writer, const struct ap_profile *profile)
{
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		writer->has_samples |= profile->samples[i].samples != 0;
		writer->has_variance |= square_kib(&profile->samples[i]) != 0;
	}
}

static void type_pack(struct writer *writer, const char *type, const char *unit)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType value = value_type(writer, type, unit), *element = &value;

	part.n_sample_type = 1;
	part.sample_type = &element;
	profile_pack(writer, &part);
}

static void header_pack(struct writer *writer, const struct ap_profile *profile)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType period = value_type(writer, "space", "bytes");
	char *regex = ap_allocator_regex();

	for (int i = 0; i < AP_VALUES; i++)
		if (*profile->type[i].type)
			type_pack(writer, profile->type[i].type, profile->type[i].unit);
	/* Behind the others, and never the default: they only tell the error of the others. */
	if (writer->has_samples)
		type_pack(writer, AP_PPROF_SAMPLES, "count");
	if (writer->has_variance)
		type_pack(writer, AP_PPROF_VARIANCE, AP_PPROF_VARIANCE_UNIT);
	if (!regex)
		writer->err = -ENOMEM;
	part.drop_frames = string_id(writer, regex ? regex : "");
	part.time_nanos = profile->info.start_ns;
	part.duration_nanos = profile->info.duration_ns;
	part.period_type = &period;
	part.period = profile->info.period;
	part.default_sample_type = string_id(writer, profile->type[profile->default_value].type);
	profile_pack(writer, &part);
	free(regex);
}

static void comments_pack(struct writer *writer, const struct ap_profile_info *info)
{
	char **comments = ap_comments_new(info);

	if (!comments) {
		writer->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; comments[i]; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		int64_t id = string_id(writer, comments[i]);

		part.n_comment = 1;
		part.comment = &id;
		profile_pack(writer, &part);
	}
	ap_comments_free(comments);
}

/*
 * What a mapping has (files, lines, ...), as some of its locations show: tells readers what they
 * need not look up.
 */
struct known {
	bool functions, files, lines, inlined;
};

static void known_find(const struct ap_profile *profile, struct known *known)
{
	for (uint32_t i = 0; i < profile->location_count; i++) {
		const struct ap_location *location = &profile->locations[i];
		struct known *here;

		if (location->mapping < 0)
			continue;
		here = &known[location->mapping];
		here->inlined |= location->lines > 1;
		for (uint32_t j = 0; j < location->lines; j++) {
			const struct ap_function *function =
				&profile->functions[location->line[j].function];

			here->functions |= *function->system_name != '\0';
			here->files |= *function->file != '\0';
			here->lines |= location->line[j].line != 0;
		}
	}
}

static void mapping_pack(struct writer *writer, const struct ap_profile *profile, uint32_t index,
	const struct known *known)
{
	const struct ap_profile_mapping *from = &profile->mappings[index];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *element = &mapping;

	mapping.id = index + 1;
	mapping.memory_start = from->start;
	mapping.memory_limit = from->limit;
	mapping.file_offset = from->offset;
	mapping.filename = string_id(writer, from->file);
	mapping.build_id = string_id(writer, from->build_id);
	mapping.has_functions = known->functions;
	mapping.has_filenames = known->files;
	mapping.has_line_numbers = known->lines;
	mapping.has_inline_frames = known->inlined;
	part.n_mapping = 1;
	part.mapping = &element;
	profile_pack(writer, &part);
}

static void mappings_pack(struct writer *writer, const struct ap_profile *profile)
{
	struct known *known = calloc(profile->mapping_count + 1, sizeof(*known));
	uint32_t first = profile->main_mapping;

	if (!known) {
		writer->err = -ENOMEM;
		return;
	}
	known_find(profile, known);
	if (first < profile->mapping_count)
		mapping_pack(writer, profile, first, &known[first]);
	for (uint32_t i = 0; i < profile->mapping_count; i++)
		if (i != first)
			mapping_pack(writer, profile, i, &known[i]);
	free(known);
}

static void function_pack(struct writer *writer, const struct ap_function *from, uint32_t index)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *element = &function;

	function.id = index + 1;
	function.name = string_id(writer, from->name);
	function.system_name = string_id(writer, from->system_name);
	function.filename = string_id(writer, from->file);
	function.start_line = from->start_line;
	part.n_function = 1;
	part.function = &element;
	profile_pack(writer, &part);
}

static void location_pack(struct writer *writer, const struct ap_location *from, uint32_t index)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *element = &location;
	Pprof__Line *line = calloc(from->lines + 1, sizeof(*line));
	Pprof__Line **lines = calloc(from->lines + 1, sizeof(Pprof__Line *));

	if (!line || !lines) {
		writer->err = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < from->lines; i++) {
		pprof__line__init(&line[i]);
		line[i].function_id = from->line[i].function + 1;
		line[i].line = from->line[i].line;
		lines[i] = &line[i];
	}
	location.id = index + 1;
	location.mapping_id = from->mapping < 0 ? 0 : (uint64_t)from->mapping + 1;
	location.address = from->address;
	location.n_line = from->lines;
	location.line = lines;
	part.n_location = 1;
	part.location = &element;
	profile_pack(writer, &part);
out:
	free(line);
	free(lines);
}

static void label_set(struct writer *writer, Pprof__Label *label, const struct ap_pprof_label *from)
{
	pprof__label__init(label);
	label->key = string_id(writer, from->key);
	if (from->text) {
		label->str = string_id(writer, from->text);
	} else {
		label->num = from->number;
		label->num_unit = string_id(writer, from->unit);
	}
}

static void sample_pack(
	struct writer *writer, const struct ap_profile *profile, const struct ap_sample *from)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *element = &sample;
	uint64_t *location = calloc(from->depth + 1, sizeof(*location));
	struct ap_pprof_label known[AP_PPROF_LABELS];
	Pprof__Label label[AP_PPROF_LABELS], *labels[AP_PPROF_LABELS];
	int64_t value[AP_VALUES + 2];

	if (!location) {
		writer->err = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < from->depth; i++)
		location[i] = (uint64_t)from->location[i] + 1;
	for (int i = 0; i < AP_VALUES; i++)
		if (*profile->type[i].type)
			value[sample.n_value++] = from->value[i];
	if (writer->has_samples)
		value[sample.n_value++] = (int64_t)from->samples;
	if (writer->has_variance)
		value[sample.n_value++] = square_kib(from);
	sample.n_label = ap_pprof_labels_put(profile, &from->labels, known);
	for (size_t i = 0; i < sample.n_label; i++) {
		label_set(writer, &label[i], &known[i]);
		labels[i] = &label[i];
	}
	sample.label = labels;
	sample.value = value;
	sample.n_location_id = from->depth;
	sample.location_id = location;
	part.n_sample = 1;
	part.sample = &element;
	profile_pack(writer, &part);
	free(location);
}

int ap_format_pprof_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct writer writer = {
		.buffer.append = buffer_append,
		.gzip = ap_gzip_begin(out),
	};
	int err;

	if (!writer.gzip)
		return -ENOMEM;
	errors_find(&writer, profile);
	string_id(&writer, "");
	header_pack(&writer, profile);
	comments_pack(&writer, &profile->info);
	mappings_pack(&writer, profile);
	for (uint32_t i = 0; i < profile->function_count; i++)
		function_pack(&writer, &profile->functions[i], i);
	for (uint32_t i = 0; i < profile->location_count; i++)
		location_pack(&writer, &profile->locations[i], i);
	for (uint32_t i = 0; i < profile->sample_count; i++)
		sample_pack(&writer, profile, &profile->samples[i]);
	err = ap_gzip_end(writer.gzip);
	ap_intern_clear(&writer.strings);
	return writer.err ? writer.err : err;
}
