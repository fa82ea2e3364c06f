// SPDX-License-Identifier: MIT
#include "table_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table.h"

/* To be raised with every change of what the compiler makes of a section. */
#define VERSION	   3
#define MAGIC	   0x62617477756e7061ULL /* "apnuwtab" */
#define RULES_MAX  65536U
#define FOLDER	   "allocprof"
#define ROOT_CACHE "/var/cache"

/* What stands before the rules and the rows. */
struct header {
	uint64_t magic;
	uint32_t version, machine;
	char build_id[64];
	uint64_t sections_hash;
	uint64_t base, size;
	uint32_t rows, rules, entries, damaged, unsupported, zero;
	uint64_t hash; /* of the rules and the rows */
};

static uint64_t content_hash(const struct ap_cfi *cfi)
{
	uint64_t counts[] = {cfi->entries, cfi->damaged, cfi->unsupported};
	uint64_t hash = ap_hash(cfi->base, counts, sizeof(counts));

	hash = ap_hash(hash, cfi->rules, cfi->rule_count * sizeof(*cfi->rules));
	return ap_hash(hash, cfi->rows, cfi->row_count * sizeof(*cfi->rows));
}

static void header_fill(struct header *header, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count, uint64_t base, uint64_t size)
{
	*header = (struct header){
		.magic = MAGIC,
		.version = VERSION,
		.machine = AP_ELF_MACHINE,
		.base = base,
		.size = size,
	};
	for (int i = 0; i < count; i++)
		header->sections_hash = ap_hash(header->sections_hash ^ sections[i].address,
			sections[i].bytes, sections[i].size);
	memcpy(header->build_id, object->build_id,
		strnlen(object->build_id, sizeof(header->build_id)));
}

/* Ours, and nobody else's to write. */
static bool is_private(int fd, mode_t type)
{
	struct stat status;

	return !fstat(fd, &status) && (status.st_mode & S_IFMT) == type &&
	       status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (type == S_IFDIR || status.st_nlink == 1);
}

/* The folder of the cache, or a negative errno. */
static int folder_open(bool make)
{
	const char *place = getenv("XDG_CACHE_HOME");
	int parent, folder, err = 0;

	if (!place || *place != '/') {
		if (geteuid())
			return -ENOENT;
		place = ROOT_CACHE;
	}
	parent = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return -errno;
	if (make && is_private(parent, S_IFDIR))
		mkdirat(parent, FOLDER, 0700);
	folder = openat(parent, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		err = -errno;
	else if (!is_private(parent, S_IFDIR) || !is_private(folder, S_IFDIR))
		err = -EPERM;
	close(parent);
	if (!err)
		return folder;
	if (folder >= 0)
		close(folder);
	return err;
}

/* Whether what the object claims can be believed, and where it would be cached. */
static bool can_cache(const struct ap_object *object)
{
	struct stat status;

	return object->build_id[0] && !fstat(object->fd, &status) &&
	       (status.st_uid == 0 || status.st_uid == geteuid()) &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static int bytes_read(int fd, void *to, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, (char *)to + done, length - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG;
		done += (size_t)got;
	}
	return 0;
}

static int bytes_write(int fd, const void *from, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t put = write(fd, (const char *)from + done, length - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -EIO;
		done += (size_t)put;
	}
	return 0;
}

/* Whatever is in the file, the arrays are safe to use after this. */
static bool is_sound(const struct ap_cfi *cfi, const struct header *header)
{
	if (content_hash(cfi) != header->hash)
		return false;
	for (uint32_t i = 0; i < cfi->row_count; i++) {
		const struct ap_cfi_row *row = &cfi->rows[i];

		if (row->rule >= cfi->rule_count || row->at >= cfi->size ||
			(i ? row->at <= row[-1].at : row->at))
			return false;
	}
	return true;
}

static int file_read(int fd, struct ap_cfi *cfi, const struct header *expected)
{
	struct header header;
	struct stat status;
	int err = bytes_read(fd, &header, sizeof(header));

	if (err)
		return err;
	if (memcmp(&header, expected, offsetof(struct header, rows)))
		return -ESTALE;
	if (fstat(fd, &status))
		return -errno;
	if (header.rules < 2 || header.rules > RULES_MAX || !header.rows ||
		(uint64_t)status.st_size != sizeof(header) + header.rules * sizeof(*cfi->rules) +
						    (uint64_t)header.rows * sizeof(*cfi->rows))
		return -EBADMSG;
	*cfi = (struct ap_cfi){
		.base = header.base,
		.size = header.size,
		.rules = calloc(header.rules, sizeof(*cfi->rules)),
		.rows = calloc(header.rows, sizeof(*cfi->rows)),
		.rule_count = header.rules,
		.row_count = header.rows,
		.entries = header.entries,
		.damaged = header.damaged,
		.unsupported = header.unsupported,
	};
	if (!cfi->rules || !cfi->rows)
		return -ENOMEM;
	err = bytes_read(fd, cfi->rules, header.rules * sizeof(*cfi->rules));
	if (!err)
		err = bytes_read(fd, cfi->rows, header.rows * sizeof(*cfi->rows));
	return err || is_sound(cfi, &header) ? err : -EBADMSG;
}

int ap_table_cache_load(struct ap_cfi *ret, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count, uint64_t base, uint64_t size)
{
	int folder, fd, err = -ENOENT;
	struct header header;

	*ret = (struct ap_cfi){0};
	if (!can_cache(object))
		return -ENOENT;
	folder = folder_open(false);
	if (folder < 0)
		return folder;
	fd = openat(folder, object->build_id, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	if (fd < 0)
		return -errno;
	if (is_private(fd, S_IFREG)) {
		header_fill(&header, object, sections, count, base, size);
		err = file_read(fd, ret, &header);
	}
	close(fd);
	if (err)
		ap_cfi_clear(ret);
	return err;
}

/* In the place of one that has not been used. That another loader was faster is as good. */
static int file_name(int fd, int folder, const char *name)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	unlinkat(folder, name, 0);
	if (linkat(AT_FDCWD, link, folder, name, AT_SYMLINK_FOLLOW) && errno != EEXIST)
		return -errno;
	return 0;
}

int ap_table_cache_store(const struct ap_cfi *cfi, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count)
{
	struct header header;
	int folder, fd, err;

	if (!can_cache(object))
		return -ENOENT;
	folder = folder_open(true);
	if (folder < 0)
		return folder;
	header_fill(&header, object, sections, count, cfi->base, cfi->size);
	header.rows = cfi->row_count;
	header.rules = cfi->rule_count;
	header.entries = cfi->entries;
	header.damaged = cfi->damaged;
	header.unsupported = cfi->unsupported;
	header.hash = content_hash(cfi);
	/* Without a name until it is whole: another loader may read, and a kill leaves nothing. */
	fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : 0;
	if (!err)
		err = bytes_write(fd, &header, sizeof(header));
	if (!err)
		err = bytes_write(fd, cfi->rules, cfi->rule_count * sizeof(*cfi->rules));
	if (!err)
		err = bytes_write(fd, cfi->rows, cfi->row_count * sizeof(*cfi->rows));
	if (!err)
		err = file_name(fd, folder, object->build_id);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	close(folder);
	return err;
}
