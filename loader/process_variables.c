// SPDX-License-Identifier: MIT
#include "process_variables.h"

#include <stdlib.h>

#include "table.h"

static struct ap_process_variable *variable_find(
	const struct ap_process_variables *variables, uint64_t address)
{
	for (uint32_t i = 0; i < variables->count; i++)
		if (variables->items[i].address == address)
			return &variables->items[i];
	return NULL;
}

/* NULL: out of memory. */
static struct ap_process_variable *variable_add(
	struct ap_process_variables *variables, const struct ap_process_variable *variable)
{
	if (ap_array_grow((void **)&variables->items, variables->count, &variables->room,
		    sizeof(*variables->items)))
		return NULL;
	variables->items[variables->count] = *variable;
	return &variables->items[variables->count++];
}

static void variable_set(struct ap_process_variables *variables,
	const struct ap_process_files *files, uint64_t address, size_t size, uint64_t value)
{
	struct ap_process_variable *variable = variable_find(variables, address);
	struct ap_process_variable fresh = {.address = address, .size = size};

	if (ap_process_files_read(files, address, &fresh.before, size) != (ssize_t)size)
		return;
	fresh.now = fresh.before;
	if (!variable && fresh.before != value)
		variable = variable_add(variables, &fresh);
	if (variable && (fresh.before == value || ap_process_files_write(files, address, &value,
							  size) == (ssize_t)size))
		variable->now = value;
}

void ap_process_variables_note(
	struct ap_process_variables *variables, const struct ap_process_variable *variable)
{
	struct ap_process_variable *known = variable_find(variables, variable->address);

	if (known)
		*known = *variable;
	else
		variable_add(variables, variable);
}

void ap_process_variables_inherit(
	struct ap_process_variables *child, const struct ap_process_variables *parent)
{
	for (uint32_t i = 0; i < parent->count; i++)
		ap_process_variables_note(child, &parent->items[i]);
}

void ap_process_variables_set(struct ap_process_variables *variables,
	const struct ap_target *target, uint64_t period, bool guard)
{
	const struct ap_process_files *files = &target->table.files;

	for (size_t i = 0; i < target->probed_count; i++) {
		const struct ap_probed *probed = &target->probed[i];

		if (period && probed->period_address)
			variable_set(variables, files, probed->period_address, 8, period);
		if (guard && probed->guard_address)
			variable_set(variables, files, probed->guard_address, 4, 1);
	}
}

void ap_process_variables_restore(
	struct ap_process_variables *variables, const struct ap_target *target)
{
	const struct ap_process_files *files = &target->table.files;

	for (uint32_t i = 0; i < variables->count; i++) {
		struct ap_process_variable *variable = &variables->items[i];
		uint64_t found = 0;

		if (variable->now == variable->before ||
			ap_process_files_read(files, variable->address, &found, variable->size) !=
				(ssize_t)variable->size ||
			found != variable->now)
			continue;
		if (ap_process_files_write(files, variable->address, &variable->before,
			    variable->size) == (ssize_t)variable->size)
			variable->now = variable->before;
	}
}

void ap_process_variables_clear(struct ap_process_variables *variables)
{
	free(variables->items);
	*variables = (struct ap_process_variables){0};
}
