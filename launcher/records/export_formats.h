/* A record as text for other programs: each works from the record alone. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_EXPORT_FORMATS_H
#define AUTOFIT_LAUNCHER_RECORDS_EXPORT_FORMATS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "launcher/report/result.h"

/*
 * Appends the record of the result to out. 0, or -errno when the record cannot
 * be told in this format; err says why and what to do.
 */
typedef int export_text(const struct result *result, struct strbuf *out,
			struct error *err);

/* Sizes under the names of one framework. */
export_text export_hf, export_deepspeed, export_accelerate, export_torchtune,
	export_axolotl;
/* Words and variables for shells. */
export_text export_cmd, export_env, export_dotenv, export_hydra;
/* The user's own config file with the sizes in it, comments kept. */
export_text export_config, export_yaml;
/* One row with its header. */
export_text export_markdown, export_csv;

/* "env -u A 'B=c d' python train.py ...", for any POSIX shell. */
void export_add_line(struct strbuf *out, const struct strlist *environment,
		     const struct strlist *argv);

/* "--batch-size 32 --grad-accum 4" of the settings that are arguments. */
int export_add_options(struct strbuf *out,
		       const struct record_settings *settings,
		       struct error *err);

#endif
