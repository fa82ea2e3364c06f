// SPDX-License-Identifier: MIT
/*
 * Reads the text that jemalloc and gperftools write, the latter also as pprof of old did. A stack,
 * as return addresses with the innermost first, and what is live and what was allocated under it:
 *
 *   heap_v2/524288                            heap profile: 2: 128 [5: 320] @ heapprofile
 *   @ 0x401136 0x7f0000001234                      2:  128 [ 5:  320] @ 0x401136 0x7f0000001234
 *     t*: 2: 128 [5: 320]                     MAPPED_LIBRARIES:
 *   MAPPED_LIBRARIES:                         400000-401000 r-xp 00000000 08:01 123 /bin/x
 *
 * The counts are those of the samples themselves, and are scaled to estimates as
 * jeprof and pprof do.
 */
#include "format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "file_map.h"
#include "symbolize.h"

/* Far above what they write; a profile made to exhaust memory ends here. */
#define DEPTH_MAX     65536
#define LOCATIONS_MAX (UINT32_C(1) << 22)
#define PERIOD_MAX    (INT64_C(1) << 50)

struct reader {
	struct ap_profile *to;
	struct ap_file_map map;
	uint32_t *location; /* of the stack that was read last */
	uint32_t depth;
	int64_t period; /* 0: every allocation is there */
	bool is_jemalloc;
	bool is_growth; /* a profile of the growth of the heap: it has no frees */
	uint64_t line;
	char *reason;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int reader_fail(
	struct reader *reader, const char *format, ...)
{
	va_list arguments;
	int length = snprintf(reader->reason, reader->size, "line %" PRIu64 ": ", reader->line);

