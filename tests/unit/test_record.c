// SPDX-License-Identifier: MIT
/* From counters to a profile: sums, losses, and keys and counters that a hostile target has made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "record.h"
#include "symbolize.h"

#define PID   4127
#define SITES 4

/* A snapshot in memory of its own: never cleared with ap_snapshot_clear(). */
struct fixture {
	struct ap_snapshot snapshot;
	struct ap_site_key keys[SITES];
	struct ap_site sites[SITES];
	uint64_t stack_ids[SITES];
	struct ap_stack stacks[SITES];
};

static struct ap_counters counters(uint64_t samples, uint64_t size, uint64_t weight)
{
	return (struct ap_counters){
		.samples = samples,
		.objects = samples * ((weight << AP_OBJECT_SHIFT) / size),
		.bytes = samples * size,
		.weight = samples * weight,
		.squares = samples * ap_square_of(size, weight),
	};
}

static void add(struct ap_counters *to, const struct ap_counters *more)
{
	to->samples += more->samples;
	to->objects += more->objects;
	to->bytes += more->bytes;
	to->weight += more->weight;
	to->squares += more->squares;
}

/* A stack of two addresses, and its site. */
static void site_add(struct fixture *fixture, uint64_t id, struct ap_counters allocated,
	struct ap_counters freed)
{
	struct ap_snapshot *snapshot = &fixture->snapshot;
	size_t i = snapshot->site_count++;

	snapshot->site_keys = fixture->keys;
	snapshot->sites = fixture->sites;
	snapshot->stack_ids = fixture->stack_ids;
	snapshot->stacks = fixture->stacks;
	snapshot->stack_count = snapshot->site_count;
	fixture->keys[i] = (struct ap_site_key){.stack = id, .process = PID};
	fixture->sites[i] = (struct ap_site){
		allocated, freed, {{freed.samples, freed.objects, freed.weight, freed.squares}}};
	fixture->stack_ids[i] = id;
	fixture->stacks[i] =
		(struct ap_stack){.depth = 2, .frame = {0x1000 * id, 0x1000 * id + 16}};
	add(&snapshot->totals.allocated, &allocated);
	add(&snapshot->totals.freed, &freed);
}

static struct ap_profile *record(struct fixture *fixture, struct ap_record_faults *faults)
{
	struct ap_mapping_table table = {0};
	struct ap_symbolizer *symbolizer = ap_symbolizer_new();
	struct ap_profile *profile = ap_profile_new();

	assert_non_null(symbolizer);
	assert_non_null(profile);
	assert_int_equal(
		ap_record(profile, &fixture->snapshot, &table, symbolizer, PID, faults, NULL), 0);
	ap_symbolizer_free(symbolizer);
	return profile;
}

/* The sample whose outermost function has this name; NULL: none. */
static const struct ap_sample *sample_find(const struct ap_profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct ap_sample *sample = &profile->samples[i];
		const struct ap_location *outermost =
			&profile->locations[sample->location[sample->depth - 1]];

		if (!strcmp(profile->functions[outermost->line[0].function].name, name))
			return sample;
	}
	return NULL;
}

static void test_sums(void **state)
{
	struct fixture fixture = {0};
	struct ap_record_faults faults;
	struct ap_profile *profile;

	site_add(&fixture, 64, counters(10, 100, 700), counters(3, 100, 700));
	site_add(&fixture, 65, counters(5, 1009, 5045), counters(5, 1009, 5045));
	profile = record(&fixture, &faults);
	assert_false(faults.sums_differ);
	assert_int_equal(faults.sites + faults.negative, 0);
	/* The first site's are freed or live, all of the second's are freed. */
	assert_int_equal(profile->stack_count, 2);
	assert_int_equal(profile->sample_count, 3);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 7000 + 25225);
	assert_int_equal(profile->total[AP_ALLOC_OBJECTS], 70 + 25);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 4900);
	assert_int_equal(profile->total[AP_INUSE_OBJECTS], 49);
	assert_int_equal(profile->info.samples, 15);
	assert_int_equal(profile->info.frees, 8);
	assert_int_equal(profile->info.lost, 0);
	ap_profile_free(profile);
}

