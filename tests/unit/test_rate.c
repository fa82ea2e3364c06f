// SPDX-License-Identifier: MIT
/* The decisions of --max-rate for programs that allocate evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rate.h"

#define SECOND_NS 1000000000ULL
#define LOWEST	  4096

/* A program that allocates so many bytes in a second, sampled without chance. */
struct program {
	struct ap_rate rate;
	uint64_t now_ns;
	double bytes, samples;
};

static struct program program_of(uint64_t most)
{
	return (struct program){.rate = {.most = most, .lowest = LOWEST, .period = LOWEST}};
}

/* Returns how many samples came in the time. */
static double run(struct program *program, double bytes_per_second, int ticks)
{
	double before = program->samples;

	for (int i = 0; i < ticks; i++) {
		program->now_ns += AP_RATE_TICK_MS * 1000000ULL;
		program->samples +=
			bytes_per_second * AP_RATE_TICK_MS / 1000 / (double)program->rate.period;
		ap_rate_step(&program->rate, program->now_ns, (uint64_t)program->samples);
		assert_true(program->rate.period >= LOWEST);
	}
	return program->samples - before;
}

static void test_below(void **state)
{
	struct program program = program_of(1000);

	run(&program, 999.0 * LOWEST, 500);
	assert_int_equal(program.rate.period, LOWEST);
}

/* Settles before the second is over, and stays. */
static void test_above(void **state)
{
	static const uint64_t most[] = {1, 10, 200, 100000};

	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
		struct program program = program_of(most[i]);

		run(&program, 4e9, 8);
		assert_true(program.rate.period > LOWEST);
		run(&program, 4e9, 100);
		assert_in_range((uint64_t)run(&program, 4e9, 5000), 70 * most[i], 101 * most[i]);
	}
}

static void test_back_down(void **state)
{
	struct program program = program_of(1000);
	uint64_t high, last;

	run(&program, 4e9, 100);
	high = last = program.rate.period;
	/* A pause of a second lowers the period by half at most. */
	run(&program, 0, 51);
	assert_in_range(program.rate.period, high / 2, high);
	for (int i = 0; i < 40; i++) {
		run(&program, 1e6, 50);
		assert_true(program.rate.period <= last);
		last = program.rate.period;
	}
	assert_int_equal(program.rate.period, LOWEST);
	run(&program, 4e9, 5);
	assert_true(program.rate.period > LOWEST * 64);
}

static void test_extremes(void **state)
{
	struct ap_rate rate = {.most = 1, .lowest = 1ULL << 39, .period = 1ULL << 39};

	assert_int_equal(ap_rate_step(&rate, 0, 0), 1ULL << 39);
	for (uint64_t i = 1; i < 100; i++)
		assert_in_range(ap_rate_step(&rate, i, i << 50), 1ULL << 39, 1ULL << 40);
	/* What is asked for may be more than what would ever be chosen. */
	rate = (struct ap_rate){.most = 1, .lowest = UINT64_MAX / 2, .period = UINT64_MAX / 2};
	assert_true(ap_rate_step(&rate, SECOND_NS, 1000) >= UINT64_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_above),
		cmocka_unit_test(test_back_down),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
