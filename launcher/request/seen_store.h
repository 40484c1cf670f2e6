/* What probes saw of a command's sizes, kept for its next start. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_SEEN_STORE_H
#define AUTOFIT_LAUNCHER_REQUEST_SEEN_STORE_H

#include "base/error.h"
#include "configs/files/paths.h"
#include "launcher/command/text/seen_meaning.h"

#include <stdbool.h>

/*
 * One file per identity, which is that of the command read by its words alone:
 * JSON, with the identity in full. Read: false, with nothing seen, when there
 * is none that is sound, the user's own, and of this identity.
 */
bool seen_store_read(struct seen_meaning *seen, const struct paths *paths,
		     const char *identity);
void seen_store_forget(const struct paths *paths, const char *identity);
int seen_store_write(const struct seen_meaning *seen, const struct paths *paths,
		     const char *identity, struct error *err);

#endif
