/* What a night found out of one job: a row of the summary. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_ROW_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_ROW_H

#include "base/batch.h"
#include "base/error.h"
#include "base/strlist.h"
#include "configs/records/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define NIGHT_SCHEMA "autofit.nightly/1"
/* 10,000 jobs with an identity each. */
#define NIGHT_FILE_MAX ((size_t)64 << 20)

enum night_state {
	NIGHT_OK,      /* there is a recommended setting */
	NIGHT_FAILING, /* there is none */
	NIGHT_NOT_RUN, /* not reached, or stopped on the way */
};

enum night_change {
	CHANGE_NONE, /* not compared */
	CHANGE_SAME,
	CHANGE_BETTER,
	CHANGE_WORSE,
	CHANGE_NEW,
	CHANGE_FAILING,
	CHANGE_GONE, /* of the last night only */
};

/* Texts are NULL where they are not known, numbers 0. */
struct night_row {
	char *name;
	char *definition; /* hash of the job as the list says it */
	bool is_required;
	enum night_state state;
	char *outcome; /* of the result: "tuned", ... */
	char *message; /* why, where it is not ok */
	char *command, *device, *record, *identity;
	struct strlist versions; /* "torch 2.9.0" */
	struct batch batch;
	int64_t peak_bytes, limit_bytes, probes;
	double speed, spread; /* samples per second, and its error */
	double factor;        /* against the command's own sizes */
	double seconds;
	enum night_change change; /* against the last night */
	char *cause;              /* of the change */
};

struct night {
	struct night_row *rows;
	size_t count, capacity;
	int64_t started, finished; /* seconds since 1970; finished 0: not yet */
	char *host;
};

const char *night_state_name(enum night_state state);
const char *night_change_name(enum night_change change);

/* An empty row; the night owns it, until the next one is added. */
struct night_row *night_add(struct night *night);
struct night_row *night_find(const struct night *night, const char *name);
void night_release(struct night *night);
void night_row_release(struct night_row *row);
void night_row_copy(struct night_row *to, const struct night_row *from);

/* Of the object that `autofit tune --json` wrote, and its record if any. */
void night_row_take_result(struct night_row *row, json_t *result);
void night_row_take_record(struct night_row *row, const struct record *record);

/* The summary as JSON, and back; a reader tolerates what it does not know. */
json_t *night_json(const struct night *night);
/* -ENOENT when there is no such file. */
int night_read(struct night *night, const char *path, struct error *err);

#endif
