// SPDX-License-Identifier: MIT
#include "top_keys.h"

#include <stdio.h>
#include <string.h>

const char *const ap_top_help[] = {
	"1 2 3 4      sort by LIVE, ALLOC/s, OBJECTS, FUNCTION",
	"5            sort by GROWTH, after a reset",
	"up down      select a row; also j k, page up, page down, home g, end G",
	"enter        who calls a function, what it calls; in a tree: open, close",
	"c            the same of the function of any row",
	"tab          between its callers and what it calls",
	"escape       back; takes a filter away",
	"t            the tree of calls, from the start of the threads",
	"left right   close and open a branch of it",
	"l            the lines of a function apart",
	"/            show only names and files with a text in them",
	"r            reset: count rates and GROWTH from now on",
	"p or space   pause; the recording goes on",
	"s            save a profile and a flame graph, as attach does",
	"q            quit; the process keeps running",
	"",
	"LIVE     bytes allocated since top began and not freed",
	"+-       what sampling leaves open of it, at 95%",
	"ALLOC/s  bytes allocated in a second, freed or not",
	"OBJECTS  live ones",
	NULL,
};

/* ---- Selection ---- */

static uint32_t selected_index(const struct ap_top_pane *pane, const struct ap_top_rows *rows)
{
	int64_t index = pane->selected ? ap_top_rows_find(rows, pane->selected) : 0;

	return index < 0 ? 0 : (uint32_t)index;
}

uint32_t ap_top_pane_follow(struct ap_top_pane *pane, const struct ap_top_rows *rows)
{
	uint32_t index = selected_index(pane, rows);
	uint32_t height = pane->height ? pane->height : 1;

	if (rows->count <= height)
		pane->first = 0;
	else if (pane->first > rows->count - height)
		pane->first = rows->count - height;
	if (index < pane->first)
		pane->first = index;
	else if (index >= pane->first + height)
		pane->first = index - height + 1;
	return index;
}

static void select_row(struct ap_top_pane *pane, const struct ap_top_rows *rows, int64_t index)
{
	int64_t last = (int64_t)rows->count - 1;

	index = index > last ? last : index;
	/* At the top, the selection stays with the first row, whichever that is next time. */
	pane->selected = index <= 0 ? 0 : rows->rows[index].key;
}

static bool key_moves(struct ap_top_pane *pane, const struct ap_top_rows *rows, unsigned int key)
{
	int64_t index = selected_index(pane, rows);
	int64_t page = pane->height > 1 ? pane->height - 1 : 1;

	switch (key) {
	case AP_KEY_UP:
	case 'k':
		index--;
		break;
	case AP_KEY_DOWN:
	case 'j':
		index++;
		break;
	case AP_KEY_PAGE_UP:
		index -= page;
		break;
	case AP_KEY_PAGE_DOWN:
		index += page;
		break;
	case AP_KEY_HOME:
	case 'g':
		index = 0;
		break;
	case AP_KEY_END:
	case 'G':
		index = rows->count;
		break;
	default:
		return false;
	}
	select_row(pane, rows, index);
	return true;
}

/* ---- Filter ---- */

/* A byte of UTF-8 comes as a character of its own: the terminal sends them one by one. */
static void filter_key(struct ap_top *top, struct ap_top_pane *pane, unsigned int key)
{
	char *filter = top->view.filter;
	size_t length = strlen(filter);

	if (key == AP_KEY_ENTER) {
		pane->filtering = false;
	} else if (key == AP_KEY_ESCAPE) {
		filter[0] = '\0';
		pane->filtering = false;
	} else if (key == AP_KEY_BACKSPACE) {
		while (length && (filter[--length] & 0xc0) == 0x80)
			;
		filter[length] = '\0';
	} else if (key >= ' ' && key < 0x100 && length + 1 < sizeof(top->view.filter)) {
		filter[length] = (char)key;
		filter[length + 1] = '\0';
	}
	pane->selected = 0;
}

/* ---- Layout ---- */

/* From a sandwich to another one, the place to return to stays. */
static void sandwich_show(
	struct ap_top *top, struct ap_top_pane *pane, const struct ap_top_row *row)
{
	if (top->view.layout != AP_TOP_SANDWICH) {
		pane->return_layout = top->view.layout;
		pane->return_to = row->key;
	}
	top->view.layout = AP_TOP_SANDWICH;
	top->view.function = row->function;
	pane->selected = 0;
}

