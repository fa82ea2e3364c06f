/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "printable.h"

#define SHOWN_MAX 4096

void ap_json_string(FILE *out, const char *text)
{
	char shown[SHOWN_MAX];

	ap_printable(shown, sizeof(shown), text);
	fputc('"', out);
	for (const char *c = shown; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "\\u%04x", (unsigned char)*c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
}
