// SPDX-License-Identifier: MIT
#include "table_cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_file.h"
#include "table.h"

#define RULES_MAX 65536U
#define BYTES_MAX (256U << 20)

/* Raise the version with every change of what ap_cfi_compile() makes of a section. */
static const struct ap_cache_kind kind = {
	.magic = 0x62617477756e7061ULL, /* "apnuwtab" */
	.version = 4,
	.machine = AP_ELF_MACHINE,
};

/* Followed by the rules and the rows. */
struct header {
	char build_id[64];
	uint64_t sections_hash;
	uint64_t base, size;
	uint32_t rows, rules, entries, damaged, unsupported, zero;
};

static void header_fill(struct header *header, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count, uint64_t base, uint64_t size)
{
	*header = (struct header){.base = base, .size = size};
	for (int i = 0; i < count; i++)
		header->sections_hash = ap_hash(header->sections_hash ^ sections[i].address,
			sections[i].bytes, sections[i].size);
	memcpy(header->build_id, object->build_id,
		strnlen(object->build_id, sizeof(header->build_id)));
}

#define NAME_SIZE 80

static void name_format(char name[NAME_SIZE], const struct ap_object *object)
{
	snprintf(name, NAME_SIZE, "%s.unwind", object->build_id);
}

/* Checks everything that users of the table rely on: the file is not trusted. */
static bool is_sound(const struct ap_cfi *cfi)
{
	for (uint32_t i = 0; i < cfi->row_count; i++) {
		const struct ap_cfi_row *row = &cfi->rows[i];

		if (row->rule >= cfi->rule_count || row->at >= cfi->size ||
			(i ? row->at <= row[-1].at : row->at))
			return false;
	}
	return true;
}

static int content_take(
	struct ap_cfi *cfi, const struct header *expected, const uint8_t *content, size_t size)
{
	struct header header;
	size_t rule_bytes, row_bytes;

	if (size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, content, sizeof(header));
	if (memcmp(&header, expected, offsetof(struct header, rows)))
		return -ESTALE;
	rule_bytes = header.rules * sizeof(*cfi->rules);
	row_bytes = header.rows * sizeof(*cfi->rows);
	if (header.rules < 2 || header.rules > RULES_MAX || !header.rows ||
		size != sizeof(header) + rule_bytes + row_bytes)
		return -EBADMSG;
	*cfi = (struct ap_cfi){
		.base = header.base,
		.size = header.size,
		.rules = malloc(rule_bytes),
		.rows = malloc(row_bytes),
		.rule_count = header.rules,
		.row_count = header.rows,
		.entries = header.entries,
		.damaged = header.damaged,
		.unsupported = header.unsupported,
	};
	if (!cfi->rules || !cfi->rows)
		return -ENOMEM;
	memcpy(cfi->rules, content + sizeof(header), rule_bytes);
	memcpy(cfi->rows, content + sizeof(header) + rule_bytes, row_bytes);
	return is_sound(cfi) ? 0 : -EBADMSG;
}

int ap_table_cache_load(struct ap_cfi *ret, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count, uint64_t base, uint64_t size)
{
	struct header expected;
	char name[NAME_SIZE];
	void *content;
	size_t length;
	int err;

	*ret = (struct ap_cfi){0};
	if (!ap_cache_trusts(object))
		return -ENOENT;
	name_format(name, object);
	err = ap_cache_load(name, &kind, BYTES_MAX, &content, &length);
	if (err)
		return err;
	header_fill(&expected, object, sections, count, base, size);
	err = content_take(ret, &expected, content, length);
	free(content);
	if (err)
		ap_cfi_clear(ret);
	return err;
}

int ap_table_cache_store(const struct ap_cfi *cfi, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count)
{
	size_t rule_bytes = cfi->rule_count * sizeof(*cfi->rules);
	size_t row_bytes = cfi->row_count * sizeof(*cfi->rows);
	size_t size = sizeof(struct header) + rule_bytes + row_bytes;
	struct header header;
	char name[NAME_SIZE];
	uint8_t *content;
	int err;

	if (!ap_cache_trusts(object))
		return -ENOENT;
	content = malloc(size);
	if (!content)
		return -ENOMEM;
	header_fill(&header, object, sections, count, cfi->base, cfi->size);
	header.rows = cfi->row_count;
	header.rules = cfi->rule_count;
	header.entries = cfi->entries;
	header.damaged = cfi->damaged;
	header.unsupported = cfi->unsupported;
	memcpy(content, &header, sizeof(header));
	memcpy(content + sizeof(header), cfi->rules, rule_bytes);
	memcpy(content + sizeof(header) + rule_bytes, cfi->rows, row_bytes);
	name_format(name, object);
	err = ap_cache_store(name, &kind, content, size);
	free(content);
	return err;
}
