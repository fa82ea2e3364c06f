// SPDX-License-Identifier: MIT
#include "top_screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"

#define LEAST_COLUMNS 20
#define LEAST_ROWS    5

/*
 * From this height on, there is a line with details of the selected row, and
 * room for more warnings.
 */
#define ROOMY_ROWS 16

/* The numbers of a tree leave this many more columns to its names than those of the flat table. */
#define TREE_COLUMNS 32

enum { PAIR_NONE, PAIR_WARNING, PAIR_END, PAIR_PLACE, PAIR_SORT };

struct ap_top_screen {
	SCREEN *curses;
	int error; /* a copy of standard error, to be restored; -1: none */
	bool ascii;
};

/*
 * Sends standard error to /dev/null, so that nothing is written into the table.
 * Returns a copy of it.
 */
static int error_drop(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), kept;

	if (null < 0)
		return -1;
	kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (kept >= 0)
		dup2(null, STDERR_FILENO);
	close(null);
	return kept;
}

/* Whether the terminal that has been opened can place its cursor. */
static bool has_cursor(void)
{
	const char *capability = tigetstr("cup");

	return capability && capability != (const char *)-1;
}

static void colours_start(bool wanted)
{
	if (!wanted || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	init_pair(PAIR_WARNING, COLOR_YELLOW, -1);
	init_pair(PAIR_END, COLOR_RED, -1);
	init_pair(PAIR_PLACE, COLOR_CYAN, -1);
	init_pair(PAIR_SORT, COLOR_GREEN, -1);
}

int ap_top_screen_open(struct ap_top_screen **ret, bool colours)
{
	struct ap_top_screen *screen = calloc(1, sizeof(*screen));

	if (!screen)
		return -ENOMEM;
	screen->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	screen->error = -1;
	screen->curses = newterm(NULL, stdout, stdin);
	if (!screen->curses || !has_cursor()) {
		if (screen->curses) {
			reset_shell_mode();
			delscreen(screen->curses);
		}
		free(screen);
		return -ENOTSUP;
	}
	screen->error = error_drop();
	set_term(screen->curses);
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	colours_start(colours);
	*ret = screen;
	return 0;
}

void ap_top_screen_close(struct ap_top_screen *screen)
{
	if (!screen)
		return;
	/* Terminals that do not restore their earlier content go on below the table. */
	move(LINES - 1, 0);
	clrtoeol();
	refresh();
	endwin();
	delscreen(screen->curses);
	if (screen->error >= 0) {
		dup2(screen->error, STDERR_FILENO);
		close(screen->error);
	}
	free(screen);
}

/* ---- Keys ---- */

static unsigned int key_of(int key)
{
	switch (key) {
	case KEY_UP:
		return AP_KEY_UP;
	case KEY_DOWN:
		return AP_KEY_DOWN;
	case KEY_LEFT:
		return AP_KEY_LEFT;
	case KEY_RIGHT:
		return AP_KEY_RIGHT;
	case KEY_PPAGE:
		return AP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return AP_KEY_PAGE_DOWN;
	case KEY_HOME:
		return AP_KEY_HOME;
	case KEY_END:
		return AP_KEY_END;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return AP_KEY_ENTER;
	case 033:
		return AP_KEY_ESCAPE;
	case KEY_BACKSPACE:
	case 0x7f:
	case '\b':
		return AP_KEY_BACKSPACE;
	}
	return (unsigned int)key;
}

int ap_top_screen_key(struct ap_top_screen *screen)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int key;

	set_term(screen->curses);
	key = getch();
	if (key == ERR)
		return poll(&input, 1, 0) > 0 && input.revents & (POLLHUP | POLLERR) ? -EIO : 0;
	return key == KEY_RESIZE ? -1 : (int)key_of(key);
}

/* ---- Drawing ---- */

/* Where the next part of a row is drawn. */
struct pen {
	const struct ap_top_screen *screen;
	int row, column, width;
};

static void put(struct pen *pen, attr_t attributes, short pair, const char *text)
{
	char shown[AP_TOP_TEXT];
	int left = pen->width - pen->column;

	if (left <= 0)
		return;
	attr_set(attributes, pair, NULL);
	mvaddstr(pen->row, pen->column, "");
	pen->column += (int)ap_columns_fit(
		shown, sizeof(shown), text, (unsigned int)left, pen->screen->ascii);
	addstr(shown);
	attr_set(A_NORMAL, PAIR_NONE, NULL);
}

