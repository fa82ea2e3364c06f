// SPDX-License-Identifier: MIT
/* The way from an arbitrary file to its unwind table: headers, sections, then the compiler. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build_id.h"
#include "cfi.h"
#include "elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ap_cfi_section sections[AP_CFI_SECTIONS];
	char id[AP_BUILD_ID_SIZE];
	struct ap_elf_file file;
	struct ap_cfi cfi = {0};
	uint64_t base, extent;
	int count;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	ap_build_id_read(fd, id);
	if (!ap_elf_file_open(&file, fd)) {
		count = ap_cfi_sections_find(sections, &file);
		if (count > 0 && !ap_cfi_extent(&file, &base, &extent))
			ap_cfi_compile(&cfi, sections, count, base, extent);
		for (uint32_t i = 0; i < cfi.row_count; i++)
			if (cfi.rows[i].at >= extent || cfi.rows[i].rule >= cfi.rule_count)
				abort();
		ap_cfi_clear(&cfi);
		ap_elf_file_close(&file);
	}
	close(fd);
	return 0;
}
