/* The command line of autofit: one argp table, one struct. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/units.h"
#include "configs/models/gpus.h"
#include "launcher/options/estimate_request.h"
#include "probes/isolation/isolation.h"

#include <stdbool.h>
#include <stdint.h>

enum subcommand {
	SUBCOMMAND_LAUNCH, /* no word: tune if needed, then become it */
	SUBCOMMAND_TUNE,
	SUBCOMMAND_EXPLAIN, /* also --dry-run */
	SUBCOMMAND_DEVICES,
	SUBCOMMAND_SHOW,
	SUBCOMMAND_LOWER,  /* a recorded split ran out of memory later */
	SUBCOMMAND_FORGET, /* remove records and what belongs to them */
	SUBCOMMAND_EXPORT, /* FORMAT, then NAME or -- command */
	SUBCOMMAND_IMPORT, /* FILE */
	SUBCOMMAND_PRESETS,
	SUBCOMMAND_ESTIMATE, /* no probe, no GPU */
	SUBCOMMAND_NIGHTLY,  /* JOBS: tune a list of commands */
	SUBCOMMAND_DIFF,     /* OLD NEW: two records or summaries */
	SUBCOMMAND_PHANTOM,  /* CARD: a command on a card that is not there */
	SUBCOMMAND_DOCTOR,   /* is all there that autofit needs */
	SUBCOMMAND_REPORT,   /* a record or a night, as curves or a page */
};

enum device_choice { DEVICE_AUTO, DEVICE_CUDA, DEVICE_HOST, DEVICE_PHANTOM };
enum effective_choice { EFFECTIVE_KEEP, EFFECTIVE_GROW, EFFECTIVE_NUMBER };
enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* The memory that is tuned for. */
struct options_target {
	enum device_choice device;
	int cuda_index;        /* cuda:N; -1: all visible */
	uint64_t memory_bytes; /* 0: not given */
	char *as;              /* --as NAME; NULL */
	/* What that means; see options_find_model. usable_bytes 0: none. */
	struct gpu_model model;
	bool has_headroom;
	struct amount headroom;
	/* phantom:NAME[xN]: the words behind the colon; NULL. */
	char *phantom;
	struct gpu_model card; /* what they mean; see options_find_model */
	int card_count;
	char *phantom_folder; /* see probes/phantom/phantom.h; NULL */
	uint64_t limit_bytes; /* autofit phantom --limit; 0: none */
};

struct options_batch {
	enum effective_choice choice;
	int64_t effective_batch; /* EFFECTIVE_NUMBER */
	int64_t max_micro;       /* 65536 */
	bool has_max_micro;
	int64_t micro_multiple_of; /* 1 */
};

/* How a command is to be read. */
struct options_hints {
	char *micro_flag, *accum_flag, *global_flag, *micro_scope, *accum_scope,
		*global_scope, *preset;
	struct strlist env_templates; /* --env NAME={micro} */
	struct strlist templates;     /* --template FILE */
};

struct options_search {
	double tolerance;      /* 0.02; an option gives percent */
	char *strategy;        /* guided */
	int64_t max_probes;    /* 12 */
	int64_t probe_steps;   /* 3 */
	int64_t confirm_steps; /* 20 */
	bool has_confirm_steps;
	bool largest; /* the largest micro-batch too, beside the best split */
	bool fastest; /* --objective fastest */
	/* Whether a tuning starts on a phantom of its GPU; neither: where that
	 * was seen to pay. */
	bool phantom_start, no_phantom;
};

struct options_probe {
	struct strlist args, env;      /* --probe-arg, --probe-env */
	bool shared;                   /* --shared */
	enum isolation_kind isolation; /* the strongest to use: view */
	struct strlist allow_writes;   /* --allow-writes PATH */
	char *scratch;                 /* --scratch DIR; NULL */
	bool no_zygote;                /* each probe is a start of its own */
	bool parallel; /* several at a time, on idle GPUs of the node */
};

struct options_times {
	int64_t time_limit_ms;      /* 0: none */
	int64_t startup_timeout_ms; /* 600000 */
	int64_t probe_timeout_ms;   /* 0: 3x the first good probe + 60 s */
	int64_t grace_ms;           /* 5000, between TERM and KILL */
	int64_t watch_ms; /* devices --watch: between looks; 0: one look */
};

/* Where the answer may come from, and what starts without one. */
struct options_reuse {
	bool fresh, no_probe, no_wait, trust_record;
	char *from;         /* --from FILE; NULL */
	bool otherwise_run; /* --otherwise run */
	bool edit_copy;     /* an edited copy of a script may be what runs */
	bool guard;         /* the real run is watched, and started smaller */
};

