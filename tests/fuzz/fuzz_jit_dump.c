// SPDX-License-Identifier: MIT
/* What a runtime may write as jitdump: every address must have the code that was added last. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ap_jit_code *code, uint64_t address)
{
	const struct ap_jit_symbol *found = ap_jit_code_find(code, address), *newest = NULL;

	for (uint32_t i = 0; i < code->count; i++) {
		const struct ap_jit_symbol *symbol = &code->symbols[i];

		if (address >= symbol->start && address < symbol->end &&
			(!newest || symbol->order > newest->order))
			newest = symbol;
	}
	if (found != newest)
		abort();
	if (found)
		ap_jit_code_line(code, found, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ap_jit_code code = {0};

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!ap_jit_dump_read(&code, fd, 1000) && !ap_jit_code_sort(&code)) {
		for (uint32_t i = 0; i < code.count && i < 100; i++) {
			check(&code, code.symbols[i].start - 1);
			check(&code, code.symbols[i].start);
			check(&code, code.symbols[i].end - 1);
			check(&code, code.symbols[i].end);
		}
	}
	ap_jit_code_clear(&code);
	close(fd);
	return 0;
}
