// SPDX-License-Identifier: MIT
#include "symbol_cache.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cache_file.h"
#include "mapping.h"
#include "table.h"

/*
 * Raise the version with every change of the format. A change of the names
 * themselves changes the key.
 */
static const struct ap_cache_kind kind = {
	.magic = 0x73656d616e7061ULL, /* "apnames" */
	.version = 1,
};

/* The header of the memory file. The packs follow, each behind its size, and padded. */
struct memory_header {
	uint64_t size, hash; /* of all packs */
};

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* ---- In memory ---- */

int ap_symbol_cache_set_memory(struct ap_symbol_cache *cache, int memory)
{
	struct memory_header header;
	struct stat status;
	ssize_t length;

	cache->memory = memory;
	/* After a writer was killed the file may be shorter than its header says. */
	if (fstat(memory, &status) || pread(memory, &header, sizeof(header), 0) != sizeof(header) ||
		header.size > AP_SYMBOL_MEMORY_MAX ||
		(uint64_t)status.st_size != sizeof(header) + header.size)
		return 0;
	cache->past = malloc(header.size + 1);
	if (!cache->past)
		return -ENOMEM;
	length = pread(memory, cache->past, header.size, sizeof(header));
	if (length >= 0 && (uint64_t)length == header.size &&
		ap_hash(kind.magic, cache->past, header.size) == header.hash)
		cache->past_size = header.size;
	return 0;
}

static int memory_find(const struct ap_symbol_cache *cache, const struct ap_symbol_key *key,
	struct ap_symbol_shared *shared, struct ap_symbol_pack *pack)
{
	uint64_t size;
	int err;

	for (size_t at = 0; at + sizeof(size) <= cache->past_size; at += padded(size)) {
		memcpy(&size, cache->past + at, sizeof(size));
		at += sizeof(size);
		if (size > cache->past_size - at)
			break;
		err = ap_symbol_pack_open(pack, key, shared, cache->past + at, size);
		if (err != -ESTALE)
			return err;
	}
	return -ENOENT;
}

static void memory_add(struct ap_symbol_cache *cache, const void *content, uint64_t size)
{
	size_t more = sizeof(size) + padded(size);
	uint8_t *grown;

	if (cache->next_size + more > AP_SYMBOL_MEMORY_MAX)
		return;
	grown = realloc(cache->next, cache->next_size + more);
	if (!grown)
		return;
	cache->next = grown;
	grown += cache->next_size;
	cache->next_size += more;
	memset(grown, 0, more);
	memcpy(grown, &size, sizeof(size));
	memcpy(grown + sizeof(size), content, size);
}

void ap_symbol_cache_finish(struct ap_symbol_cache *cache)
{
	struct memory_header header = {
		.size = cache->next_size,
		.hash = ap_hash(kind.magic, cache->next, cache->next_size),
	};

	if (!cache->has_news || cache->memory < 0)
		return;
	cache->has_news = false;
	if (ftruncate(cache->memory, 0) ||
		pwrite(cache->memory, cache->next, cache->next_size, sizeof(header)) !=
			(ssize_t)cache->next_size ||
		pwrite(cache->memory, &header, sizeof(header), 0) != sizeof(header)) {
		/* The header tells the next reader that it is incomplete. */
	}
}

/* ---- On disk ---- */

#define NAME_SIZE 128

/*
 * Whether a file can be told from all others by its identity. The owner of a file cannot set the
 * time of its last change, unless the file system is a user's program (FUSE). A file without a name
 * is a copy, which is a different file each time.
 */
static bool is_unmistakable(int fd)
{
	struct statfs system;
	struct stat status;

	return !fstat(fd, &status) && status.st_nlink && !fstatfs(fd, &system) &&
	       system.f_type != FUSE_SUPER_MAGIC;
}

static bool disk_allows(const struct ap_symbol_file *file)
{
	const int made_from[] = {file->object->fd, file->debug_fd, file->dwarf.shared_fd};
	bool allows = file->object->build_id[0];

	for (size_t i = 0; i < sizeof(made_from) / sizeof(*made_from); i++)
		allows &= made_from[i] < 0 || is_unmistakable(made_from[i]);
	return allows;
}

/*
 * The debug file is part of the name, so that two debug files of one program do not replace each
 * other's names.
 */
static void name_format(char name[NAME_SIZE], const struct ap_symbol_key *key)
{
	snprintf(name, NAME_SIZE, "%s-%016llx.names", key->build_id,
		(unsigned long long)ap_hash(0, key, sizeof(*key)));
}

static int disk_find(const struct ap_symbol_file *file, const struct ap_symbol_key *key,
	struct ap_symbol_shared *shared, struct ap_symbol_pack *pack, void **content)
{
	char name[NAME_SIZE];
	size_t size;
	int err;

	if (!disk_allows(file))
		return -ENOENT;
	name_format(name, key);
	err = ap_cache_load(name, &kind, AP_PACK_BYTES_MAX, content, &size);
	if (err)
		return err;
	err = ap_symbol_pack_open(pack, key, shared, *content, size);
	if (err) {
		free(*content);
		*content = NULL;
	}
	return err;
}

int ap_symbol_cache_load(struct ap_symbol_cache *cache, struct ap_symbol_file *file,
	struct ap_symbol_pack *pack, void **content)
{
	struct ap_symbol_shared shared;
	struct ap_symbol_key key;
	int err = ap_symbol_file_key(file, &key);

	*pack = (struct ap_symbol_pack){0};
	*content = NULL;
	if (err)
		return err;
	err = memory_find(cache, &key, &shared, pack);
	if (err)
		err = disk_find(file, &key, &shared, pack, content);
	if (err)
		return err;
	if (ap_symbol_file_shares(file, &shared)) {
		file->shared = shared;
		return 0;
	}
	ap_symbol_pack_clear(pack);
	free(*content);
	*content = NULL;
	return -ESTALE;
}

void ap_symbol_cache_keep(struct ap_symbol_cache *cache, const struct ap_symbol_file *file,
	const struct ap_pack_address *addresses, uint32_t count, const struct ap_symbol *symbols,
	bool has_news)
{
	struct ap_symbol_key key;
	char name[NAME_SIZE];
	void *content;
	size_t size;

	if ((!has_news && cache->memory < 0) || ap_symbol_file_key(file, &key))
		return;
	if (ap_symbol_pack_make(&key, &file->shared, addresses, count, symbols, &content, &size))
		return;
	if (has_news && disk_allows(file)) {
		name_format(name, &key);
		ap_cache_store(name, &kind, content, size);
	}
	if (cache->memory >= 0)
		memory_add(cache, content, size);
	cache->has_news |= has_news;
	free(content);
}

void ap_symbol_cache_clear(struct ap_symbol_cache *cache)
{
	free(cache->past);
	free(cache->next);
	*cache = AP_SYMBOL_CACHE_NONE;
}