static void test_losses(void **state)
{
	struct fixture fixture = {0};
	struct ap_snapshot *snapshot = &fixture.snapshot;
	struct ap_counters lost = counters(4, 50, 500), unfollowed = counters(2, 100, 700);
	struct ap_record_faults faults;
	struct ap_profile *profile;
	const struct ap_sample *sample;

	/* Two of the ten could not be followed: freed at their site, but not in the totals. */
	site_add(&fixture, 64, counters(10, 100, 700), counters(2, 100, 700));
	fixture.sites[0].lifetime[0] = (struct ap_lifetime){0};
	snapshot->totals.freed = (struct ap_counters){0};
	snapshot->losses[AP_LOSS_LIVE_FULL].allocated = unfollowed;
	snapshot->losses[AP_LOSS_STACKS].allocated = lost;
	add(&snapshot->totals.allocated, &lost);
	profile = record(&fixture, &faults);
	assert_false(faults.sums_differ);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], snapshot->totals.allocated.weight);
	assert_int_equal(profile->total[AP_INUSE_SPACE], snapshot->totals.allocated.weight);
	assert_int_equal(profile->info.lost, 4);
	sample = sample_find(profile, "[stack map full]");
	assert_non_null(sample);
	assert_int_equal(sample->value[AP_ALLOC_SPACE], 2000);
	assert_int_equal(sample->value[AP_INUSE_OBJECTS], 40);
	sample = sample_find(profile, "[live map full]");
	assert_non_null(sample);
	assert_int_equal(sample->value[AP_ALLOC_SPACE], 0);
	assert_int_equal(sample->value[AP_INUSE_SPACE], 1400);
	ap_profile_free(profile);
}

static void test_damaged_keys(void **state)
{
	struct fixture fixture = {0};
	struct ap_record_faults faults;
	struct ap_profile *profile;
	const struct ap_sample *sample;

	for (uint64_t id = 64; id < 64 + SITES; id++)
		site_add(&fixture, id, counters(1, 10, 30), counters(0, 10, 30));
	fixture.keys[0].process = PID + 1;
	fixture.keys[1].stack = 0x7f0000001000;
	fixture.keys[2].zero = 1;
	profile = record(&fixture, &faults);
	assert_int_equal(faults.sites, 3);
	sample = sample_find(profile, "[damaged key]");
	assert_non_null(sample);
	assert_int_equal(sample->value[AP_ALLOC_SPACE], 90);
	/* The totals are complete all the same. */
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 120);
	assert_false(faults.sums_differ);
	ap_profile_free(profile);
}

static void test_more_freed_than_allocated(void **state)
{
	struct fixture fixture = {0};
	struct ap_record_faults faults;
	struct ap_profile *profile;

	site_add(&fixture, 64, counters(1, 10, 30), counters(2, 10, 30));
	profile = record(&fixture, &faults);
	assert_int_equal(faults.negative, 1);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 0);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 30);
	ap_profile_free(profile);
}

static void test_sums_that_differ(void **state)
{
	struct fixture fixture = {0};
	struct ap_record_faults faults;

	site_add(&fixture, 64, counters(1, 10, 30), counters(1, 10, 30));
	fixture.snapshot.totals.allocated.bytes++;
	ap_profile_free(record(&fixture, &faults));
	assert_true(faults.sums_differ);
	fixture.snapshot.totals.allocated.bytes--;
	fixture.snapshot.totals.freed.samples--;
	ap_profile_free(record(&fixture, &faults));
	assert_true(faults.sums_differ);
}

static void test_truncated(void **state)
{
	struct fixture fixture = {0};
	struct ap_record_faults faults;
	struct ap_profile *profile;
	const struct ap_sample *sample;

	site_add(&fixture, 64, counters(1, 10, 30), counters(0, 10, 30));
	fixture.stacks[0].end = AP_END_READ;
	/* A depth that no BPF program writes. */
	site_add(&fixture, 65, counters(1, 10, 30), counters(0, 10, 30));
	fixture.stacks[1].depth = AP_FRAMES + 1;
	profile = record(&fixture, &faults);
	sample = sample_find(profile, "[truncated: stack not readable]");
	assert_non_null(sample);
	assert_int_equal(sample->depth, 3);
	assert_int_equal(faults.sites, 1);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 60);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_damaged_keys),
		cmocka_unit_test(test_more_freed_than_allocated),
		cmocka_unit_test(test_sums_that_differ),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
