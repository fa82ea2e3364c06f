// SPDX-License-Identifier: MIT
#include "rate.h"

#include "clock.h"

#define PERIOD_MAX 0x1p40

/*
 * The aim is somewhat below the limit, and a rate that is not much below the aim is left alone:
 * otherwise chance would move the period every second.
 */
#define AIM    0.9
#define ENOUGH 0.7

static uint64_t decide(struct ap_rate *rate, uint64_t now_ns, uint64_t samples, double period)
{
	if (period > PERIOD_MAX)
		period = PERIOD_MAX;
	if (period < (double)rate->lowest)
		period = (double)rate->lowest;
	rate->period = (uint64_t)period;
	rate->since_ns = now_ns;
	rate->samples = samples;
	return rate->period;
}

uint64_t ap_rate_step(struct ap_rate *rate, uint64_t now_ns, uint64_t samples)
{
	double fresh = (double)(samples - rate->samples), most = (double)rate->most;
	double seconds = (double)(now_ns - rate->since_ns) / AP_SECOND_NS;
	double period = (double)rate->period, fitting;

	if (!(seconds > 0))
		return rate->period;
	fitting = period * fresh / seconds / (AIM * most);
	/* Too many samples raise the period before the second is over. */
	if (fresh > most && fresh / seconds > most)
		return decide(rate, now_ns, samples, fitting);
	if (seconds < 1)
		return rate->period;
	/*
	 * The period is lowered in steps, so that a pause between two bursts does not undo
	 * everything.
	 */
	if (fresh / seconds < ENOUGH * most)
		period = fitting > period / 2 ? fitting : period / 2;
	return decide(rate, now_ns, samples, period);
}
