/* The folder in which a phantom card lives while autofit runs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_FOLDER_H
#define AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_FOLDER_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/options/options.h"

/*
 * Makes it, below --scratch or the cache folder, notes it in the options, and
 * makes the card of the options the only GPU there is for this process and its
 * children (probes/phantom/phantom.h). What killed starts left is removed.
 */
int phantom_folder_open(struct options *options,
			const struct strlist *environment, struct error *err);
void phantom_folder_close(const struct options *options);

#endif
