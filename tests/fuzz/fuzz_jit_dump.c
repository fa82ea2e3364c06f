// SPDX-License-Identifier: MIT
/* The reader of jitdump files, on arbitrary ones. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ap_jit_code code = {0};

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	ap_jit_dump_read(&code, fd, UINT64_MAX);
	if (code.count > size || code.line_count > size || ap_jit_code_sort(&code))
		abort();
	for (uint32_t i = 0; i < code.piece_count; i++)
		if (code.pieces[i].start >= code.pieces[i].end || code.pieces[i].id >= code.count ||
			(i && code.pieces[i].start < code.pieces[i - 1].end))
			abort();
	for (uint32_t i = 0; i < code.count; i++) {
		const struct ap_jit_symbol *symbol = &code.symbols[i];

		if (symbol->first_line + symbol->line_count > code.line_count)
			abort();
		if (symbol->start < symbol->end && !ap_jit_code_find(&code, symbol->start))
			abort();
		ap_jit_code_line(&code, symbol, symbol->start);
	}
	ap_jit_code_clear(&code);
	close(fd);
	return 0;
}
