// SPDX-License-Identifier: MIT
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "printable.h"

#define SHOWN_MAX   4096
#define REPLACEMENT 0xfffd

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

static void text_put(FILE *out, const char *text)
{
	size_t length = strlen(text);

	fputc('"', out);
	while (length) {
		uint32_t c = REPLACEMENT;
		size_t bytes = ap_utf8_decode(text, length, &c);

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (int)c);
		else if (c >= 0x20 && c < 0x7f)
			fputc((int)c, out);
		else if (c < 0x10000)
			fprintf(out, "\\u%04" PRIx32, c);
		else
			fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
				0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
		text += bytes ? bytes : 1;
		length -= bytes ? bytes : 1;
	}
	fputc('"', out);
}

/* What stands before a value. */
static void value_begin(struct ap_json *json, const char *key)
{
	if (json->comma)
		fputc(',', json->out);
	json->comma = true;
	if (key) {
		text_put(json->out, key);
		fputc(':', json->out);
	}
}

static void open_put(struct ap_json *json, const char *key, bool is_array)
{
	value_begin(json, key);
	fputc(is_array ? '[' : '{', json->out);
	json->arrays &= ~(UINT32_C(1) << json->depth);
	json->arrays |= (uint32_t)is_array << json->depth;
	json->depth++;
	json->comma = false;
}

void ap_json_object(struct ap_json *json, const char *key)
{
	open_put(json, key, false);
}

void ap_json_array(struct ap_json *json, const char *key)
{
	open_put(json, key, true);
}

void ap_json_close(struct ap_json *json)
{
	json->depth--;
	fputc(json->arrays >> json->depth & 1 ? ']' : '}', json->out);
	json->comma = json->depth > 0;
	if (!json->depth)
		fputc('\n', json->out);
}

void ap_json_text(struct ap_json *json, const char *key, const char *text)
{
	value_begin(json, key);
	if (text)
		text_put(json->out, text);
	else
		fputs("null", json->out);
}

void ap_json_number(struct ap_json *json, const char *key, int64_t number)
{
	value_begin(json, key);
	fprintf(json->out, "%" PRId64, number);
}

void ap_json_real(struct ap_json *json, const char *key, double number)
{
	value_begin(json, key);
	if (isfinite(number))
		fprintf(json->out, "%.10g", number);
	else
		fputs("null", json->out);
}

void ap_json_bool(struct ap_json *json, const char *key, bool value)
{
	value_begin(json, key);
	fputs(value ? "true" : "false", json->out);
}
