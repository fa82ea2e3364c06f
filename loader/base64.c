// SPDX-License-Identifier: MIT
#include "base64.h"

#include <stdint.h>

void ap_base64_put(FILE *out, const void *bytes, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *in = bytes;

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t bits = (uint32_t)in[i] << 16;

		if (left > 1)
			bits |= (uint32_t)in[i + 1] << 8;
		if (left > 2)
			bits |= in[i + 2];
		fputc(digits[bits >> 18], out);
		fputc(digits[bits >> 12 & 63], out);
		fputc(left > 1 ? digits[bits >> 6 & 63] : '=', out);
		fputc(left > 2 ? digits[bits & 63] : '=', out);
	}
}
