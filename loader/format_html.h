/* SPDX-License-Identifier: MIT */
/* What the HTML writer does beyond ap_format_html_write() of format.h. */
#ifndef ALLOCPROF_FORMAT_HTML_H
#define ALLOCPROF_FORMAT_HTML_H

#include <stdio.h>

#include "format.h"

/*
 * A flame graph of `profile` that shows how it differs from the older `base`, which may be NULL.
 * Values are taken as they are: whoever compares rates has scaled them.
 */
int ap_format_html_compare(FILE *out, const struct ap_profile *profile,
	const struct ap_profile *base, const struct ap_format_options *options);

#endif
