/* SPDX-License-Identifier: MIT */
/*
 * The header of a profile (struct ap_profile_info) as the comments of a pprof file:
 * lines of "key: value".
 */
#ifndef ALLOCPROF_COMMENT_H
#define ALLOCPROF_COMMENT_H

#include "profile.h"

/*
 * The comments, an array that ends in NULL, to be freed with the function below; what is unknown is
 * left out. NULL: out of memory.
 */
char **ap_comments_new(const struct ap_profile_info *info);
void ap_comments_free(char **comments); /* NULL is fine */

/* Takes a comment back into the header, if it is one of ours. 0 or -ENOMEM. */
int ap_comment_read(struct ap_profile_info *info, const char *comment);

#endif
