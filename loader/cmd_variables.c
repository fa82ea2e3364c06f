// SPDX-License-Identifier: MIT
/*
 * The variables that a recording sets in the target: the sampling period (by --period and
 * --max-rate) and the guard.
 */
#include "cmd_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <allocprof/probe.h>

#include "process_tree.h"

static int variable_error(const struct recording *recording, int err, const char *what,
	const char *option, struct ap_error *error)
{
	ap_error_what(error, AP_EXIT_FAILURE, "cannot set the %s of process %d", what,
		recording->target.pid);
	ap_error_detail(error, "writing to its memory: %s", strerror(-err));
	ap_error_hint(error, "leave out %s", option);
	return err;
}

/* Opens a variable; if it is open already, *ret is NULL. 0 or a negative errno. */
static int variable_open(const struct recording *recording, struct recording_variables *variables,
	uint64_t address, size_t size, struct ap_variable **ret)
{
	struct ap_variable *grown;
	int err;

	*ret = NULL;
	for (size_t i = 0; i < variables->count; i++)
		if (variables->items[i].address == address)
			return 0;
	grown = reallocarray(variables->items, variables->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	variables->items = grown;
	grown += variables->count;
	*grown = (struct ap_variable){0};
	err = ap_variable_open(grown, &recording->target.table.files, address, size);
	if (err)
		return err;
	variables->count++;
	*ret = grown;
	return 0;
}

/*
 * Whether the target has executed another program meanwhile, so that the old memory is gone. The
 * new one will have another variable.
 */
static bool has_executed(const struct recording *recording, int err)
{
	return err == -EIO &&
	       (recording->child || recording->tree ||
		       ap_session_executed(recording->session) != recording->exec.seen);
}

/* The period that was asked for, or else the target's own. */
static uint64_t period_asked(const struct recording *recording, const struct ap_variable *period)
{
	if (recording->options->period)
		return recording->options->period;
	return period->before ? period->before : AP_PERIOD_DEFAULT;
}

static int period_take(struct recording *recording, uint64_t address, struct ap_error *error)
{
	const struct recording_options *options = recording->options;
	struct ap_variable *period = NULL;
	uint64_t wanted = options->period;
	int err = variable_open(recording, &recording->periods, address, 8, &period);

	if (!err && period && options->max_rate) {
		if (!recording->rate.most) {
			wanted = period_asked(recording, period);
			recording->rate = (struct ap_rate){.most = options->max_rate,
				.lowest = wanted,
				.period = wanted,
				.since_ns = recording->begin_ns};
		}
		wanted = recording->rate.period;
	}
	if (!err && period && wanted)
		err = ap_variable_set(period, wanted);
	/* That it could not be read is an error only if it has to be set. */
	if (!err || (!options->period && !options->rate_asked) || has_executed(recording, err))
		return 0;
	return variable_error(recording, err, "sampling period",
		options->period ? "--period" : "--max-rate", error);
}

static int guard_take(struct recording *recording, uint64_t address, struct ap_error *error)
{
	struct ap_variable *guard = NULL;
	int err = variable_open(recording, &recording->guards, address, 4, &guard);

	if (!err && guard)
		err = ap_variable_set(guard, 1);
	if (!err || has_executed(recording, err))
		return 0;
	return variable_error(recording, err, "guard", "--guard", error);
}

static void variables_pass_on(
	struct recording *recording, const struct recording_variables *variables)
{
	for (size_t i = 0; i < variables->count; i++) {
		const struct ap_variable *from = &variables->items[i];
		struct ap_process_variable variable = {.address = from->address,
			.size = from->size,
			.before = from->before,
			.now = from->now};

		ap_tree_root_variable(recording->tree, &variable);
	}
}

int recording_variables_take(struct recording *recording, struct ap_error *error)
{
	const struct ap_target *target = &recording->target;
	int err = 0;

	for (size_t i = 0; i < target->probed_count && !err; i++) {
		const struct ap_probed *probed = &target->probed[i];

		if (probed->period_address)
			err = period_take(recording, probed->period_address, error);
		if (!err && recording->options->guard && probed->guard_address)
			err = guard_take(recording, probed->guard_address, error);
	}
	if (recording->tree) {
		variables_pass_on(recording, &recording->periods);
		variables_pass_on(recording, &recording->guards);
	}
	return err;
}

void recording_variables_renew(struct recording *recording)
{
	for (size_t i = 0; i < recording->periods.count; i++) {
		struct ap_variable *period = &recording->periods.items[i];

		if (period->now != period->before)
			ap_variable_set(period, period->now);
	}
}

/* A target that is going away cannot be written to, which does not matter. */
void recording_rate_follow(struct recording *recording, uint64_t now_ns)
{
	struct ap_rate *rate = &recording->rate;
	uint64_t before = rate->period;
	struct ap_totals totals;

	if (!rate->most || ap_session_totals(recording->session, &totals) ||
		ap_rate_step(rate, now_ns, totals.allocated.samples) == before)
		return;
	if (rate->period > recording->period_highest)
		recording->period_highest = rate->period;
	if (recording->tree)
		ap_tree_set_period(recording->tree, rate->period);
	for (size_t i = 0; i < recording->periods.count; i++) {
		struct ap_variable *period = &recording->periods.items[i];
		uint64_t asked = period_asked(recording, period);

		ap_variable_set(period, rate->period > asked ? rate->period : asked);
	}
}

uint64_t recording_period(const struct recording *recording)
{
	/* The child of run may have ended before its period could be read. */
	if (!recording->periods.count)
		return recording->child ? AP_PERIOD_DEFAULT : 0;
	return period_asked(recording, &recording->periods.items[0]);
}

void recording_variables_restore(struct recording *recording)
{
	for (size_t i = 0; i < recording->periods.count; i++)
		ap_variable_close(&recording->periods.items[i]);
	for (size_t i = 0; i < recording->guards.count; i++)
		ap_variable_close(&recording->guards.items[i]);
}

int recording_variables_check(const struct recording *recording, struct ap_error *error)
{
	const struct recording_options *options = recording->options;
	const char *what, *option;

	if ((options->period || options->rate_asked) && !recording->periods.count) {
		what = "does not let its sampling period be set";
		option = options->period ? "--period" : "--max-rate";
	} else if (options->guard && !recording->guards.count) {
		what = "cannot guard its sampled blocks";
		option = "--guard";
	} else {
		return 0;
	}
	ap_error_what(error, AP_EXIT_FAILURE, "the allocator of process %d %s",
		recording->target.pid, what);
	ap_error_hint(error, "leave out %s", option);
	return -ENOTSUP;
}
