/* SPDX-License-Identifier: MIT */
/* The labels of a sample as pprof files have them: see labels.h for what they mean. */
#ifndef ALLOCPROF_PPROF_LABEL_H
#define ALLOCPROF_PPROF_LABEL_H

#include "profile.h"

/* Either a text, or, when that is NULL, a number with its unit. */
struct ap_pprof_label {
	const char *key;
	const char *text;
	int64_t number;
	const char *unit; /* "" none */
};

#define AP_PPROF_LABELS 5

/*
 * Fills in the labels that are to be written for a sample, and returns their number. The texts are
 * the profile's.
 */
unsigned int ap_pprof_labels_put(const struct ap_profile *profile, const struct ap_labels *labels,
	struct ap_pprof_label out[AP_PPROF_LABELS]);

/* The labels that have been read for a sample. Starts as {.labels = AP_LABELS_NONE}. */
struct ap_pprof_labels {
	struct ap_labels labels;
	const char *thread; /* NULL: not said */
	int64_t tid;
};

/*
 * Takes a label that was read. Of other writers' labels, the size of the blocks ("bytes", as in Go
 * and jemalloc) and the name of the thread are understood; the rest is ignored.
 */
void ap_pprof_label_take(struct ap_pprof_labels *labels, const struct ap_pprof_label *label);

/* After the last one: adds the thread to the profile. 0 or -ENOMEM. */
int ap_pprof_labels_finish(struct ap_pprof_labels *labels, struct ap_profile *profile);

#endif
