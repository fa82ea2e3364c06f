// SPDX-License-Identifier: MIT
#include "cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_limit.h"
#include "error.h"
#include "mapping.h"
#include "table.h"

#define FOLDER	   "allocprof"
#define ROOT_CACHE "/var/cache"

/* What stands before the content. */
struct header {
	struct ap_cache_kind kind;
	uint64_t size, hash; /* of the content */
};

/* Whether it is of the right type, owned by this user, and writable for nobody else. */
static bool is_private(int fd, mode_t type, struct stat *status)
{
	return !fstat(fd, status) && (status->st_mode & S_IFMT) == type &&
	       status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH)) &&
	       (type == S_IFDIR || status->st_nlink == 1);
}

/*
 * The place of the folder. The home is that of the user database: after rights were given up, $HOME
 * may still be root's, as sudo has left it.
 */
static int place_find(char path[PATH_MAX])
{
	const char *place = getenv("XDG_CACHE_HOME");
	const struct passwd *user;
	int length;

	if (place && *place == '/') {
		length = snprintf(path, PATH_MAX, "%s", place);
	} else if (!geteuid()) {
		length = snprintf(path, PATH_MAX, ROOT_CACHE);
	} else {
		user = getpwuid(geteuid());
		if (!user || *user->pw_dir != '/')
			return -ENOENT;
		length = snprintf(path, PATH_MAX, "%s/.cache", user->pw_dir);
	}
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The folder of the cache, or a negative errno. */
static int folder_open(bool make)
{
	struct stat status;
	char place[PATH_MAX];
	int parent, folder, err = place_find(place);

	if (err)
		return err;
	parent = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return ap_errno();
	if (make && is_private(parent, S_IFDIR, &status))
		mkdirat(parent, FOLDER, 0700);
	folder = openat(parent, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		err = ap_errno();
	else if (!is_private(parent, S_IFDIR, &status) || !is_private(folder, S_IFDIR, &status))
		err = -EPERM;
	close(parent);
	if (!err)
		return folder;
	if (folder >= 0)
		close(folder);
	return err;
}

bool ap_cache_trusts(const struct ap_object *object)
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
			return got ? ap_errno() : -EBADMSG;
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
			return put ? ap_errno() : -EIO;
		done += (size_t)put;
	}
	return 0;
}

static int content_read(int fd, const struct ap_cache_kind *kind, const struct stat *status,
	size_t max, void **ret, size_t *size)
{
	struct header header;
	void *content;
	int err = bytes_read(fd, &header, sizeof(header));

	if (err)
		return err;
	if (memcmp(&header.kind, kind, sizeof(*kind)))
		return -ESTALE;
	if (header.size > max || (uint64_t)status->st_size - sizeof(header) != header.size)
		return -EBADMSG;
	content = malloc(header.size + 1);
	if (!content)
		return -ENOMEM;
	err = bytes_read(fd, content, header.size);
	if (!err && ap_hash(kind->magic, content, header.size) != header.hash)
		err = -EBADMSG;
	if (err) {
		free(content);
		return err;
	}
	*ret = content;
	*size = header.size;
	return 0;
}

int ap_cache_load(
	const char *name, const struct ap_cache_kind *kind, size_t max, void **ret, size_t *size)
{
	struct stat status;
	int folder = folder_open(false), fd, err = -EPERM;

	if (folder < 0)
		return folder;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		err = ap_errno();
	close(folder);
	if (fd < 0)
		return err;
	if (is_private(fd, S_IFREG, &status)) {
		err = content_read(fd, kind, &status, max, ret, size);
		if (!err)
			ap_cache_limit_touch(fd, &status);
	}
	close(fd);
	return err;
}

/*
 * Gives the file its name, in the place of an unusable one. If another loader was faster, its file
 * serves as well.
 */
static int file_name(int fd, int folder, const char *name)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	unlinkat(folder, name, 0);
	if (linkat(AT_FDCWD, link, folder, name, AT_SYMLINK_FOLLOW) && errno != EEXIST)
		return ap_errno();
	return 0;
}

int ap_cache_store(
	const char *name, const struct ap_cache_kind *kind, const void *content, size_t size)
{
	struct header header = {
		.kind = *kind,
		.size = size,
		.hash = ap_hash(kind->magic, content, size),
	};
	int folder = folder_open(true), fd, err;

	if (folder < 0)
		return folder;
	fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	err = fd < 0 ? ap_errno() : 0;
	if (!err)
		err = bytes_write(fd, &header, sizeof(header));
	if (!err)
		err = bytes_write(fd, content, size);
	if (!err)
		err = file_name(fd, folder, name);
	if (fd >= 0 && close(fd) && !err)
		err = ap_errno();
	ap_cache_limit_keep(folder, AP_CACHE_BYTES_MAX);
	close(folder);
	return err;
}
