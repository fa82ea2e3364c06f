// SPDX-License-Identifier: MIT
#include "message.h"

#include <stdlib.h>
#include <unistd.h>

#include "syscall.h"

void ap_line_text(struct ap_line *line, const char *text)
{
	/* One byte is kept for the newline. */
	while (*text && line->length < sizeof(line->text) - 1)
		line->text[line->length++] = *text++;
}

static void line_digits(struct ap_line *line, unsigned long number, unsigned base)
{
	char digits[24];
	size_t start = sizeof(digits) - 1;

	digits[start] = 0;
	do
		digits[--start] = "0123456789abcdef"[number % base];
	while (number /= base);
	ap_line_text(line, digits + start);
}

void ap_line_number(struct ap_line *line, unsigned long number)
{
	line_digits(line, number, 10);
}

void ap_line_hex(struct ap_line *line, unsigned long number)
{
	ap_line_text(line, "0x");
	line_digits(line, number, 16);
}

void ap_line_write(struct ap_line *line, int fd)
{
	size_t done = 0;

	line->text[line->length++] = '\n';
	while (done < line->length) {
		/* Not libc's write, which ends a thread that has been cancelled. */
		long count = system_call(
			SYS_write, fd, (long)line->text + done, line->length - done, 0, 0, 0);

		if (count == -EINTR)
			continue;
		if (count <= 0)
			break;
		done += count;
	}
	line->length = 0;
}

_Noreturn void ap_fatal(const char *what, const void *pointer, size_t size)
{
	struct ap_line line = {0};

	ap_line_text(&line, "allocprof: ");
	ap_line_text(&line, what);
	ap_line_text(&line, " ");
	ap_line_hex(&line, (unsigned long)pointer);
	if (size) {
		ap_line_text(&line, " (size class ");
		ap_line_number(&line, size);
		ap_line_text(&line, ")");
	}
	ap_line_write(&line, STDERR_FILENO);
	abort();
}
