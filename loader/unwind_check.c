// SPDX-License-Identifier: MIT
#include "unwind_check.h"

#include <gelf.h>
#include <string.h>

#define NOTES_MAX (1 << 20)

void ap_unwind_check_find(struct ap_unwind_check *check, const struct ap_object *object,
	const struct ap_elf_file *elf)
{
	const char *hex = object->build_id;
	uint8_t id[sizeof(object->build_id) / 2];
	size_t length = 0, headers = 0;
	GElf_Phdr header;

	*check = (struct ap_unwind_check){0};
	for (; length < sizeof(id) && hex[2 * length] && hex[2 * length + 1]; length++)
		if (sscanf(hex + 2 * length, "%2hhx", &id[length]) != 1)
			return;
	if (length < sizeof(check->expected) || elf_getphdrnum(elf->elf, &headers))
		return;
	for (size_t i = 0; i < headers && i < 64; i++) {
		Elf_Data *data;
		uint8_t *at;

		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_NOTE ||
			header.p_filesz > NOTES_MAX)
			continue;
		data = elf_getdata_rawchunk(
			elf->elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
		at = data && data->d_buf ? memmem(data->d_buf, data->d_size, id, length) : NULL;
		if (!at)
			continue;
		memcpy(&check->expected, id, sizeof(check->expected));
		check->address = header.p_vaddr + (uint64_t)(at - (uint8_t *)data->d_buf);
		return;
	}
}

bool ap_unwind_check_holds(
	const struct ap_process_files *files, uint64_t address, uint64_t expected)
{
	uint64_t found = 0;

	return ap_process_files_read(files, address, &found, sizeof(found)) == sizeof(found) &&
	       found == expected;
}
