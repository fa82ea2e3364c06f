/* SPDX-License-Identifier: MIT */
/*
 * The colours of frames, the same in every picture of every profile: a library has a hue by its
 * name, a function a shade of it by its own. The program itself is amber.
 */
#ifndef ALLOCPROF_TINT_H
#define ALLOCPROF_TINT_H

#include <stdbool.h>
#include <stdint.h>

#define AP_SHADES 10000

struct ap_tint {
	uint32_t hue;	/* degrees */
	uint32_t shade; /* < AP_SHADES; two digits turn the hue a little, two the lightness */
};

/* A library's version is no part of its colour. "" for a function of no library. */
struct ap_tint ap_tint(const char *name, const char *library, bool is_program);

/* A colour of OKLCH, where equal lightness looks equally light. Hue in degrees. */
void ap_oklch(double lightness, double chroma, double hue, uint8_t ret_rgb[3]);

#endif
