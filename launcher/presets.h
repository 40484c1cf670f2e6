/* `autofit presets`: the frameworks whose options are known. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PRESETS_H
#define AUTOFIT_LAUNCHER_PRESETS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "configs/presets/preset.h"
#include "launcher/options/options.h"

/*
 * All presets, or the text of options->preset_name, to stdout; with --json an
 * object too. The exit code, after a line on stderr if it is not 0.
 */
int presets_command(const struct options *options,
		    const struct strlist *environment);

#endif
