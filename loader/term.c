// SPDX-License-Identifier: MIT
#include "term.h"

#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"

#define TERMINAL_EVERY_NS (AP_PROGRESS_TICK_MS * AP_MILLISECOND_NS)
#define LATE_NS		  (300 * AP_MILLISECOND_NS)
#define FILE_EVERY_NS	  (10 * AP_SECOND_NS)

void ap_progress_start(struct ap_progress *progress, FILE *out, bool quiet, uint64_t now_ns)
{
	*progress = (struct ap_progress){.out = out, .quiet = quiet};
	progress->terminal = isatty(fileno(out));
	progress->next_ns = now_ns + (progress->terminal ? 0 : FILE_EVERY_NS);
}

void ap_progress_start_late(struct ap_progress *progress, FILE *out, bool quiet, uint64_t now_ns)
{
	ap_progress_start(progress, out, quiet, now_ns);
	if (progress->terminal)
		progress->next_ns = now_ns + LATE_NS;
}

bool ap_progress_due(const struct ap_progress *progress, uint64_t now_ns)
{
	return !progress->quiet && now_ns >= progress->next_ns;
}

/* The width of the terminal now; unlimited if it does not know. */
static int columns(FILE *out)
{
	struct winsize size;

	return ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col ? INT_MAX : size.ws_col;
}

void ap_progress_line(struct ap_progress *progress, uint64_t now_ns, const char *text)
{
	if (progress->quiet)
		return;
	/* Goes back to the start, writes, and clears the rest of a longer line. */
	if (progress->terminal)
		fprintf(progress->out, "\r%.*s\033[K", columns(progress->out) - 1, text);
	else
		fprintf(progress->out, "%s\n", text);
	fflush(progress->out);
	progress->drawn = progress->terminal;
	progress->next_ns = now_ns + (progress->terminal ? TERMINAL_EVERY_NS : FILE_EVERY_NS);
}

void ap_progress_end(struct ap_progress *progress)
{
	if (progress->drawn)
		fputc('\n', progress->out);
	progress->drawn = false;
}

void ap_progress_erase(struct ap_progress *progress)
{
	if (!progress->drawn)
		return;
	fputs("\r\033[K", progress->out);
	fflush(progress->out);
	progress->drawn = false;
}
