// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_profile.h"
#include "tint.h"

#define MINUS "\xe2\x88\x92"

static const struct ap_format_options options = {.value = AP_INUSE_SPACE};

/* The width of the frame with this title. */
static double frame_width(const char *svg, const char *title)
{
	char wanted[256];
	const char *found, *width = NULL;

	snprintf(wanted, sizeof(wanted), "<title>%s\n", title);
	found = strstr(svg, wanted);
	assert_non_null(found);
	for (const char *c = svg; (c = strstr(c, " width=\"")) && c < found; c++)
		width = c + 8;
	assert_non_null(width);
	return strtod(width, NULL);
}

static void widths_are_the_values(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *svg = written(ap_format_svg_write, profile, &options);

	/* Of 2028 live bytes, on 1180 pixels, less the gap of one. */
	assert_float_equal(frame_width(svg, "All stacks"), 1179, 0.1);
	assert_float_equal(frame_width(svg, "[stack map full]"), 1180 * 1007.0 / 2028 - 1, 0.1);
	assert_float_equal(frame_width(svg, "main"), 1180 * 1021.0 / 2028 - 1, 0.1);
	assert_float_equal(frame_width(svg, "inlined"), 1180 * 757.0 / 2028 - 1, 0.1);
	assert_non_null(strstr(svg, "<title>main\n1021 B, 50.35%</title>"));
	assert_null(strstr(svg, "malloc"));
	free(svg);
	ap_profile_free(profile);
}

static void allocator_on_request(void **state)
{
	struct ap_format_options all = {.value = AP_ALLOC_OBJECTS, .show_allocator = true};
	struct ap_profile *profile = sample_profile();
	char *svg = written(ap_format_svg_write, profile, &all);

	assert_non_null(strstr(svg, "<title>malloc\n7, "));
	assert_non_null(strstr(svg, ": 30 allocated objects</text>"));
	free(svg);
	ap_profile_free(profile);
}

static void names_add_no_markup(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *svg;

	assert_int_equal(ap_profile_set(&profile->info.comm, "</text><script>"), 0);
	assert_int_equal(ap_profile_set(&profile->info.command, "\"/><!--]]>&\x01"), 0);
	svg = written(ap_format_svg_write, profile, &options);
	assert_null(strstr(svg, "<script"));
	assert_null(strstr(svg, "<!--"));
	assert_non_null(strstr(svg, "&lt;script&gt;"));
	assert_int_equal(occurrences(svg, "<text"), occurrences(svg, "</text>"));
	assert_int_equal(occurrences(svg, "<title>"), occurrences(svg, "</title>"));
	for (const char *c = svg; *c; c++)
		assert_true(*c == '\n' || (unsigned char)*c >= ' ');
	free(svg);
	ap_profile_free(profile);
}

static void empty_profile_is_a_picture(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	char *svg = written(ap_format_svg_write, profile, &options);

	assert_non_null(strstr(svg, "profile: 0 B live bytes"));
	assert_non_null(strstr(svg, "</svg>\n"));
	assert_null(strstr(svg, "nan"));
	free(svg);
	ap_profile_free(profile);
}

/* A stack as deep as a file can make it takes neither stack nor endless rows. */
static void deep_stacks_end(void **state)
{
	static uint32_t location[100000];
	struct ap_profile *profile = ap_profile_new();
	char *svg;

	for (uint32_t i = 0; i < 100000; i++)
		location[i] = sample_location(profile, -1, i % 7 + 1, "deep", "deep.c");
	assert_true(ap_profile_add_sample(profile, location, 100000, (int64_t[]){1, 2, 3, 4}) >= 0);
	svg = written(ap_format_svg_write, profile, &options);
	assert_int_equal(occurrences(svg, "<title>deep"), 199);
	assert_non_null(strstr(svg, "deeper frames are not drawn"));
	free(svg);
	ap_profile_free(profile);
}

/* Widths of the newer profile; what changed in words, and in a colour of its own. */
static void comparison_says_what_changed(void **state)
{
	struct ap_profile *profile = sample_profile(), *base = sample_profile();
	const struct ap_format_options compared = {.value = AP_INUSE_SPACE, .base = base};
	char *svg;

	/* "left" had twice 53 bytes more; a stack of 100 bytes is gone; the rest is as it was. */
	ap_profile_add_sample(base,
		(uint32_t[]){sample_location(base, 1, 0x400011, "left", "program.c"),
			sample_location(base, 1, 0x400022, "main", "program.c")},
		2, (int64_t[]){2, 106, 2, 106});
	ap_profile_add_sample(base,
		(uint32_t[]){sample_location(base, 1, 0x400099, "vanished", "program.c")}, 1,
		(int64_t[]){1, 100, 1, 100});
	svg = written(ap_format_svg_write, profile, &compared);
	assert_float_equal(frame_width(svg, "main"), 1180 * 1021.0 / 2028 - 1, 0.1);
	assert_non_null(strstr(svg, "2.0 KiB live bytes, " MINUS "206 B (" MINUS "9.2%); "
				    "in stacks that are gone: 100 B</text>"));
	assert_non_null(
		strstr(svg, "<title>left\n53 B, 2.61%; " MINUS "106 B (" MINUS "67%)</title>"));
	assert_non_null(strstr(svg, "<title>inlined\n757 B, 37.33%; +0 B (=)</title>"));
	assert_null(strstr(svg, "vanished"));
	free(svg);
	svg = written(ap_format_svg_write, base,
		&(struct ap_format_options){.value = AP_INUSE_SPACE, .base = profile});
	assert_non_null(strstr(svg, "<title>vanished\n100 B, 4.48%; +100 B (new)</title>"));
	assert_non_null(strstr(svg, "<title>left\n159 B, 7.12%; +106 B (+200%)</title>"));
	free(svg);
	ap_profile_free(profile);
	ap_profile_free(base);
}

static void tints_are_stable(void **state)
{
	struct ap_tint a = ap_tint("f", "/usr/lib/libfoo.so.1.2", false);
	struct ap_tint b = ap_tint("f", "/opt/libfoo-2.1.so.4", false);
	struct ap_tint c = ap_tint("g", "/opt/libfoo.so", false);
	uint8_t rgb[3];

	assert_int_equal(a.hue, b.hue);
	assert_int_equal(a.hue, c.hue);
	assert_int_equal(a.shade, b.shade);
	assert_int_not_equal(a.shade, c.shade);
	assert_int_equal(
		ap_tint("f", "/usr/bin/foo", true).hue, ap_tint("g", "/bin/bar", true).hue);
	ap_oklch(1, 0, 0, rgb);
	assert_true(rgb[0] == 255 && rgb[1] == 255 && rgb[2] == 255);
	ap_oklch(0.628, 0.2577, 29.23, rgb); /* red */
	assert_true(rgb[0] >= 254 && rgb[1] <= 2 && rgb[2] <= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_are_the_values),
		cmocka_unit_test(allocator_on_request),
		cmocka_unit_test(names_add_no_markup),
		cmocka_unit_test(empty_profile_is_a_picture),
		cmocka_unit_test(deep_stacks_end),
		cmocka_unit_test(comparison_says_what_changed),
		cmocka_unit_test(tints_are_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
