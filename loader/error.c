// SPDX-License-Identifier: MIT
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "json.h"

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

int ap_error_errno(struct ap_error *error, enum ap_exit status, int err, const char *format, ...)
{
	va_list args;

	ap_error_what(error, status, "%s", "");
	va_start(args, format);
	vsnprintf(error->what, sizeof(error->what), format, args);
	va_end(args);
	ap_error_detail(error, "%s", strerror(-err));
	switch (err) {
	case -ENOMEM:
		ap_error_hint(error,
			"see what is left with: free -m; a container or a unit of systemd "
			"may have less");
		break;
	case -ENOSPC:
		ap_error_hint(error, "make room on the disk; see it with: df -h");
		break;
	case -EMFILE:
	case -ENFILE:
		ap_error_hint(error, "allow more open files: ulimit -n");
		break;
	}
	return err;
}

void ap_error_print(FILE *out, const struct ap_error *error)
{
	fprintf(out, "allocprof: %s\n", error->what);
	if (error->detail[0])
		fprintf(out, "detail: %s\n", error->detail);
	if (error->hint[0])
		fprintf(out, "hint: %s\n", error->hint);
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

void ap_error_print_json(FILE *out, const struct ap_error *error)
{
	struct ap_json json = {.out = out};

	ap_json_object(&json, NULL);
	ap_json_number(&json, "schema", 1);
	ap_json_object(&json, "error");
	ap_json_number(&json, "status", error->status);
	ap_json_text(&json, "what", error->what);
	ap_json_text(&json, "detail", or_null(error->detail));
	ap_json_text(&json, "hint", or_null(error->hint));
	ap_json_close(&json);
	ap_json_close(&json);
}
