/* Which record a sub-command speaks of: by its name, or by its command. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_RECORDS_CHOOSE_H
#define AUTOFIT_LAUNCHER_RECORDS_RECORDS_CHOOSE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "configs/files/paths.h"
#include "configs/records/record.h"
#include "launcher/options/options.h"
#include "launcher/request/request.h"
#include "probes/process/process_state.h"

#include <stdbool.h>

/* Folders of records, and the one record that was asked for. */
struct chosen {
	struct paths paths;
	char *site_records;     /* NULL: there is no site */
	struct request request; /* of a command; all zero without one */
	bool has_job;
	/* The file; NULL: no record belongs to the command. */
	char *path;
	char *name; /* of the file, without .ini */
	enum record_place place;
	/* id is NULL: it may not be used, and problem says why. */
	struct record record;
	struct error problem;
};

/*
 * Fills the folders, then looks for what options ask for, the user's own
 * folder before the site's: the file of record_name, or the record whose
 * identity is that of command. 0, or an exit code after a line on stderr. A
 * command without a record is no failure. The caller releases it always.
 */
int chosen_find(struct chosen *chosen, const struct options *options,
		const struct process_state *state);

/* The folders only. */
int chosen_open(struct chosen *chosen);

/* In open folders: is there a record of this name? It is the one chosen then.
 */
bool chosen_take_name(struct chosen *chosen, const char *name);

/*
 * As chosen_find, and there must be a record that may be used: its id is the
 * file's name then.
 */
int chosen_need(struct chosen *chosen, const struct options *options,
		const struct process_state *state);
void chosen_release(struct chosen *chosen);

/* Append the paths of all records of this identity, to be used or not. */
void chosen_files(struct strlist *paths, const struct chosen *chosen,
		  enum record_place place, const char *identity);

/*
 * The newest record of this identity in folder that may be used; path is its
 * file's, for the caller to free. 1 when there is one, else 0.
 */
int chosen_by_identity(struct record *record, char **path,
		       const struct chosen *chosen, enum record_place place,
		       const char *identity);

/* record_read of a file that may be used; id becomes the file's name. */
int chosen_read(struct record *record, const char *path,
		const struct chosen *chosen, enum record_place place,
		struct error *err);

/* "train-host-1a2b" of ".../train-host-1a2b.ini"; the caller frees. */
char *chosen_name(const char *path);

/* "micro 32 x accum 4" */
void chosen_add_split(struct strbuf *out, int64_t micro_batch,
		      int64_t grad_accum);

#endif
