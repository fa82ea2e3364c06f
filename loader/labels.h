/* SPDX-License-Identifier: MIT */
/*
 * What is known of a stack's blocks beside where they were allocated: how large they were, how
 * long they lived, or, of live ones, how old they are, and which thread asked for them. A stack
 * has one sample for each combination of labels that occurs; the values of the stack are the
 * sum of its samples.
 *
 * In pprof files they are labels, which other tools read as well (`go tool pprof -tags`,
 * -tagfocus): "bytes" in bytes, "lifetime" in nanoseconds and "age" in percent, each the lower end
 * of its range; "thread" the name, and "tid".
 */
#ifndef ALLOCPROF_LABELS_H
#define ALLOCPROF_LABELS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Labels hold classes. Size class c: 2^c to below 2^(c+1) bytes requested; 0 bytes are in class 0.
 * Lifetime classes: 0 is below 1 ms, then one for each decade, the last from 1000 s on. Age
 * classes, of blocks that are live at the end: tenths of the recording's length.
 */
#define AP_SIZE_CLASSES 64
#define AP_LIFETIMES	8
#define AP_AGES		10

struct ap_labels {
	int32_t thread;	 /* index into the profile's threads. Here and below -1: not known */
	int8_t size;	 /* class of the size */
	int8_t lifetime; /* class of the lifetime; only of blocks that were freed */
	int8_t age;	 /* class of the age; only of live blocks */
};

#define AP_LABELS_NONE ((struct ap_labels){.thread = -1, .size = -1, .lifetime = -1, .age = -1})

bool ap_labels_equal(const struct ap_labels *a, const struct ap_labels *b);
uint64_t ap_labels_hash(uint64_t seed, const struct ap_labels *labels);

/* The lower end of a class, and the class of a number. */
int64_t ap_size_class_floor(int size_class); /* bytes */
int64_t ap_lifetime_floor(int lifetime);     /* ns */
int ap_size_class(uint64_t bytes);
int ap_lifetime_class(uint64_t ns);
int ap_age_class(uint64_t age_ns, uint64_t duration_ns);

/* A class of lifetimes as text: "<1ms", "10-100ms". */
const char *ap_lifetime_text(int lifetime);

#endif
