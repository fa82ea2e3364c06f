// SPDX-License-Identifier: MIT
#include "text_blocks.h"

#include "units.h"

void ap_text_blocks_add(
	struct ap_text_blocks *blocks, const struct ap_sample *sample, enum ap_value value)
{
	bool by_objects = value == AP_ALLOC_OBJECTS || value == AP_INUSE_OBJECTS;
	int64_t allocated = sample->value[by_objects ? AP_ALLOC_OBJECTS : AP_ALLOC_SPACE];
	int64_t live = sample->value[by_objects ? AP_INUSE_OBJECTS : AP_INUSE_SPACE];
	const struct ap_labels *labels = &sample->labels;

	blocks->allocated = ap_value_add(blocks->allocated, allocated);
	blocks->live = ap_value_add(blocks->live, live);
	if (labels->age >= AP_AGES / 2)
		blocks->live_old = ap_value_add(blocks->live_old, live);
	if (labels->lifetime >= 0)
		blocks->lifetime[labels->lifetime] =
			ap_value_add(blocks->lifetime[labels->lifetime], allocated);
	blocks->shown = ap_value_add(blocks->shown, sample->value[value]);
	if (labels->size >= 0)
		blocks->size[labels->size] =
			ap_value_add(blocks->size[labels->size], sample->value[value]);
}

/* Writes "  10-100ms 12%", unless it is 0. */
static void share_write(FILE *out, const char *name, int64_t part, int64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (part)
		fprintf(out, percent < 0.5 ? "  %s <1%%" : "  %s %.0f%%", name, percent);
}

static void lifetimes_write(FILE *out, const struct ap_text_blocks *blocks)
{
	int64_t known = 0;

	for (int i = 0; i < AP_LIFETIMES; i++)
		known |= blocks->lifetime[i];
	if (!known && !blocks->live_old)
		return;
	fputs("              lived", out);
	for (int i = 0; i < AP_LIFETIMES; i++)
		share_write(out, ap_lifetime_text(i), blocks->lifetime[i], blocks->allocated);
	share_write(out, "live", blocks->live, blocks->allocated);
	if (blocks->live)
		fprintf(out, " (%.0f%% of it from the first half)",
			100.0 * (double)blocks->live_old / (double)blocks->live);
	fputc('\n', out);
}

static void sizes_write(FILE *out, const struct ap_text_blocks *blocks)
{
	bool known = false;

	for (int i = 0; i < AP_SIZE_CLASSES; i++) {
		char size[AP_SIZE_TEXT];

		if (!blocks->size[i])
			continue;
		if (!known)
			fputs("              sizes from", out);
		known = true;
		ap_size_format(size, (double)ap_size_class_floor(i));
		share_write(out, size, blocks->size[i], blocks->shown);
	}
	if (known)
		fputc('\n', out);
}

void ap_text_blocks_write(
	FILE *out, const struct ap_text_blocks *blocks, const struct ap_format_options *options)
{
	/* Shares of changes would tell nothing. */
	if (options->difference)
		return;
	if (options->lifetimes)
		lifetimes_write(out, blocks);
	if (options->sizes)
		sizes_write(out, blocks);
}
