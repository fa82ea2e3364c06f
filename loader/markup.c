// SPDX-License-Identifier: MIT
#include "markup.h"

#include <stdbool.h>

#include "printable.h"

#define SHOWN_MAX 4096

/* Whether a byte is the first one of a UTF-8 character. */
static bool is_letter(char c)
{
	return (c & 0xc0) != 0x80;
}

static void byte_put(FILE *out, char c)
{
	switch (c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	default:
		fputc(c, out);
	}
}

void ap_markup_put(FILE *out, const char *text, size_t letters)
{
	char shown[SHOWN_MAX];
	size_t left = 0;
	bool cut;

	ap_printable(shown, sizeof(shown), text);
	for (const char *c = shown; *c; c++)
		left += is_letter(*c);
	cut = left > letters;
	if (cut)
		left = letters - 1;
	for (const char *c = shown; *c; c++) {
		if (is_letter(*c) && !left--)
			break;
		byte_put(out, *c);
	}
	if (cut)
		fputs("\xe2\x80\xa6", out);
}
