// SPDX-License-Identifier: MIT
#include "tint.h"

#include <math.h>
#include <string.h>

#define PROGRAM_HUE 64
#define FIRST_HUE   130 /* hues of other libraries begin here, away from amber */
#define HUES	    24
#define HUE_STEP    11.5

/* FNV-1a, with its bits mixed once more, so that the high bits are as good as the low ones. */
static uint32_t text_hash(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	hash = (hash ^ (hash >> 15)) * 0x2c1b3c6du;
	return hash ^ (hash >> 13);
}

/* "libfoo" of "/usr/lib/libfoo-2.1.so.4" and of "libfoo.so": the base name up to the version. */
static size_t library_key(const char **library)
{
	const char *slash = strrchr(*library, '/');
	const char *end;

	if (slash)
		*library = slash + 1;
	end = strstr(*library, ".so");
	if (!end)
		end = *library + strlen(*library);
	for (const char *dash = end; dash > *library; dash--)
		if (*dash == '-' && dash[1] >= '0' && dash[1] <= '9')
			return (size_t)(dash - *library);
	return (size_t)(end - *library);
}

struct ap_tint ap_tint(const char *name, const char *library, bool is_program)
{
	struct ap_tint tint = {PROGRAM_HUE, text_hash(name, strlen(name)) / 16 % AP_SHADES};

	if (!is_program) {
		size_t length = library_key(&library);
		double hue = FIRST_HUE + text_hash(library, length) % HUES * HUE_STEP;

		tint.hue = (uint32_t)hue % 360;
	}
	return tint;
}

static uint8_t gamma_encode(double c)
{
	if (c <= 0)
		return 0;
	if (c >= 1)
		return 255;
	return (uint8_t)lround(
		255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055));
}

void ap_oklch(double lightness, double chroma, double hue, uint8_t ret_rgb[3])
{
	double a = chroma * cos(hue * M_PI / 180), b = chroma * sin(hue * M_PI / 180);
	double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
	double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
	double s = lightness - 0.0894841775 * a - 1.291485548 * b;

	l = l * l * l;
	m = m * m * m;
	s = s * s * s;
	ret_rgb[0] = gamma_encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
	ret_rgb[1] = gamma_encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
	ret_rgb[2] = gamma_encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
}