	va_start(arguments, format);
	if (length > 0 && (size_t)length < reader->size)
		vsnprintf(
			reader->reason + length, reader->size - (size_t)length, format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

/* ---- Pieces of a line: each moves *at behind what it has read ---- */

static bool sign_read(char **at, char sign)
{
	*at += strspn(*at, " \t");
	if (**at != sign)
		return false;
	++*at;
	return true;
}

static bool number_read(char **at, int64_t *ret)
{
	char *end;

	*at += strspn(*at, " \t");
	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret = strtoll(*at, &end, 10);
	*at = end;
	return errno == 0;
}

static bool text_read(char **at, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(*at, text, length))
		return false;
	*at += length;
	return true;
}

/* "2: 128 [5: 320]": live and allocated, objects and bytes. */
static bool values_read(char **at, int64_t value[AP_VALUES])
{
	return number_read(at, &value[AP_INUSE_OBJECTS]) && sign_read(at, ':') &&
	       number_read(at, &value[AP_INUSE_SPACE]) && sign_read(at, '[') &&
	       number_read(at, &value[AP_ALLOC_OBJECTS]) && sign_read(at, ':') &&
	       number_read(at, &value[AP_ALLOC_SPACE]) && sign_read(at, ']');
}

/* The rest of a line: addresses. */
static int stack_read(struct reader *reader, char *at)
{
	reader->depth = 0;
	for (;;) {
		uint64_t address;
		char *end;
		int index;

		at += strspn(at, " \t\r\n");
		if (!*at)
			return 0;
		errno = 0;
		address = strtoull(at, &end, 16);
		if (end == at || errno || *at == '-' || *at == '+')
			return reader_fail(reader, "not an address");
		at = end;
		if (reader->depth == DEPTH_MAX)
			return reader_fail(reader, "a stack of more than %d frames", DEPTH_MAX);
		if (reader->to->location_count == LOCATIONS_MAX)
			return reader_fail(reader, "more than %u addresses", LOCATIONS_MAX);
		index = ap_file_map_location(&reader->map, reader->to,
			address ? ap_file_map_find(&reader->map, address - 1) : NULL, address,
			address > 0);
		if (index < 0)
			return index;
		reader->location[reader->depth++] = (uint32_t)index;
	}
}

/* ---- Values ---- */

static int64_t scaled(int64_t value, double factor)
{
	double product = (double)value * factor;

	return product < (double)INT64_MAX ? (int64_t)llround(product) : INT64_MAX;
}

/* What n samples of s bytes stand for, when each byte was a sample point with 1/period. */
static void pair_scale(int64_t *objects, int64_t *bytes, int64_t period)
{
	double mean, factor;

	if (*objects <= 0 || *bytes <= 0 || period <= 1)
		return;
	mean = (double)*bytes / (double)*objects;
	factor = -1 / expm1(-mean / (double)period);
	*objects = scaled(*objects, factor);
	*bytes = scaled(*bytes, factor);
}

static int sample_add(struct reader *reader, int64_t value[AP_VALUES])
{
	int added;

	pair_scale(&value[AP_INUSE_OBJECTS], &value[AP_INUSE_SPACE], reader->period);
	pair_scale(&value[AP_ALLOC_OBJECTS], &value[AP_ALLOC_SPACE], reader->period);
	if (reader->is_growth)
		value[AP_ALLOC_OBJECTS] = value[AP_ALLOC_SPACE] = 0;
	added = ap_profile_add_sample(reader->to, reader->location, reader->depth, value);
	return added < 0 ? added : 0;
}

/* ---- Lines ---- */

/* "heap_v2/524288", or "heap profile: 2: 128 [5: 320] @ heap_v2/524288". */
static int header_read(struct reader *reader, char *at)
{
	int64_t total[AP_VALUES], divisor = 1;

	if (text_read(&at, "heap_v2/")) {
		reader->is_jemalloc = true;
	} else if (!text_read(&at, "heap profile:") || !values_read(&at, total) ||
		   !sign_read(&at, '@')) {
		return reader_fail(reader, "not the beginning of a heap profile");
	} else {
		at += strspn(at, " ");
		reader->is_growth = text_read(&at, "growth");
		if (reader->is_growth || text_read(&at, "heapprofile")) {
			reader->to->info.period = 1;
			return 0;
		}
		/* Go writes twice the mean. */
		if (!text_read(&at, "heap_v2/") && text_read(&at, "heap/"))
			divisor = 2;
		else if (at[-1] != '/')
			return reader_fail(reader, "an unknown kind of heap profile");
	}
	if (!number_read(&at, &reader->period) || reader->period < 1 || reader->period > PERIOD_MAX)
		return reader_fail(reader, "a bad sampling period");
	reader->period /= divisor;
	reader->to->info.period = reader->period;
	return 0;
}

static int jemalloc_line_read(struct reader *reader, char *at, bool *has_stack)
{
	int64_t value[AP_VALUES];

	if (sign_read(&at, '@')) {
		*has_stack = true;
		return stack_read(reader, at);
	}
	/*
	 * "t*" is the sum over the threads "t1" and so on. The first such line is the total, before
	 * any stack.
	 */
	if (!text_read(&at, "t"))
		return reader_fail(reader, "neither a stack nor its values");
	if (*at++ != '*' || !*has_stack)
		return 0;
	if (!sign_read(&at, ':') || !values_read(&at, value))
		return reader_fail(reader, "bad values");
	return sample_add(reader, value);
}

static int gperftools_line_read(struct reader *reader, char *at)
{
	int64_t value[AP_VALUES];
	int err;

	if (*at == '#')
		return 0;
	if (!values_read(&at, value) || !sign_read(&at, '@'))
		return reader_fail(reader, "neither values nor a stack");
	err = stack_read(reader, at);
	return err ? err : sample_add(reader, value);
}

static bool is_maps_title(const char *line)
{
	return strncmp(line, "MAPPED_LIBRARIES:", 17) == 0;
}

/*
 * Reads the list of mappings at the end. Lines of other kinds, such as `build=/path`, are left out.
 */
static int maps_read(struct reader *reader, FILE *in, char **line, size_t *room)
{
	bool inside = false;
	int err = 0;

	while (!err && getline(line, room, in) > 0) {
		struct ap_maps_line parsed;

		if (!inside)
			inside = is_maps_title(*line);
		else if (!ap_maps_line_parse(*line, &parsed) && parsed.executable)
			err = ap_file_map_add(&reader->map, parsed.start, parsed.end, parsed.offset,
				parsed.path, "", NULL);
	}
	if (err == -E2BIG)
		snprintf(reader->reason, reader->size, "too many mappings");
	return err;
}

static int samples_read(struct reader *reader, FILE *in, char **line, size_t *room)
{
	bool has_stack = false;
	int err = 0;

	while (!err && getline(line, room, in) > 0 && !is_maps_title(*line)) {
		reader->line++;
		if (reader->line == 1)
			err = header_read(reader, *line);
		else if ((*line)[strspn(*line, " \t\r\n")])
			err = reader->is_jemalloc ? jemalloc_line_read(reader, *line, &has_stack)
						  : gperftools_line_read(reader, *line);
	}
	return err;
}

/* ---- The whole ---- */

/* The program's own file is the first that is mapped. It also gives the profile its name. */
static int program_read(struct reader *reader)
{
	const struct ap_mapping *first = reader->map.count ? reader->map.mappings[0] : NULL;
	const char *slash;
	int index;

	if (!first || !first->object)
		return 0;
	index = ap_symbolize_mapping(reader->to, first);
	if (index < 0)
		return index;
	reader->to->main_mapping = (uint32_t)index;
	slash = strrchr(first->object->path, '/');
	return ap_profile_set(&reader->to->info.comm, slash + 1);
}

/* Values that the profiler did not count are marked as missing, instead of as 0. */
static void types_choose(struct ap_profile *profile)
{
	if (profile->total[AP_ALLOC_OBJECTS] || profile->total[AP_ALLOC_SPACE])
		return;
	for (int value = AP_ALLOC_OBJECTS; value <= AP_ALLOC_SPACE; value++)
		profile->type[value] = (struct ap_value_type){"", ""};
}

static int profile_read(struct reader *reader, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	int err = maps_read(reader, in, &line, &room);

	if (!err)
		err = program_read(reader);
	rewind(in);
	if (!err)
		err = samples_read(reader, in, &line, &room);
	free(line);
	return err;
}

bool ap_format_heap_is(const uint8_t *bytes, size_t length)
{
	return length > 8 &&
	       (memcmp(bytes, "heap pro", 8) == 0 || memcmp(bytes, "heap_v2/", 8) == 0);
}

int ap_format_heap_read(
	uint8_t *bytes, size_t length, struct ap_profile **ret, char *reason, size_t size)
{
	struct reader reader = {
		.to = ap_profile_new(),
		.location = calloc(DEPTH_MAX, sizeof(uint32_t)),
		.reason = reason,
		.size = size,
	};
	FILE *in = fmemopen(bytes, length, "r");
	int err = reader.to && reader.location && in ? 0 : -ENOMEM;

	if (!err)
		err = profile_read(&reader, in);
	if (in)
		fclose(in);
	ap_file_map_clear(&reader.map);
	free(reader.location);
	if (err) {
		ap_profile_free(reader.to);
		return err;
	}
	types_choose(reader.to);
	*ret = reader.to;
	return 0;
}
