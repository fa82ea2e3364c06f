/* SPDX-License-Identifier: MIT */
/* A value of a profile as people read it. */
#ifndef ALLOCPROF_VALUE_H
#define ALLOCPROF_VALUE_H

#include <stdint.h>

#include "profile.h"

#define AP_VALUE_TEXT 32

/* "live bytes", "allocated objects"; for a type of somebody else's its own name. */
const char *ap_value_name(const struct ap_value_type *type);

/* "41.2 MiB", "12345", "1.23 M". Returns out. */
char *ap_value_format(char out[AP_VALUE_TEXT], int64_t value, const struct ap_value_type *type);

#endif
