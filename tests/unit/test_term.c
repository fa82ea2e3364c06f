// SPDX-License-Identifier: MIT
/* The line of progress, on a terminal and elsewhere. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmocka.h>

#include "term.h"

#define MS	1000000ULL
#define COLUMNS 20

struct terminal {
	int outside; /* where a person sees what is written */
	FILE *inside;
	struct ap_progress progress;
};

static int setup(void **state)
{
	static struct terminal terminal;
	struct winsize size = {.ws_row = 10, .ws_col = COLUMNS};
	int inside;

	terminal.outside = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal.outside < 0 || grantpt(terminal.outside) || unlockpt(terminal.outside))
		return -1;
	inside = open(ptsname(terminal.outside), O_WRONLY | O_NOCTTY);
	if (inside < 0 || ioctl(inside, TIOCSWINSZ, &size))
		return -1;
	terminal.inside = fdopen(inside, "w");
	*state = &terminal;
	return 0;
}

static int teardown(void **state)
{
	struct terminal *terminal = *state;

	fclose(terminal->inside);
	close(terminal->outside);
	return 0;
}

/* What has been written since; the kernel hands it over in pieces. */
static void written(struct terminal *terminal, const char *expected)
{
	char got[256] = "";
	size_t length = 0;

	while (length < strlen(expected)) {
		struct pollfd ready = {.fd = terminal->outside, .events = POLLIN};
		ssize_t count = 0;

		if (poll(&ready, 1, 10000) > 0)
			count = read(terminal->outside, got + length, sizeof(got) - 1 - length);
		if (count <= 0)
			break;
		length += (size_t)count;
	}
	assert_string_equal(got, expected);
}

static void a_line_is_drawn_in_place_and_cut(void **state)
{
	struct terminal *terminal = *state;
	struct ap_progress *progress = &terminal->progress;

	ap_progress_start(progress, terminal->inside, false, 0);
	assert_true(ap_progress_due(progress, 0));
	ap_progress_line(progress, 0, "a line of more than twenty columns");
	written(terminal, "\ra line of more than\033[K");
	assert_false(ap_progress_due(progress, (AP_PROGRESS_TICK_MS - 1) * MS));
	assert_true(ap_progress_due(progress, AP_PROGRESS_TICK_MS * MS));
	ap_progress_end(progress);
	ap_progress_end(progress);
	fflush(terminal->inside);
	written(terminal, "\r\n");
}

static void an_erased_line_leaves_nothing(void **state)
{
	struct terminal *terminal = *state;
	struct ap_progress *progress = &terminal->progress;

	ap_progress_start_late(progress, terminal->inside, false, 1000 * MS);
	assert_false(ap_progress_due(progress, 1000 * MS));
	assert_true(ap_progress_due(progress, 2000 * MS));
	ap_progress_erase(progress);
	ap_progress_line(progress, 2000 * MS, "work");
	ap_progress_erase(progress);
	ap_progress_erase(progress);
	written(terminal, "\rwork\033[K\r\033[K");
}

static void quiet_writes_nothing(void **state)
{
	struct terminal *terminal = *state;
	struct ap_progress *progress = &terminal->progress;

	ap_progress_start(progress, terminal->inside, true, 0);
	assert_false(ap_progress_due(progress, UINT64_MAX));
	ap_progress_line(progress, 0, "nothing");
	ap_progress_erase(progress);
	ap_progress_end(progress);
	fputs("end", terminal->inside);
	fflush(terminal->inside);
	written(terminal, "end");
}

static void elsewhere_a_line_comes_every_ten_seconds(void **state)
{
	struct ap_progress progress;
	char *text = NULL;
	size_t length = 0;
	FILE *out = tmpfile();

	assert_non_null(out);
	ap_progress_start_late(&progress, out, false, 0);
	assert_false(ap_progress_due(&progress, 9999 * MS));
	assert_true(ap_progress_due(&progress, 10000 * MS));
	ap_progress_line(&progress, 10000 * MS, "a line of more than twenty columns");
	assert_false(ap_progress_due(&progress, 19999 * MS));
	ap_progress_erase(&progress);
	ap_progress_end(&progress);
	rewind(out);
	assert_true(getdelim(&text, &length, '\0', out) > 0);
	assert_string_equal(text, "a line of more than twenty columns\n");
	free(text);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_is_drawn_in_place_and_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(an_erased_line_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(quiet_writes_nothing, setup, teardown),
		cmocka_unit_test(elsewhere_a_line_comes_every_ten_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
