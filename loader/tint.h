/* SPDX-License-Identifier: MIT */
/*
 * The colours of frames, the same in every picture of every profile: the name of a library decides
 * the hue, that of a function the shade. The program itself is amber.
 */
#ifndef ALLOCPROF_TINT_H
#define ALLOCPROF_TINT_H

#include <stdbool.h>
#include <stdint.h>

#define AP_SHADES 10000

struct ap_tint {
	uint32_t hue;	/* degrees */
	uint32_t shade; /* < AP_SHADES; two digits vary the hue a little, two the lightness */
};

/* The version of a library does not change its colour. library "": the function is in none. */
struct ap_tint ap_tint(const char *name, const char *library, bool is_program);

/*
 * Converts from OKLCH, in which equal lightness looks equally light, to sRGB. Lightness and chroma
 * 0 to 1, hue in degrees.
 */
void ap_oklch(double lightness, double chroma, double hue, uint8_t ret_rgb[3]);

#endif
