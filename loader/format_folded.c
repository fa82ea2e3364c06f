// SPDX-License-Identifier: MIT
/* Folded stacks; format.h says what the lines look like. */
#include "format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

struct folded_line {
	char *stack;
	int64_t value;
};

/* Writes a name, replacing the characters that would end a frame or a line. */
static void name_put(FILE *out, const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		putc(c == ';' ? ':' : c < ' ' || c == 0x7f ? '?' : c, out);
	}
}

static void thread_put(FILE *out, const struct ap_profile_thread *thread)
{
	putc('[', out);
	name_put(out, *thread->name ? thread->name : "unknown");
	fprintf(out, " tid=%" PRId64 "];", thread->tid);
}

/* The stack of a sample as text, outermost first; the caller frees it. NULL: out of memory. */
static char *stack_new(const struct ap_profile *profile, const struct ap_sample *sample,
	const struct ap_shown_frames *frames)
{
	char *stack = NULL;
	size_t length;
	FILE *out = open_memstream(&stack, &length);
	bool failed;

	if (!out)
		return NULL;
	if (sample->labels.thread >= 0)
		thread_put(out, &profile->threads[sample->labels.thread]);
	if (!frames->count)
		fputs("[no stack]", out);
	for (uint32_t i = frames->count; i-- > 0;) {
		const char *name = profile->functions[frames->frame[i].function].name;

		name_put(out, *name ? name : "[unknown]");
		if (i)
			putc(';', out);
	}
	failed = ferror(out);
	if (fclose(out) || failed) {
		free(stack);
		return NULL;
	}
	return stack;
}

static int line_compare(const void *a, const void *b)
{
	return strcmp(
		((const struct folded_line *)a)->stack, ((const struct folded_line *)b)->stack);
}

static void lines_write(FILE *out, struct folded_line *line, uint32_t count)
{
	qsort(line, count, sizeof(*line), line_compare);
	for (uint32_t i = 0; i < count; i++) {
		if (i + 1 < count && strcmp(line[i].stack, line[i + 1].stack) == 0)
			line[i + 1].value = ap_value_add(line[i].value, line[i + 1].value);
		else if (line[i].value)
			fprintf(out, "%s %" PRId64 "\n", line[i].stack, line[i].value);
	}
}

int ap_format_folded_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct folded_line *line = calloc((size_t)profile->sample_count + 1, sizeof(*line));
	struct ap_shown_frames frames = {0};
	uint32_t count = 0;
	int err = line ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile->sample_count && !err; i++) {
		const struct ap_sample *sample = &profile->samples[i];

		if (!sample->value[options->value])
			continue;
		err = ap_profile_frames(profile, sample, options->show_allocator, &frames);
		if (err)
			break;
		line[count].stack = stack_new(profile, sample, &frames);
		line[count].value = sample->value[options->value];
		if (!line[count++].stack)
			err = -ENOMEM;
	}
	errno = 0;
	if (!err) {
		lines_write(out, line, count);
		if (fflush(out) || ferror(out))
			err = ap_errno();
	}
	for (uint32_t i = 0; i < count; i++)
		free(line[i].stack);
	free(line);
	free(frames.frame);
	return err;
}
