/* SPDX-License-Identifier: MIT */
/* What the keys of `top` do. Independent of the terminal. */
#ifndef ALLOCPROF_TOP_KEYS_H
#define ALLOCPROF_TOP_KEYS_H

#include <stdbool.h>

#include "top.h"

/* A character, or one of these. */
enum ap_top_key {
	AP_KEY_UP = 0x110000, /* above Unicode */
	AP_KEY_DOWN,
	AP_KEY_LEFT,
	AP_KEY_RIGHT,
	AP_KEY_PAGE_UP,
	AP_KEY_PAGE_DOWN,
	AP_KEY_HOME,
	AP_KEY_END,
	AP_KEY_ENTER,
	AP_KEY_ESCAPE,
	AP_KEY_BACKSPACE,
};

/* What the caller has to do after a key. */
enum ap_top_action { AP_TOP_NOTHING, AP_TOP_QUIT, AP_TOP_SAVE };

/* The state of the screen: selection, scrolling, typing. Starts as {0}. */
struct ap_top_pane {
	uint64_t selected;   /* key of a row; 0: whichever is the first */
	uint32_t first;	     /* row that is shown at the top */
	unsigned int height; /* rows that fit */
	uint64_t return_to;  /* row and layout to return to from a sandwich */
	enum ap_top_layout return_layout;
	bool paused, help;
	bool filtering;		   /* the filter is being typed */
	char message[AP_TOP_TEXT]; /* shown until the next key */
};

/*
 * Takes a key (a character or an enum ap_top_key), and arranges the rows again if it changes them.
 * Returns an enum ap_top_action, or -ENOMEM.
 */
int ap_top_key(struct ap_top *top, struct ap_top_pane *pane, unsigned int key);

/* Scrolls so that the selected row can be seen, and returns its index. */
uint32_t ap_top_pane_follow(struct ap_top_pane *pane, const struct ap_top_rows *rows);

/* The keys with what they do, a line each; NULL ends. */
extern const char *const ap_top_help[];

#endif