struct options_output {
	char *json; /* file, "-"; NULL */
	bool quiet, verbose;
	enum color_choice color;
};

/* autofit devices */
struct options_devices {
	bool check; /* a self-test instead of the table */
};

/* autofit nightly */
struct options_nightly {
	bool init;       /* write a list to begin with */
	bool is_dry_run; /* check the list, start nothing */
	char *only;      /* one job's name; NULL: all */
	char *until;     /* HH:MM: start no job after it; NULL */
	char *metrics;   /* file for Prometheus; NULL: none */
};

/* autofit report */
struct options_report {
	char *html;    /* file for the page, "-"; NULL: as text */
	char *nightly; /* folder of results; NULL: a record */
};

/* Every option with its default filled in. Times are milliseconds. */
struct options {
	enum subcommand subcommand;
	struct strlist command; /* what follows the options */
	/* The same for a restart, with what its {resume:WORDS} say, which
	 * command is without; empty: it has none. */
	struct strlist restart;
	char *record_name;   /* show, lower, forget, export NAME; NULL */
	char *export_format; /* export FORMAT; NULL */
	char *import_file;   /* import FILE, nightly JOBS, diff OLD; NULL */
	char *second_file;   /* diff NEW; NULL */
	char *preset_name;   /* presets PRESET; NULL */
	char *card;          /* phantom CARD; NULL */
	struct options_target target;
	struct options_batch batch;
	struct options_hints hints;
	struct options_search search;
	struct options_probe probe;
	struct options_times times;
	struct options_reuse reuse;
	struct options_output output;
	struct estimate_request estimate; /* autofit estimate */
	struct options_devices devices;   /* autofit devices */
	struct options_nightly nightly;   /* autofit nightly */
	struct options_report report;     /* autofit report */
};

/* Of one phantom. */
#define OPTIONS_CARDS_MAX 16

/* What the caller does after parsing. */
enum options_outcome {
	OPTIONS_RUN,
	OPTIONS_PRINT, /* --help, --version: text on stdout, exit 0 */
	OPTIONS_WRONG, /* one line in err, exit 125 */
};

/* An options file that was read: INI, section [autofit], keys are options. */
struct options_file {
	const char *path; /* for messages */
	const char *text;
	size_t length;
	/* The file is another user's: what could run or write for him is passed
	 * over. */
	bool foreign;
};

/* The files that count, first the one that wins. */
struct options_files {
	const struct options_file *items;
	size_t count;
	size_t columns; /* of where a help is shown; 0: not known */
};

/*
 * Precedence: flag, then AUTOFIT_<OPTION> of environment (NAME=value items),
 * then files (NULL: none). A key that is no option is a warning "path:line:
 * ..." in warnings (NULL: not wanted); a wrong value is OPTIONS_WRONG with
 * path:line, unless a stronger place sets that option. Keys before a section
 * count; several lines of a list add up, and the strongest place that names a
 * list replaces it whole; an empty value is as no line. Parsing stops at the
 * first word that is no option; no abbreviations; a sub-command needs "--"
 * before its command. text receives what is to be printed. The caller releases
 * options whatever the outcome.
 */
enum options_outcome options_parse(struct options *options,
				   const struct strlist *argv,
				   const struct strlist *environment,
				   const struct options_files *files,
				   struct strlist *warnings,
				   struct strbuf *text, struct error *err);
void options_release(struct options *options);

/* The catalogue with gpus.csv of the user's configuration folder; see
 * gpu_catalogue_load(). */
void gpu_catalogue_of_user(struct gpu_catalogue *catalogue,
			   const struct strlist *environment,
			   struct strlist *warnings);

/*
 * --as NAME and the NAME of a phantom card, looked up in the catalogue and in
 * gpus.csv of the user's configuration folder, whose faults go to warnings. 0
 * without them; negative, and one line in err, when a name means no model.
 */
int options_find_model(struct options *options,
		       const struct strlist *environment,
		       struct strlist *warnings, struct error *err);

/*
 * For a line that was OPTIONS_WRONG: is it to start its command all the same?
 * True, and command receives what follows "--", when the line (else
 * AUTOFIT_OTHERWISE) says --otherwise run and only options stand before "--".
 */
bool options_otherwise(const struct strlist *argv,
		       const struct strlist *environment,
		       struct strlist *command);

#endif
