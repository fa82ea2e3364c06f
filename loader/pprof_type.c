// SPDX-License-Identifier: MIT
#include "pprof_type.h"

#include <string.h>

#include "profile.h"

/* What others call our values. */
static const char *const other_names[AP_VALUES][3] = {
	[AP_ALLOC_OBJECTS] = {"allocations", "allocated_objects"},
	[AP_ALLOC_SPACE] = {"allocated_space", "alloc_bytes"},
	[AP_INUSE_OBJECTS] = {"objects", "live_objects"},
	[AP_INUSE_SPACE] = {"space", "live_space", "inuse_bytes"},
};

int ap_pprof_value(const char *type)
{
	for (int value = 0; value < AP_VALUES; value++) {
		if (strcmp(type, ap_value_names[value]) == 0)
			return value;
		for (int i = 0; i < 3 && other_names[value][i]; i++)
			if (strcmp(type, other_names[value][i]) == 0)
				return value;
	}
	return -1;
}
