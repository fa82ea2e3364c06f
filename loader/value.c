// SPDX-License-Identifier: MIT
#include "value.h"

#include <stdio.h>
#include <string.h>

#include "units.h"

const char *ap_value_name(const struct ap_value_type *type)
{
	static const char *const names[AP_VALUES] = {[AP_ALLOC_OBJECTS] = "allocated objects",
		[AP_ALLOC_SPACE] = "allocated bytes",
		[AP_INUSE_OBJECTS] = "live objects",
		[AP_INUSE_SPACE] = "live bytes"};

	for (int i = 0; i < AP_VALUES; i++)
		if (strcmp(type->type, ap_value_names[i]) == 0)
			return names[i];
	return type->type;
}

char *ap_value_format(char out[AP_VALUE_TEXT], int64_t value, const struct ap_value_type *type)
{
	static const char suffix[] = " kMGTP";
	double size = (double)value;
	int step = 0;

	if (strcmp(type->unit, "bytes") == 0)
		return ap_size_format(out, size);
	while (size >= 99999.5 && suffix[step + 1]) {
		size /= 1000;
		step++;
	}
	if (step)
		snprintf(out, AP_VALUE_TEXT, "%.3g %c", size, suffix[step]);
	else
		snprintf(out, AP_VALUE_TEXT, "%lld", (long long)value);
	return out;
}