static void line_end(struct pen *pen, attr_t attributes, short pair)
{
	attr_set(attributes, pair, NULL);
	for (; pen->column < pen->width; pen->column++)
		mvaddch(pen->row, pen->column, ' ');
	attr_set(A_NORMAL, PAIR_NONE, NULL);
	pen->row++;
	pen->column = 0;
}

static void header_draw(struct pen *pen, const struct ap_top *top, const struct ap_top_pane *pane)
{
	struct ap_top_state going = top->state;
	char text[AP_TOP_TEXT];

	going.end = NULL;
	ap_top_title(text, &going);
	put(pen, A_BOLD, PAIR_NONE, text);
	if (top->state.end) {
		put(pen, A_NORMAL, PAIR_NONE, "  ");
		put(pen, A_BOLD, PAIR_END, top->state.end);
	} else if (pane->paused) {
		put(pen, A_NORMAL, PAIR_NONE, "  ");
		put(pen, A_REVERSE, PAIR_NONE, "paused");
	}
	line_end(pen, A_NORMAL, PAIR_NONE);
	ap_top_sums(text, &top->state, &top->sites);
	put(pen, A_NORMAL, PAIR_NONE, text);
	line_end(pen, A_NORMAL, PAIR_NONE);
}

static void warnings_draw(struct pen *pen, const struct ap_top *top, unsigned int most)
{
	for (unsigned int i = 0; i < top->warning_count && i < most; i++) {
		put(pen, A_BOLD, PAIR_WARNING, "warning: ");
		put(pen, A_NORMAL, PAIR_WARNING, top->warnings[i]);
		line_end(pen, A_NORMAL, PAIR_NONE);
	}
}

static void head_draw(
	struct pen *pen, const struct ap_top *top, const struct ap_top_columns *columns)
{
	const struct ap_top_view *view = &top->view;
	char text[AP_TOP_TEXT], last[AP_TOP_TEXT];

	for (unsigned int i = 0; i < columns->count; i++) {
		const struct ap_top_column *column = columns->column[i];
		bool sorts = column->sorts && column->sort == view->sort;

		snprintf(
			text, sizeof(text), "%*s", (int)(column->width - strlen(column->head)), "");
		put(pen, A_REVERSE, PAIR_NONE, text);
		put(pen, A_REVERSE | (sorts ? A_BOLD | A_UNDERLINE : 0),
			sorts ? PAIR_SORT : PAIR_NONE, column->head);
	}
	snprintf(last, sizeof(last), "FUNCTION%s", view->lines ? ":LINE" : "");
	if (view->layout == AP_TOP_TREE)
		snprintf(last, sizeof(last), "CALLS");
	else if (view->layout == AP_TOP_SANDWICH)
		snprintf(last, sizeof(last), "CALLERS AND CALLS");
	put(pen, A_REVERSE, PAIR_NONE, "  ");
	put(pen, A_REVERSE | (view->sort == AP_TOP_BY_NAME ? A_BOLD | A_UNDERLINE : 0),
		view->sort == AP_TOP_BY_NAME ? PAIR_SORT : PAIR_NONE, last);
	if (*view->filter) {
		snprintf(text, sizeof(text), "  /%s", view->filter);
		put(pen, A_REVERSE, PAIR_NONE, text);
	}
	line_end(pen, A_REVERSE, PAIR_NONE);
}

static void row_draw(struct pen *pen, const struct ap_top *top,
	const struct ap_top_columns *columns, const struct ap_top_row *row, bool selected)
{
	attr_t attributes = selected ? A_REVERSE : A_NORMAL;
	char text[AP_TOP_TEXT], place[AP_TOP_TEXT];

	ap_top_numbers(text, columns, &row->value);
	put(pen, attributes, PAIR_NONE, text);
	ap_top_name(text, place, columns, &top->sites, row);
	put(pen, attributes, PAIR_NONE, "  ");
	put(pen, attributes | (top->view.layout == AP_TOP_FLAT ? A_BOLD : 0), PAIR_NONE, text);
	if (*place) {
		put(pen, attributes, PAIR_NONE, "  ");
		put(pen, attributes, selected ? PAIR_NONE : PAIR_PLACE, place);
	}
	line_end(pen, attributes, PAIR_NONE);
}

