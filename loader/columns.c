// SPDX-License-Identifier: MIT
#include "columns.h"

#include <string.h>
#include <wchar.h>

#include "printable.h"

#define TEXT_ROOM 1024

static unsigned int width_of(uint32_t character)
{
	int width = character < 0x80 ? 1 : wcwidth((wchar_t)character);

	return width < 0 ? 1 : (unsigned int)width;
}

unsigned int ap_columns_fit(
	char *out, size_t room, const char *text, unsigned int columns, bool ascii)
{
	char shown[TEXT_ROOM];
	size_t length = ap_printable(shown, sizeof(shown), text);
	size_t used = 0, cut_used = 0;
	unsigned int taken = 0, cut_taken = 0;

	for (size_t i = 0; i < length;) {
		uint32_t character = 0;
		size_t bytes = ap_utf8_decode(shown + i, length - i, &character);
		const char *from = shown + i;
		unsigned int width;

		i += bytes;
		if (ascii && character >= 0x80) {
			from = "?";
			bytes = 1;
			character = '?';
		}
		width = width_of(character);
		if (taken + width > columns || used + bytes + 1 > room) {
			if (!columns)
				break;
			out[cut_used] = '~';
			out[cut_used + 1] = '\0';
			return cut_taken + 1;
		}
		memcpy(out + used, from, bytes);
		used += bytes;
		taken += width;
		/* The longest prefix behind which the mark still fits. */
		if (taken < columns && used + 2 <= room) {
			cut_used = used;
			cut_taken = taken;
		}
	}
	out[used] = '\0';
	return taken;
}
