/* What @hydra.main() of a script says, and the options that say it anew. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_HYDRA_MAIN_H
#define AUTOFIT_LAUNCHER_COMMAND_HYDRA_MAIN_H

#include "launcher/command/parts/recognition.h"

#include <stdbool.h>

struct hydra_main {
	char *name;         /* config_name, of the primary config; NULL */
	char *path;         /* config_path, made of __file__ too; NULL: None, or
			     * not known */
	bool path_is_other; /* it is not plain */
	char *folder; /* where it lies, with a slash at its end, or ""; NULL */
	/* What a file holds itself stands last where its list does not say: so
	 * it is since 1.2, and only that takes version_base. */
	bool self_is_last;
};

/* False: it is not plain. The caller releases it whatever the result. */
bool hydra_main_read(struct hydra_main *main, const struct recognition *r);
void hydra_main_release(struct hydra_main *main);

#endif