/* Draws the whole name of the selected row, which the table shortens. */
static void detail_draw(struct pen *pen, const struct ap_top *top, const struct ap_top_row *row)
{
	const struct ap_function *function;

	if (row && row->function != AP_TOP_NO_FUNCTION) {
		function = &top->sites.profile->functions[row->function];
		put(pen, A_DIM, PAIR_NONE, function->name);
		if (*function->file) {
			put(pen, A_DIM, PAIR_NONE, "  ");
			put(pen, A_DIM, PAIR_PLACE, function->file);
		}
	}
	line_end(pen, A_NORMAL, PAIR_NONE);
}

static void foot_draw(struct pen *pen, const struct ap_top *top, const struct ap_top_pane *pane)
{
	static const char keys[] = "q quit  ? help  1-4 sort  t tree  enter callers  / filter  "
				   "l lines  r reset  p pause  s save";
	static const char sandwich_keys[] = "escape back  tab calls or callers  c on to this "
					    "row's  enter close, open  ? help";
	char text[AP_TOP_TEXT];

	/* One cell less, since writing to the last cell of a screen would scroll it. */
	pen->width--;
	if (pane->filtering) {
		snprintf(text, sizeof(text), "/%s_", top->view.filter);
		put(pen, A_BOLD, PAIR_NONE, text);
	} else if (*pane->message) {
		put(pen, A_BOLD, PAIR_NONE, pane->message);
	} else {
		put(pen, A_DIM, PAIR_NONE,
			top->view.layout == AP_TOP_SANDWICH ? sandwich_keys : keys);
	}
	line_end(pen, A_NORMAL, PAIR_NONE);
}

static void rows_draw(struct pen *pen, const struct ap_top *top,
	const struct ap_top_columns *columns, struct ap_top_pane *pane)
{
	uint32_t selected = ap_top_pane_follow(pane, &top->rows);

	for (uint32_t i = 0; i < pane->height && pane->first + i < top->rows.count; i++)
		row_draw(pen, top, columns, &top->rows.rows[pane->first + i],
			pane->first + i == selected);
	if (top->rows.count)
		return;
	put(pen, A_NORMAL, PAIR_NONE,
		*top->view.filter ? "  nothing with that name" : "  no samples yet");
	line_end(pen, A_NORMAL, PAIR_NONE);
}

static void help_draw(struct pen *pen, const struct ap_top_pane *pane)
{
	for (unsigned int i = 0; i < pane->height && ap_top_help[i]; i++) {
		put(pen, A_NORMAL, PAIR_NONE, ap_top_help[i]);
		line_end(pen, A_NORMAL, PAIR_NONE);
	}
}

void ap_top_screen_draw(
	struct ap_top_screen *screen, const struct ap_top *top, struct ap_top_pane *pane)
{
	const struct ap_top_rows *rows = &top->rows;
	struct ap_top_columns columns;
	int height, width, foot, room;
	struct pen pen;

	set_term(screen->curses);
	getmaxyx(stdscr, height, width);
	pen = (struct pen){.screen = screen, .width = width};
	erase();
	if (height < LEAST_ROWS || width < LEAST_COLUMNS) {
		put(&pen, A_NORMAL, PAIR_NONE, "too small");
		refresh();
		return;
	}
	foot = height - 1 - (height >= ROOMY_ROWS);
	header_draw(&pen, top, pane);
	warnings_draw(&pen, top, height >= ROOMY_ROWS ? 3 : 1);
	/* In a tree, names need more room. */
	room = width - (top->view.layout == AP_TOP_FLAT ? 0 : TREE_COLUMNS);
	ap_top_columns_choose(&columns, (unsigned int)width, (unsigned int)(room > 0 ? room : 0),
		top->sites.reset, screen->ascii);
	if (!pane->help)
		head_draw(&pen, top, &columns);
	pane->height = (unsigned int)(foot > pen.row ? foot - pen.row : 0);
	if (pane->help)
		help_draw(&pen, pane);
	else
		rows_draw(&pen, top, &columns, pane);
	pen.row = foot;
	if (height >= ROOMY_ROWS)
		detail_draw(&pen, top,
			rows->count && !pane->help ? &rows->rows[ap_top_pane_follow(pane, rows)]
						   : NULL);
	foot_draw(&pen, top, pane);
	refresh();
}
