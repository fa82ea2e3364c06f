/* SPDX-License-Identifier: MIT */
/* The profile inside a flame graph's page. */
#ifndef ALLOCPROF_PAGE_DATA_H
#define ALLOCPROF_PAGE_DATA_H

#include <stdio.h>

#include "call_tree.h"
#include "format.h"

/*
 * Writes the JSON that flame_profile.js describes. `tree` holds both profiles; base NULL: there is
 * none. 0 or -ENOMEM.
 *
 * How large the blocks of a node are, how long they lived and whose they are, stands in parts of its
 * values, not under `base`. `self` is what no part has.
 *   labels     [size, lifetime, age, thread, ...]   different ones; -1: not known. Classes of
 *              labels.h: size 2^c to 2^(c+1) bytes; lifetime, of freed blocks, in decades: 0 below
 *              1 ms, 1 to 10 ms, ... 7 from 1000 s on; age, of live blocks, in tenths of
 *              the recording: 0 the youngest; thread: index into threads
 *   threads    [name, tid, ...]   "" and 0: not known
 *   parts      [skip, 3 * label + form, samples, objects, bytes, (live objects, live bytes,) ...]
 *              of the node's own values those with this label; skip: distance from the node of the
 *              part before, 0 for the same; the root, 0, counts as a node; form: 0, with the last
 *              two; 1, without them, all is live; 2, nothing is; samples: how many they stand
 *              for, 0: not known. A value v of k objects has the variance v^2 (1/samples - 1/k):
 *              see estimate.h
 */
int ap_page_data_put(FILE *out, const struct ap_profile *profile, const struct ap_profile *base,
	const struct ap_call_tree *tree, const struct ap_format_options *options);

#endif
