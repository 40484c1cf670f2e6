/* One call of autofit on a command: what was read before anything starts. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_REQUEST_H
#define AUTOFIT_LAUNCHER_REQUEST_REQUEST_H

#include "base/batch.h"
#include "base/error.h"
#include "base/strlist.h"
#include "configs/files/paths.h"
#include "configs/launchers/launcher.h"
#include "configs/presets/preset.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/parts/command.h"
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/seen_meaning.h"
#include "launcher/options/options.h"
#include "launcher/request/surroundings.h"
#include "launcher/request/visible_gpus.h"
#include "probes/process/process_state.h"

#include <stdbool.h>
#include <stdint.h>

struct request {
	const struct options *options;
	const struct process_state *state;
	struct strlist environment; /* as autofit came in */
	struct visible_gpus *gpus;  /* that environment lets be seen */
	struct paths paths;
	struct presets presets;
	struct launchers launchers;
	/* What the command was read by, kept to read it back. */
	struct command_hints hints;
	struct named_files texts;
	struct command_sources sources; /* of the above: a job is not moved */
	struct command command;
	/* What probes of an earlier tuning, or of this one, saw of its sizes:
	 * part of sources. */
	struct seen_meaning seen;
	bool is_seen; /* there is anything in it */
	struct rank_place
		place; /* autofit itself may be one of several ranks */
	/* The command's own, with the effective batch that is asked for. */
	struct batch asked;
	/* As the option says; unless given, far above a batch of tokens. */
	int64_t max_micro;
	char *script; /* path of the source that was read; NULL: none */
	uint64_t script_hash;
	char *identity, *subject; /* see configs/records/record.h */
	/* The identity by its words alone, under which is kept what was seen;
	 * NULL: it is not recognised by them. */
	char *worded;
};

/*
 * The command is not what its words say: what was seen is kept for its next
 * start, and the request is made anew with it. seen may be the request's own.
 */
enum command_outcome request_prepare_again(struct request *request,
					   const struct seen_meaning *seen,
					   struct error *err);

/*
 * Reads presets and script, recognises the command, makes the identity. What
 * can go wrong is an outcome with its message in err. The caller releases
 * the job whatever the outcome.
 */
enum command_outcome request_prepare(struct request *request,
				     const struct options *options,
				     const struct process_state *state,
				     struct error *err);
void request_release(struct request *request);

/*
 * command_rewrite of the job's command, or of one that differs in what a probe
 * adds only, and command_read_back of the result: no other is ever started.
 */
int request_rewrite(const struct request *request,
		    const struct command *command,
		    const struct command_values *values,
		    struct rewrite *rewrite, struct error *err);

#endif