static int row_enter(struct ap_top *top, struct ap_top_pane *pane, unsigned int key)
{
	const struct ap_top_row *row;

	if (!top->rows.count)
		return 0;
	row = &top->rows.rows[selected_index(pane, &top->rows)];
	if (row->function == AP_TOP_NO_FUNCTION)
		return 0;
	if (key == 'c' || (key == AP_KEY_ENTER && top->view.layout == AP_TOP_FLAT)) {
		sandwich_show(top, pane, row);
		return 0;
	}
	if (top->view.layout == AP_TOP_FLAT)
		return 0;
	if (!row->has_children || (key == AP_KEY_LEFT && row->closed) ||
		(key == AP_KEY_RIGHT && !row->closed))
		return 0;
	return ap_top_view_toggle(&top->view, row->key);
}

/*
 * Moves the selection to the start of the other half of a sandwich, which comes to
 * the top of the screen.
 */
static void half_switch(struct ap_top *top, struct ap_top_pane *pane)
{
	const struct ap_top_rows *rows = &top->rows;
	uint32_t calls = 0;

	while (calls < rows->count && rows->rows[calls].half != AP_TOP_CALLS)
		calls++;
	if (calls == rows->count)
		return;
	pane->first = selected_index(pane, rows) < calls ? calls : 0;
	select_row(pane, rows, pane->first);
}

static void go_back(struct ap_top *top, struct ap_top_pane *pane)
{
	if (top->view.layout == AP_TOP_SANDWICH) {
		top->view.layout = pane->return_layout;
		pane->selected = pane->return_to;
	} else {
		top->view.filter[0] = '\0';
	}
}

static void sort_set(struct ap_top *top, struct ap_top_pane *pane, unsigned int key)
{
	static const enum ap_top_sort sorts[] = {AP_TOP_BY_LIVE, AP_TOP_BY_RATE, AP_TOP_BY_OBJECTS,
		AP_TOP_BY_NAME, AP_TOP_BY_GROWTH};

	if (key == '5' && !top->sites.reset) {
		snprintf(pane->message, sizeof(pane->message),
			"growth is counted from a reset on: r");
		return;
	}
	top->view.sort = sorts[key - '1'];
	pane->selected = 0;
}

static int action_of(struct ap_top *top, struct ap_top_pane *pane, unsigned int key)
{
	switch (key) {
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
		sort_set(top, pane, key);
		break;
	case 'l':
		top->view.lines = !top->view.lines;
		pane->selected = 0;
		break;
	case 't':
		top->view.layout = top->view.layout == AP_TOP_TREE ? AP_TOP_FLAT : AP_TOP_TREE;
		pane->selected = 0;
		break;
	case 'p':
	case ' ':
		pane->paused = !pane->paused;
		break;
	case '/':
		pane->filtering = true;
		break;
	case '?':
	case 'h':
		pane->help = true;
		break;
	case 'c':
	case AP_KEY_ENTER:
	case AP_KEY_LEFT:
	case AP_KEY_RIGHT:
		return row_enter(top, pane, key);
	case '\t':
		half_switch(top, pane);
		break;
	case AP_KEY_ESCAPE:
	case AP_KEY_BACKSPACE:
		go_back(top, pane);
		break;
	case 'r':
		ap_top_sites_reset(&top->sites);
		break;
	case 's':
		return AP_TOP_SAVE;
	case 'q':
	case 'Q':
		return AP_TOP_QUIT;
	default:
		snprintf(pane->message, sizeof(pane->message), "? lists the keys");
	}
	return AP_TOP_NOTHING;
}

int ap_top_key(struct ap_top *top, struct ap_top_pane *pane, unsigned int key)
{
	int action = AP_TOP_NOTHING, err;

	pane->message[0] = '\0';
	if (pane->filtering) {
		filter_key(top, pane, key);
	} else if (pane->help) {
		pane->help = false;
	} else if (key_moves(pane, &top->rows, key)) {
		return AP_TOP_NOTHING;
	} else {
		action = action_of(top, pane, key);
		if (action < 0)
			return action;
	}
	err = ap_top_arrange(top);
	return err ? err : action;
}
