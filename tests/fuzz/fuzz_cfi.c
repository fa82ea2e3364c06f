// SPDX-License-Identifier: MIT
/*
 * The compiler of call frame information, on arbitrary sections. The first byte says which kind of
 * section the rest is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"

/* All addresses that 32 bits reach from the section. */
#define ADDRESS 0x80000000
#define SIZE	UINT32_MAX

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ap_cfi_section section = {.address = ADDRESS};
	struct ap_cfi cfi;

	if (size < 2)
		return 0;
	section.is_eh_frame = *data & 1;
	/* A copy of exact size, so that AddressSanitizer sees reads beyond it. */
	section.size = size - 1;
	section.bytes = malloc(section.size);
	if (!section.bytes)
		return 0;
	memcpy(section.bytes, data + 1, section.size);
	if (ap_cfi_compile(&cfi, &section, 1, 0, SIZE))
		abort();
	/* What the BPF programs rely on. */
	if (!cfi.row_count || cfi.rows[0].at || cfi.row_count > size + 2 * cfi.entries + 1)
		abort();
	for (uint32_t i = 0; i < cfi.row_count; i++)
		if (cfi.rows[i].at >= SIZE || (i && cfi.rows[i].at <= cfi.rows[i - 1].at) ||
			cfi.rows[i].rule >= cfi.rule_count)
			abort();
	ap_cfi_clear(&cfi);
	free(section.bytes);
	return 0;
}
