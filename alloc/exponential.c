// SPDX-License-Identifier: MIT
#include "exponential.h"

#define LN2 0.693147180559945309417

/* splitmix64 (Steele, Lea, Flood 2014): equidistributed, and one word of state. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* ln(x) for 0 < x: x = m 2^e with m near 1, and ln m = 2 artanh((m-1)/(m+1)) as a series. */
static double logarithm(double x)
{
	union {
		double value;
		uint64_t bits;
	} m = {x};
	int e = (int)(m.bits >> 52) - 1023;
	double s, square, sum = 0;

	m.bits = (m.bits & 0xfffffffffffff) | 0x3ff0000000000000; /* 1 <= m < 2 */
	if (m.value > 1.41421356237309504880) {
		m.value /= 2;
		e++;
	}
	s = (m.value - 1) / (m.value + 1); /* |s| < 0.172: s^19 is below 1e-14 */
	square = s * s;
	for (int n = 17; n >= 1; n -= 2)
		sum = sum * square + 1.0 / n;
	return 2 * s * sum + e * LN2;
}

double ap_exponential_draw(uint64_t *state)
{
	/* 53 bits, 1 .. 2^53: never ln 0 */
	return -logarithm((double)((random_next(state) >> 11) + 1) * 0x1p-53);
}

double ap_exponential_cdf(double x)
{
	double sum = 0, rest;
	int halvings = 0;

	if (x > 45)
		return 1; /* exp(-45) is below a double's resolution at 1 */
	/* With x halved until it is small: 1 - exp(-2y) = c (2 - c), where c = 1 - exp(-y). */
	while (x > 0.5) {
		x /= 2;
		halvings++;
	}
	for (int n = 14; n >= 1; n--)
		sum = x / n * (1 - sum); /* x - x^2/2! + x^3/3! - ..., as Horner has it */
	rest = sum;
	while (halvings-- > 0)
		rest = rest * (2 - rest);
	return rest;
}
