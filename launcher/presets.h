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

/* A line for each: name, description, where it comes from. */
void presets_list(struct strbuf *out, const struct presets *presets);
/* autofit.presets/1; only: one of them, NULL: all. */
void presets_json(struct strbuf *out, const struct presets *presets,
		  const struct preset *only);
/* Those whose names are near that of none, and where all are listed. */
void presets_unknown(const struct presets *presets, const char *name,
		     struct error *err);

#endif
