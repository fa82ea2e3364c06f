// SPDX-License-Identifier: MIT
#include "units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "clock.h"

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* The first unit is that of a bare number. */
static int number_parse(const char *text, const struct unit *unit, uint64_t *ret)
{
	unsigned long long number;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	if (!*end)
		end = "";
	for (; unit->suffix; unit++) {
		if (strcasecmp(end, unit->suffix))
			continue;
		if (__builtin_mul_overflow(number, unit->factor, ret) || *ret > INT64_MAX)
			return -EINVAL;
		return 0;
	}
	return -EINVAL;
}

int ap_size_parse(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {{"", 1}, {"B", 1}, {"K", 1ULL << 10},
		{"KB", 1ULL << 10}, {"KiB", 1ULL << 10}, {"M", 1ULL << 20}, {"MB", 1ULL << 20},
		{"MiB", 1ULL << 20}, {"G", 1ULL << 30}, {"GB", 1ULL << 30}, {"GiB", 1ULL << 30},
		{"T", 1ULL << 40}, {"TB", 1ULL << 40}, {"TiB", 1ULL << 40}, {NULL, 0}};

	return number_parse(text, units, ret);
}

int ap_duration_parse(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {{"", AP_SECOND_NS}, {"s", AP_SECOND_NS},
		{"ms", AP_MILLISECOND_NS}, {"m", 60 * AP_SECOND_NS}, {"h", 3600 * AP_SECOND_NS},
		{"d", 86400 * AP_SECOND_NS}, {NULL, 0}};

	return number_parse(text, units, ret);
}

int ap_count_parse(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {{"", 1}, {NULL, 0}};

	return number_parse(text, units, ret);
}

char *ap_size_format(char out[AP_SIZE_TEXT], double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit = 0;

	while (bytes >= 1023.95 && unit + 1 < sizeof(units) / sizeof(*units)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(out, AP_SIZE_TEXT, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return out;
}
