// SPDX-License-Identifier: MIT
#include "labels.h"

#include <allocprof/abi.h>

#include "table.h"

_Static_assert(AP_LIFETIMES == AP_SITE_LIFETIMES, "as the programs count them");

bool ap_labels_equal(const struct ap_labels *a, const struct ap_labels *b)
{
	return a->thread == b->thread && a->size == b->size && a->lifetime == b->lifetime &&
	       a->age == b->age;
}

uint64_t ap_labels_hash(uint64_t seed, const struct ap_labels *labels)
{
	uint64_t classes = (uint64_t)(uint8_t)labels->size << 16 |
			   (uint64_t)(uint8_t)labels->lifetime << 8 | (uint8_t)labels->age;

	return ap_hash_u64(seed, (uint64_t)(uint32_t)labels->thread << 32 | classes);
}

int64_t ap_size_class_floor(int size_class)
{
	return size_class >= 63 ? INT64_MAX : (int64_t)1 << size_class;
}

int64_t ap_lifetime_floor(int lifetime)
{
	int64_t floor = AP_LIFETIME_SHORTEST_NS;

	if (lifetime <= 0)
		return 0;
	while (--lifetime > 0)
		floor *= 10;
	return floor;
}

int ap_size_class(uint64_t bytes)
{
	return bytes ? 63 - __builtin_clzll(bytes) : 0;
}

int ap_lifetime_class(uint64_t ns)
{
	int lifetime = 0;

	while (lifetime < AP_LIFETIMES - 1 && ns >= (uint64_t)ap_lifetime_floor(lifetime + 1))
		lifetime++;
	return lifetime;
}

int ap_age_class(uint64_t age_ns, uint64_t duration_ns)
{
	uint64_t tenth = duration_ns / AP_AGES;
	uint64_t age = tenth ? age_ns / tenth : 0;

	return age < AP_AGES ? (int)age : AP_AGES - 1;
}

const char *ap_lifetime_text(int lifetime)
{
	static const char *const texts[AP_LIFETIMES] = {
		"<1ms", "1-10ms", "10-100ms", "0.1-1s", "1-10s", "10-100s", "100-1000s", ">1000s"};

	return texts[lifetime];
}
