/* User names and passwords in URLs. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SECRETS_SECRETS_URL_H
#define AUTOFIT_CONFIGS_SECRETS_SECRETS_URL_H

#include <stddef.h>

/* A stretch of a text. */
struct secrets_span {
	size_t start, end;
};

/*
 * The next user info of a URL at or after a place, without its @: 1, or 0 when
 * there is none. RFC 3986; an unescaped / ? or # in a password is let pass.
 */
int secrets_user_info(const char *text, size_t from, struct secrets_span *info);

#endif
