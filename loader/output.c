// SPDX-License-Identifier: MIT
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of a path; the caller frees it. NULL: out of memory. */
static char *folder_of(const char *path)
{
	char *copy = strdup(path);
	char *folder = copy ? strdup(dirname(copy)) : NULL;

	free(copy);
	return folder;
}

static int is_special(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISREG(status.st_mode);
}

int ap_output_check(const char *path)
{
	struct stat status;
	char *folder;
	int err = 0;

	if (!strcmp(path, "-"))
		return 0;
	if (!stat(path, &status)) {
		if (S_ISDIR(status.st_mode))
			return -EISDIR;
		if (!S_ISREG(status.st_mode))
			return access(path, W_OK) ? -errno : 0;
	}
	if (!*path || path[strlen(path) - 1] == '/')
		return -EISDIR;
	folder = folder_of(path);
	if (!folder)
		return -ENOMEM;
	if (access(folder, W_OK | X_OK))
		err = -errno;
	free(folder);
	return err;
}

static int stream_write(int fd, const struct ap_format *format, const struct ap_profile *profile,
	const struct ap_format_options *options)
{
	FILE *out = fdopen(fd, "we");
	int err;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	err = format->write(out, profile, options);
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

/*
 * Opens a file without a name (O_TMPFILE), so that a kill leaves nothing behind, and sets *name to
 * NULL. Where the file system cannot do that, opens one with a temporary name and sets *name to it.
 */
static int aside_open(const char *path, char **name)
{
	char *folder = folder_of(path);
	mode_t mask;
	int fd;

	*name = NULL;
	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	free(folder);
	if (fd >= 0)
		return fd;
	if (asprintf(name, "%s.XXXXXX", path) < 0) {
		*name = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(*name, O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		free(*name);
		*name = NULL;
		return err;
	}
	mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask)) {
		/* Then it stays private to this user, which is no reason to fail. */
	}
	return fd;
}

/*
 * Gives the nameless file its path, if that is free, and leaves *name NULL. Otherwise gives it a
 * temporary name beside it, in *name, to be renamed: linkat() replaces nothing.
 */
static int aside_name(int fd, const char *path, char **name)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	*name = NULL;
	if (!linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
		return 0;
	if (errno != EEXIST)
		return -errno;
	for (int try = 0; try < 100; try++) {
		if (asprintf(name, "%s.%d-%d", path, getpid(), try) < 0) {
			*name = NULL;
			return -ENOMEM;
		}
		if (!linkat(AT_FDCWD, link, AT_FDCWD, *name, AT_SYMLINK_FOLLOW))
			return 0;
		free(*name);
		*name = NULL;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int ap_output_write(const char *path, const struct ap_format *format,
	const struct ap_profile *profile, const struct ap_format_options *options)
{
	char *name = NULL;
	int fd, keep = -1, err;

	if (!strcmp(path, "-")) {
		fd = dup(STDOUT_FILENO);
		return fd < 0 ? -errno : stream_write(fd, format, profile, options);
	}
	if (is_special(path)) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : stream_write(fd, format, profile, options);
	}
	fd = aside_open(path, &name);
	if (fd < 0)
		return fd;
	keep = dup(fd);
	err = keep < 0 ? -errno : 0;
	if (err) {
		close(fd);
		goto out;
	}
	err = stream_write(fd, format, profile, options);
	if (!err && !name)
		err = aside_name(keep, path, &name);
	if (!err && name && rename(name, path))
		err = -errno;
out:
	if (keep >= 0)
		close(keep);
	if (err && name)
		unlink(name);
	free(name);
	return err;
}
