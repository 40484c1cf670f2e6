/* `autofit forget`: a record, and all that belongs to it. */
/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "launcher/records/records.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "configs/records/journal.h"
#include "configs/records/starts.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/records_choose.h"
#include "launcher/report/report_answer.h"
#include "launcher/request/config_copies.h"
#include "probes/locks/lease.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 100

/* What one call does: lines for stdout, and whether all went well. */
struct forgetting {
	struct chosen *chosen;
	struct strbuf out;
	size_t removed;
	bool is_tuned; /* at this moment, by another process */
	int code;
};

static void failed(struct forgetting *forgetting, const char *message)
{
	log_error("%s", message);
	forgetting->code = EXIT_AUTOFIT_FAILED;
}

/* The config files that its command reads. */
static void remove_copies(const char *path)
{
	struct record record = RECORD_INIT;

	if (record_read(&record, path, NULL) == 0)
		config_copies_remove(&record.copies);
	record_release(&record);
}

static void remove_record(struct forgetting *forgetting, const char *path,
			  const char *record_id)
{
	struct error err = ERROR_INIT;

	remove_copies(path);
	if (unlink(path) < 0) {
		(void)error_set_errno(&err, -errno, "cannot remove %s", path);
		failed(forgetting, err.message);
		return;
	}
	strbuf_addf(&forgetting->out, "removed record %s\n", record_id);
	forgetting->removed++;
	start_forget(forgetting->chosen->paths.starts, record_id);
}

static void remove_journal(struct forgetting *forgetting, const char *identity)
{
	const char *folder = forgetting->chosen->paths.journals;
	struct error err = ERROR_INIT;
	int result = journal_forget(folder, identity, &err);

	if (result < 0)
		failed(forgetting, err.message);
	if (result <= 0)
		return;
	strbuf_adds(&forgetting->out,
		    "removed the journal of an unfinished tuning of it\n");
	forgetting->removed++;
}

/*
 * Takes it from a dead holder. Whose process cannot be asked for is dead when
 * it beats no more: that takes some seconds, and a beat ends the wait.
 */
static int take_stale(struct lease *lease, const char *folder, const char *name,
		      struct lease_note *holder)
{
	int64_t start_ms = clock_ms();
	struct lease_note first;
	int result;

	result = lease_take(lease, folder, name, start_ms, &first, NULL);
	*holder = first;
	while (result == -EWOULDBLOCK && holder->beat == first.beat &&
	       strcmp(holder->token, first.token) == 0 &&
	       clock_ms() - start_ms < LEASE_STALE_MS + LOOK_MS) {
		(void)poll(NULL, 0, LOOK_MS);
		result = lease_take(lease, folder, name, clock_ms(), holder,
				    NULL);
	}
	return result;
}

/* 1: it was stale and is gone; 0: there is none; -EBUSY: it is held. */
static int remove_lease(struct forgetting *forgetting, const char *identity,
			struct lease_note *holder)
{
	const char *folder = forgetting->chosen->paths.leases;
	struct lease lease = { .path = NULL };
	struct strbuf path = STRBUF_INIT;
	char name[17];
	int result;

	(void)snprintf(name, sizeof(name), "%016" PRIx64,
		       hash_bytes(identity, strlen(identity)));
	strbuf_addf(&path, "%s/%s.lease", folder, name);
	result = access(strbuf_text(&path), F_OK) < 0 ? 0 : 1;
	strbuf_release(&path);
	if (result == 0)
		return 0;
	result = take_stale(&lease, folder, name, holder);
	if (result < 0)
		return result == -EWOULDBLOCK ? -EBUSY : 0;
	lease_release(&lease);
	return 1;
}

/* What a tuning of this identity left; one under way still needs it. */
static void remove_tuning(struct forgetting *forgetting, const char *identity)
{
	struct lease_note holder = { .pid = 0 };
	int result = remove_lease(forgetting, identity, &holder);

	if (result == -EBUSY) {
		log_warning("process %d on %s is tuning this command: its "
			    "journal and lease stay",
			    (int)holder.pid, holder.host);
		forgetting->is_tuned = true;
		return;
	}
	remove_journal(forgetting, identity);
	if (result > 0) {
		strbuf_adds(&forgetting->out,
			    "removed the lease of a tuning that was killed\n");
		forgetting->removed++;
	}
}

static void forget_named(struct forgetting *forgetting)
{
	struct chosen *chosen = forgetting->chosen;

	if (chosen->place != RECORD_OWN)
		return;
	remove_record(forgetting, chosen->path, chosen->name);
	if (chosen->record.id)
		remove_tuning(forgetting, chosen->record.identity);
	else
		log_warning("%s could not be used (%s), so what else belongs "
			    "to it is not known",
			    chosen->name, chosen->problem.message);
}

/* All of its files: a copy under another name would answer in its place. */
static void forget_command(struct forgetting *forgetting)
{
	const char *identity = forgetting->chosen->request.identity;
	struct strlist paths = STRLIST_INIT;

	chosen_files(&paths, forgetting->chosen, RECORD_OWN, identity);
	for (size_t i = 0; i < paths.count; i++) {
		char *name = chosen_name(paths.items[i]);

		remove_record(forgetting, paths.items[i], name);
		free(name);
	}
	remove_tuning(forgetting, identity);
	if (!paths.count && forgetting->removed)
		strbuf_adds(&forgetting->out,
			    "there was no record of this command\n");
	strlist_release(&paths);
}

/* The site's record of the same, which is never touched; the caller frees. */
static char *name_at_site(const struct chosen *chosen)
{
	const char *identity = chosen->has_job ? chosen->request.identity
					       : chosen->record.identity;
	struct strlist paths = STRLIST_INIT;
	char *name = NULL;

	if (!chosen->has_job && chosen->place == RECORD_SITE)
		return xstrdup(chosen->name);
	if (identity)
		chosen_files(&paths, chosen, RECORD_SITE, identity);
	if (paths.count)
		name = chosen_name(paths.items[0]);
	strlist_release(&paths);
	return name;
}

static void records_forget_forget(struct forgetting *forgetting)
{
	char *at_site = name_at_site(forgetting->chosen);

	if (forgetting->chosen->has_job)
		forget_command(forgetting);
	else
		forget_named(forgetting);
	if (at_site && forgetting->removed) {
		strbuf_addf(&forgetting->out,
			    "%s of the site, which is only read, stays\n",
			    at_site);
	} else if (at_site) {
		log_error("%s is a record of the site, which is only read: it "
			  "stays; to tune anew: autofit --fresh -- command...",
			  at_site);
		forgetting->code = EXIT_AUTOFIT_FAILED;
	} else if (!forgetting->removed && forgetting->is_tuned) {
		forgetting->code = EXIT_AUTOFIT_FAILED;
	} else if (!forgetting->removed && forgetting->code == EXIT_DONE) {
		failed(forgetting, "nothing is recorded of this command here");
	}
	free(at_site);
}

int records_forget_command(const struct options *options,
			   const struct process_state *state)
{
	struct chosen chosen;
	struct forgetting forgetting = { .chosen = &chosen };

	forgetting.code = chosen_find(&chosen, options, state);
	if (forgetting.code == EXIT_DONE)
		records_forget_forget(&forgetting);
	if (!options->output.quiet)
		forgetting.code =
			report_print(&forgetting.out, forgetting.code);
	strbuf_release(&forgetting.out);
	chosen_release(&chosen);
	return forgetting.code;
}
