/* How a call of autofit ended: what the JSON, report and exit code say. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_RESULT_H
#define AUTOFIT_LAUNCHER_REPORT_RESULT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "configs/records/record.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/seen_meaning.h"

#include <stdbool.h>
#include <stdint.h>

enum outcome {
	OUTCOME_TUNED,
	OUTCOME_REUSED,
	OUTCOME_AS_GIVEN, /* the command starts exactly as typed */
	OUTCOME_PLANNED,  /* explain */
	OUTCOME_NOTHING_FITS,
	OUTCOME_COMMAND_FAILED,
	OUTCOME_NOT_RECOGNISED,
	OUTCOME_REFUSED,
	OUTCOME_TIME_LIMIT,
	OUTCOME_INTERRUPTED,
	OUTCOME_DISTURBED,
	OUTCOME_ERROR,
};

struct result {
	enum outcome outcome;
	int exit_code; /* enum exitcode, or a shell's 128+n when interrupted */
	char *message; /* one line why, for every outcome but the good ones */
	/* The command failed, and nothing of its probe speaks of memory. */
	bool is_not_memory;
	/*
	 * Command, device, splits, evidence, probes: what would be recorded.
	 * With micro_batch 0 there is no recommendation.
	 */
	struct record record;
	char *record_path;        /* NULL: not written */
	const char *record_grade; /* "exact", "near", "hint"; NULL: none */
	char *difference;         /* how the command differs; NULL: not */
	char *resumes;            /* why the first split is kept; NULL */
	size_t probes_run;        /* in this call; probes may hold older ones */
	struct rewrite run;       /* the recommended command */
	char *assumption;         /* command_rows_are_open() */
	bool rows_are_open;       /* of struct command */
	char *flags_text;         /* exact text to paste; NULL */
	struct strlist lines;     /* of scripts, to be written there */
	char *budget_source;      /* "--memory", "MemAvailable", ... */
	char *estimate;           /* of the first size, in words; NULL */
	int64_t first_micro;      /* what a search begins with */
	/* What a phantom of the GPU said before, and what that took; micro 0:
	 * none was asked, or it said nothing. */
	int64_t phantom_micro, phantom_probes;
	double phantom_seconds;
	char *advice; /* what would save memory, in lines; NULL: not known */
	char *plan;   /* JSON object of explain; NULL: another sub-command */
	double seconds;
	/* What starts now: "recommended", "as_given"; NULL: nothing. */
	const char *starts;
	int signal_number; /* of the signal that ended the tuning; 0 */
	/* What the command itself says; 0: not known. */
	struct batch own;
	/* A probe has changed what the run would find: nothing starts. */
	bool has_written;
	bool fresh; /* --fresh: what was found before is not looked at */
	bool grow;  /* --grow: the effective batch may become larger */
	/* keep: the micro-batch predicted to fit beyond the split; 0: none */
	int64_t predicted_micro_batch;
	/* keep: an effective batch that splits better; 0: none */
	int64_t nearest_effective_batch;
	/* Probes saw that the command means other sizes than it was read with:
	 * it is to be read again. The message says what was seen. */
	bool is_misread;
	struct seen_meaning seen;
	/* Of the readings before this one: the last probe that ran the command
	 * as it was given, if one did, and what all of them took. */
	struct {
		struct probe_notes as_given;
		size_t probes_run;
		double seconds;
	} earlier;
	bool has_accumulation; /* by its own option, or beside a global batch */
};

#define RESULT_INIT                                                            \
	{                                                                      \
		0                                                              \
	}

void result_release(struct result *result);
const char *outcome_name(enum outcome outcome);

/*
 * The object of `--json`, schema autofit.result/1, with a newline. Every key
 * is there; what is not known is null. Bytes that are not UTF-8 become
 * U+FFFD, and argv_escaped (percent-escaped) then holds the exact arguments.
 */
void result_json(const struct result *result, struct strbuf *out);

#endif
