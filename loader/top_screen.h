/* SPDX-License-Identifier: MIT */
/* `top` on a terminal, by ncurses. */
#ifndef ALLOCPROF_TOP_SCREEN_H
#define ALLOCPROF_TOP_SCREEN_H

#include <stdbool.h>

#include "top_keys.h"

struct ap_top_screen;

/*
 * Takes over the terminal of standard input and output; what is written to standard error
 * until it is closed is dropped. 0; -ENOTSUP: TERM names no terminal that can be used; or
 * another negative errno.
 */
int ap_top_screen_open(struct ap_top_screen **ret, bool colours);

/* Restores the terminal and standard error. NULL is fine. */
void ap_top_screen_close(struct ap_top_screen *screen);

void ap_top_screen_draw(
	struct ap_top_screen *screen, const struct ap_top *top, struct ap_top_pane *pane);

/*
 * The next key, without waiting; 0: none; -1: the size of the screen has changed; -EIO: the
 * terminal is gone.
 */
int ap_top_screen_key(struct ap_top_screen *screen);

#endif
