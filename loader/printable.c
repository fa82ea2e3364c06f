// SPDX-License-Identifier: MIT
#include "printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t ap_utf8_decode(const char *text, size_t length, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)text;
	uint32_t character;
	size_t bytes;

	if (!length)
		return 0;
	if (p[0] < 0x80) {
		*ret = p[0];
		return 1;
	}
	bytes = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || bytes > length)
		return 0;
	character = p[0] & (0x7f >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (p[i] & 0x3f);
	}
	/* Rejects overlong forms, surrogates, and what is beyond Unicode. */
	if (character < least[bytes] || (character >= 0xd800 && character < 0xe000) ||
		character > 0x10ffff)
		return 0;
	*ret = character;
	return bytes;
}

static bool is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	/*
	 * Not printable: zero width and direction marks, line separators, embeddings, isolates,
	 * byte order mark, private use and tags. They are invisible, or move what follows.
	 */
	return !((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		 (c >= 0x2060 && c <= 0x206f) || c == 0x061c || c == 0xfeff || c == 0x00ad ||
		 (c >= 0xe000 && c < 0xf900) || (c >= 0xfff9 && c <= 0xfffb) || c >= 0xe0000);
}

size_t ap_printable(char *out, size_t room, const char *text)
{
	size_t length = strlen(text), used = 0, fits = 0;

	while (length) {
		char piece[16];
		uint32_t c = 0;
		size_t bytes = ap_utf8_decode(text, length, &c), wide;

		if (!bytes)
			wide = (size_t)snprintf(
				piece, sizeof(piece), "\\x%02x", (unsigned char)*text);
		else if (c < 0x80 && !is_printable(c))
			wide = (size_t)snprintf(piece, sizeof(piece), "\\x%02x", c);
		else if (!is_printable(c))
			wide = (size_t)snprintf(piece, sizeof(piece), "\\u{%x}", c);
		else
			memcpy(piece, text, wide = bytes);
		if (used + wide + 1 > room) {
			memcpy(out + fits, "...", 4);
			return fits + 3;
		}
		memcpy(out + used, piece, wide);
		used += wide;
		if (used + 4 <= room)
			fits = used;
		text += bytes ? bytes : 1;
		length -= bytes ? bytes : 1;
	}
	out[used] = '\0';
	return used;
}
