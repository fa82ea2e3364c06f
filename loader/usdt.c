// SPDX-License-Identifier: MIT
#include "usdt.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#include <allocprof/machine.h>
#include <allocprof/probe.h>

#define NOTE_TYPE 3

/* A sparse file can claim any size for its sections; libelf reads them whole. */
#define NOTES_SIZE_MAX	 (16ULL << 20)
#define SYMBOLS_SIZE_MAX (1ULL << 30)

/* Takes the string at *at and moves *at behind it. NULL: it does not end before `end`. */
static const char *string_take(const char **at, const char *end)
{
	const char *text = *at;
	const char *nul = memchr(text, '\0', end - text);

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

int ap_usdt_note_parse(const void *bytes, size_t length, struct ap_usdt_note *ret)
{
	struct ap_usdt_note note;
	uint64_t address[3];
	const char *at = bytes;
	const char *end = at + length;

	if (length < sizeof(address))
		return -EBADMSG;
	memcpy(address, at, sizeof(address));
	at += sizeof(address);
	note.address = address[0];
	note.base = address[1];
	note.semaphore = address[2];
	note.provider = string_take(&at, end);
	if (!note.provider)
		return -EBADMSG;
	note.name = string_take(&at, end);
	if (!note.name)
		return -EBADMSG;
	note.arguments = string_take(&at, end);
	if (!note.arguments)
		return -EBADMSG;
	*ret = note;
	return 0;
}

/* Whether the arguments stand in the first registers of the calling convention. */
static bool arguments_fit(const char *text, size_t count)
{
	static const char *const registers[] = {AP_ARG0, AP_ARG1, AP_ARG2};

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(registers[i]);

		text += strspn(text, " ");
		text += *text == '-';
		if (*text++ != '8' || *text++ != '@')
			return false;
		text += *text == '%';
		if (strncmp(text, registers[i], length) || (text[length] && text[length] != ' '))
			return false;
		text += length;
	}
	return true;
}

/* The file offset of an address; 0: it is in no segment. */
static uint64_t address_to_offset(Elf *elf, uint64_t address)
{
	size_t count;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &header))
			return 0;
		if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
			address - header.p_vaddr < header.p_filesz)
			return address - header.p_vaddr + header.p_offset;
	}
	return 0;
}

static int note_take(Elf *elf, const struct ap_usdt_note *note, uint64_t moved, struct ap_usdt *ret)
{
	struct ap_usdt_site site = {0};

	if (strcmp(note->provider, AP_PROBE_PROVIDER))
		return 0;
	if (!strcmp(note->name, AP_PROBE_ALLOC))
		site.kind = AP_USDT_ALLOC;
	else if (!strcmp(note->name, AP_PROBE_FREE))
		site.kind = AP_USDT_FREE;
	else
		return 0;
	if (!arguments_fit(note->arguments, site.kind == AP_USDT_ALLOC ? 3 : 1))
		return -ENOTSUP;
	site.offset = address_to_offset(elf, note->address + moved);
	if (!site.offset)
		return -EBADMSG;
	if (note->semaphore) {
		site.semaphore = address_to_offset(elf, note->semaphore + moved);
		if (!site.semaphore)
			return -EBADMSG;
		site.semaphore_address = note->semaphore + moved;
	}
	if (ret->count == AP_USDT_SITES)
		return -E2BIG;
	ret->site[ret->count++] = site;
	return 0;
}

static int notes_read(Elf *elf, Elf_Scn *section, uint64_t base, struct ap_usdt *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	struct ap_usdt_note note;
	size_t at = 0, next, name, descriptor;
	GElf_Nhdr header;
	const char *bytes;
	int err;

	if (!data || !data->d_buf)
		return -EBADMSG;
	bytes = data->d_buf;
	/* gelf_getnote() checks that name and descriptor lie inside the data. */
	while ((next = gelf_getnote(data, at, &header, &name, &descriptor)) > 0) {
		at = next;
		if (header.n_type != NOTE_TYPE || header.n_namesz != sizeof("stapsdt") ||
			memcmp(bytes + name, "stapsdt", sizeof("stapsdt")))
			continue;
		err = ap_usdt_note_parse(bytes + descriptor, header.n_descsz, &note);
		if (err)
			return err;
		/* Prelinking moves the section but not the addresses in the notes. */
		err = note_take(elf, &note, base && note.base ? base - note.base : 0, ret);
		if (err)
			return err;
	}
	return 0;
}

static uint64_t *variable_of(struct ap_usdt *usdt, const GElf_Sym *symbol, const char *name)
{
	if (symbol->st_size == 8 && !strcmp(name, AP_PERIOD_SYMBOL))
		return &usdt->period;
	if (symbol->st_size == 4 && !strcmp(name, AP_GUARD_SYMBOL))
		return &usdt->guard;
	return NULL;
}

static void variables_find(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct ap_usdt *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Sym symbol;
	uint64_t *variable;
	const char *name;

	for (size_t i = 0; data && i < count && i <= INT32_MAX; i++) {
		if (!gelf_getsym(data, (int)i, &symbol))
			return;
		if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || !symbol.st_size ||
			symbol.st_size > 8 || symbol.st_shndx == SHN_UNDEF ||
			symbol.st_value % symbol.st_size)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		variable = name ? variable_of(ret, &symbol, name) : NULL;
		if (variable && !*variable)
			*variable = symbol.st_value;
	}
}

static int text_find(Elf *elf, struct ap_usdt *ret)
{
	size_t count;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count))
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &header))
			return -EBADMSG;
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) ||
			ret->site[0].offset < header.p_offset ||
			ret->site[0].offset - header.p_offset >= header.p_filesz)
			continue;
		ret->text_address = header.p_vaddr;
		ret->text_offset = header.p_offset;
		return 0;
	}
	return -EBADMSG;
}

static int sections_read(Elf *elf, struct ap_usdt *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t base = 0;
	size_t names;
	const char *name;
	int err;

	if (elf_getshdrstrndx(elf, &names))
		return -EBADMSG;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			return -EBADMSG;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".stapsdt.base"))
			base = header.sh_addr;
	}
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			return -EBADMSG;
		name = elf_strptr(elf, names, header.sh_name);
		if (header.sh_type == SHT_NOTE && name && !strcmp(name, ".note.stapsdt")) {
			if (header.sh_size > NOTES_SIZE_MAX)
				return -EBADMSG;
			err = notes_read(elf, section, base, ret);
			if (err)
				return err;
		}
	}
	if (!ret->count)
		return -ENOENT;
	/* A static executable exports nothing, but its symbol table may have the variables. */
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			return -EBADMSG;
		if (header.sh_size <= SYMBOLS_SIZE_MAX &&
			(header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
			variables_find(elf, section, &header, ret);
	}
	return text_find(elf, ret);
}

int ap_usdt_read(int fd, struct ap_usdt *ret)
{
	GElf_Ehdr header;
	Elf *elf;
	int err;

	memset(ret, 0, sizeof(*ret));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		err = -ENOENT;
	else if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != AP_ELF_MACHINE)
		err = -ENOENT;
	else
		err = sections_read(elf, ret);
	elf_end(elf);
	return err;
}
