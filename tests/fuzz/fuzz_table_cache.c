// SPDX-License-Identifier: MIT
/*
 * The table cache, on arbitrary files. The first byte says how the file is made: stored from a
 * table whose rules and rows are the remaining bytes, so that its hash is right whatever it holds;
 * or stored from a good table and then overwritten with the remaining bytes, at the place that the
 * second and third byte give. A table that is loaded must be what the BPF programs rely on.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table_cache.h"

#define SIZE 0x10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/allocprof-fuzz-XXXXXX";
static char cached[128];
static struct ap_object object = {.fd = -1, .build_id = "0badc0de"};
static struct ap_cfi_section section = {.bytes = "section", .size = 7};

static void folder_remove(void)
{
	unlink(cached);
	*strrchr(cached, '/') = '\0';
	rmdir(cached);
	rmdir(folder);
}

static void start(void)
{
	if (!mkdtemp(folder))
		abort();
	setenv("XDG_CACHE_HOME", folder, 1);
	snprintf(cached, sizeof(cached), "%s/allocprof/%s.unwind", folder, object.build_id);
	atexit(folder_remove);
	object.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (object.fd < 0)
		abort();
}

static void store(const struct ap_cfi *cfi)
{
	if (ap_table_cache_store(cfi, &object, &section, 1))
		abort();
}

static void store_good(void)
{
	struct ap_unwind_rule rules[2] = {{.cfa = AP_CFA_NONE}, {.cfa = AP_CFA_UNSUPPORTED}};
	struct ap_cfi_row rows[3] = {{.at = 0}, {.at = 16, .rule = 1}, {.at = 32}};
	struct ap_cfi good = {
		.size = SIZE, .rules = rules, .rule_count = 2, .rows = rows, .row_count = 3};

	store(&good);
}

static void store_any(const uint8_t *data, size_t size)
{
	size_t rule_count = size ? data[0] : 0;
	struct ap_cfi any = {.size = SIZE};

	if (rule_count * sizeof(*any.rules) >= size)
		rule_count = 0;
	any.rules = calloc(rule_count + 1, sizeof(*any.rules));
	any.rows = calloc(size / sizeof(*any.rows) + 1, sizeof(*any.rows));
	if (!any.rules || !any.rows)
		abort();
	any.rule_count = (uint32_t)rule_count;
	memcpy(any.rules, data, rule_count * sizeof(*any.rules));
	data += rule_count * sizeof(*any.rules);
	size -= rule_count * sizeof(*any.rules);
	any.row_count = (uint32_t)(size / sizeof(*any.rows));
	memcpy(any.rows, data, any.row_count * sizeof(*any.rows));
	store(&any);
	ap_cfi_clear(&any);
}

static void overwrite(const uint8_t *data, size_t size)
{
	uint16_t at;
	int fd;

	if (size < sizeof(at))
		return;
	memcpy(&at, data, sizeof(at));
	fd = open(cached, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, data + sizeof(at), size - sizeof(at), at % 512) < 0)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ap_cfi cfi;

	if (!size)
		return 0;
	if (object.fd < 0)
		start();
	if (*data & 1) {
		store_any(data + 1, size - 1);
	} else {
		store_good();
		overwrite(data + 1, size - 1);
	}
	if (ap_table_cache_load(&cfi, &object, &section, 1, 0, SIZE))
		return 0;
	if (!cfi.row_count || cfi.rows[0].at || cfi.rule_count < 2 || cfi.size != SIZE)
		abort();
	for (uint32_t i = 0; i < cfi.row_count; i++)
		if (cfi.rows[i].at >= SIZE || (i && cfi.rows[i].at <= cfi.rows[i - 1].at) ||
			cfi.rows[i].rule >= cfi.rule_count)
			abort();
	ap_cfi_clear(&cfi);
	return 0;
}
