/* One line per finished probe, so that a killed tuning can go on. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_JOURNAL_H
#define AUTOFIT_CONFIGS_RECORDS_JOURNAL_H

#include "base/error.h"
#include "configs/records/record.h"

#include <stdbool.h>

struct journal {
	int fd; /* -1: closed */
	char *path;
	bool is_empty; /* no probe is in it: to close it removes it */
};

/* Nobody resumes one that was not written for so long: it is removed when
 * another is opened in its folder. */
#define JOURNAL_DAYS 30

/*
 * Opens folder/<hash of identity>.jsonl. When it is there with the same
 * identity its probes are put into resumed, a torn last line is passed over
 * and cut off; with another identity, or unreadable, it starts afresh.
 * Those that are too old to be resumed are removed before.
 * The file is 0600; its descriptor is close-on-exec.
 */
int journal_open(struct journal *journal, const char *folder,
		 const char *identity, struct probe_notes *resumed,
		 struct error *err);

/* Append one probe and fsync. */
int journal_add(struct journal *journal, const struct probe_note *note,
		struct error *err);

/* The tuning is done and recorded: remove the file. */
void journal_finish(struct journal *journal);
/* It stays for the next start, unless there is nothing in it. */
void journal_close(struct journal *journal);

/* Remove the journal of this identity: 1, 0 when there is none, -errno. */
int journal_forget(const char *folder, const char *identity, struct error *err);

#endif
