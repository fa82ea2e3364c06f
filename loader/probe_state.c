// SPDX-License-Identifier: MIT
#include "probe_state.h"

#include <allocprof/probe.h>

static bool memory_read(const struct ap_target *target, uint64_t address, void *to, size_t size)
{
	return address &&
	       ap_process_files_read(&target->table.files, address, to, size) == (ssize_t)size;
}

/* The semaphore of its alloc probe, by its address in the file; 0: it has none. */
static uint64_t semaphore_find(const struct ap_usdt *usdt)
{
	for (size_t i = 0; i < usdt->count; i++)
		if (usdt->site[i].kind == AP_USDT_ALLOC)
			return usdt->site[i].semaphore_address;
	return 0;
}

struct ap_probe_state ap_probe_state_read(
	const struct ap_target *target, const struct ap_probed *probed)
{
	struct ap_probe_state state = {0};
	uint64_t semaphore = semaphore_find(&probed->usdt);
	uint16_t count = 0;

	state.has_period =
		memory_read(target, probed->period_address, &state.period, sizeof(state.period));
	if (state.has_period && !state.period)
		state.period = AP_PERIOD_DEFAULT;
	state.attached_known = memory_read(
		target, ap_target_address(target, probed, semaphore), &count, sizeof(count));
	state.attached = count != 0;
	return state;
}

bool ap_probes_attached(const struct ap_target *target)
{
	for (size_t i = 0; i < target->probed_count; i++)
		if (ap_probe_state_read(target, &target->probed[i]).attached)
			return true;
	return false;
}
