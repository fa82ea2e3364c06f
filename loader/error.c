// SPDX-License-Identifier: MIT
#include "error.h"

#include <stdarg.h>

void ap_error_what(struct ap_error *error, enum ap_exit status, const char *format, ...)
{
	va_list args;

	error->status = status;
	error->detail[0] = error->hint[0] = '\0';
	va_start(args, format);
	vsnprintf(error->what, sizeof(error->what), format, args);
	va_end(args);
}

void ap_error_detail(struct ap_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->detail, sizeof(error->detail), format, args);
	va_end(args);
}

void ap_error_hint(struct ap_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->hint, sizeof(error->hint), format, args);
	va_end(args);
}

void ap_error_print(FILE *out, const struct ap_error *error)
{
	fprintf(out, "allocprof: %s\n", error->what);
	if (error->detail[0])
		fprintf(out, "detail: %s\n", error->detail);
	if (error->hint[0])
		fprintf(out, "hint: %s\n", error->hint);
}
