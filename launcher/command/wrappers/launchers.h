/* Programs that start another program: one row each. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/named_files.h"
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_hints.h"
#include "launcher/command/wrappers/unwrap.h"

#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCHERS_H
#	define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCHERS_H

enum launcher_kind {
	LAUNCHER_WRAPPER, /* becomes, or waits for, the program that follows */
	LAUNCHER_PYTHON,
	LAUNCHER_SHELL,
	LAUNCHER_RANKS,  /* starts a Python script once per rank */
	LAUNCHER_TASKS,  /* starts any program once per rank, launchers too */
	LAUNCHER_OPAQUE, /* hides its command: taken with placeholders only */
	LAUNCHER_OTHER,  /* known, but not understood: outcome and advice */
};

/* What an option says about what is started. */
enum launch_word {
	/* Their values are looked at once all options are read. */
	SAYS_RANKS, /* on the one node, or in all */
	SAYS_RANKS_PER_NODE,
	SAYS_NODES,
	SAYS_DEVICES, /* "0,1,3": one rank each */
	SAYS_MANY,    /* switch: ranks are started, though not how many */
	SAYS_ONE,     /* switch: one rank, whatever else is said */
	SAYS_MODULE,
	SAYS_SCRIPT, /* what follows is Python, whatever its name */
	SAYS_NO_PYTHON,
	SAYS_DEEPSPEED, /* switch: by DeepSpeed */
	SAYS_ACCUM,     /* accumulation of its own, which DeepSpeed takes */
	SAYS_DEEPSPEED_FILE,  /* DeepSpeed's own file */
	SAYS_FSDP,            /* switch: by FSDP */
	SAYS_STAGE,           /* of ZeRO */
	SAYS_STRATEGY,        /* of FSDP */
	SAYS_OFFLOAD_STATES,  /* "cpu", "true" */
	SAYS_OFFLOAD_WEIGHTS, /* the same */
	SAYS_CONFIG,          /* file that says what options do not */
	SAYS_HOSTS,           /* "a:2,b:2" */
	SAYS_HOSTFILE,        /* file with a line for each host */
	SAYS_INCLUDE,         /* "host:0,1" */
	SAYS_EXCLUDE,
	SAYS_PORT,
	SAYS_ENDPOINT, /* "host:port" */
	SAYS_BACKEND,  /* of the rendezvous */
	SAYS_OWN_PORT, /* switch: it finds a free one itself */
	SAYS_WAIT,     /* switch: it ends with what it starts */
	/* They change what is known of what is started. */
	SAYS_ASSIGN, /* NAME=value, or NAME value */
	SAYS_EXPORT, /* NAME=value,NAME: these only, without ALL */
	SAYS_UNSET,
	SAYS_CLEAR,         /* switch: no variables at all */
	SAYS_OTHER_DEVICES, /* it sees other devices than are visible here */
	/* They end it, with the meaning's why. */
	SAYS_FOREIGN, /* not every rank has a batch of its own */
	SAYS_UNKNOWN, /* COMMAND_NOT_RECOGNISED */
	SAYS_REFUSED, /* COMMAND_REFUSED */
	LAUNCH_WORDS,
};

/* One option, or variable of the environment, and what it says. */
struct launch_meaning {
	const char *name; /* as in launcher.options; NULL ends a list */
	enum launch_word word;
	const char *why;
};

struct wrapper;
struct launch;

/* Sets view->world to the ranks that it starts, and launch->is_single. */
typedef enum command_outcome launch_counter(const struct wrapper *wrapper,
					    struct launch *launch);

struct launcher {
	/* Of the program, what it is called first; NULL: the table ends. */
	const char *const *names;
	const char *subcommand;   /* the word that must follow; NULL */
	const char *const *alone; /* names that need no subcommand; NULL */
	/* Names behind python -m: without, and with, the subcommand; NULL. */
	const char *const *modules, *const *command_modules;
	enum launcher_kind kind;
	/*
	 * Its options, blanks between them, without dashes, words joined by
	 * "_"; one letter is a short option. "x" is a switch, "x=" has a value,
	 * "x?" may have one behind "=" (or glued, if short), "x==" has two.
	 */
	const char *options;
	const struct launch_meaning *meanings; /* of options; NULL: none */
	/* Variables that stand for options which are not given; NULL: none. */
	const struct launch_meaning *variables;
	bool unknown_has_value; /* any other --option has a value too */
	bool abbreviations;     /* a unique beginning will do */
	bool single_dash;       /* -np as --np: short options do not glue */
	bool digits;            /* -5 is an option (nice) */
	bool assignments;       /* NAME=value may stand among them (env) */
	bool must_wait;         /* without SAYS_WAIT it returns at once */
	bool colon_joins;       /* ":" alone starts one more command (MPI) */
	size_t operands; /* words before the program (timeout's duration) */
	const char *bad_letters; /* that no program's name has; NULL: none */
	/* LAUNCHER_RANKS, LAUNCHER_TASKS */
	launch_counter *count;
	const char *ranks_words; /* "--nproc_per_node=N": what to add */
	bool many_by_default;    /* where ranks are not said: one per device */
	const char *port_option; /* inserted where none is given; NULL */
	/* SAYS_CONFIG, SAYS_HOSTFILE: looked for when no option names one. */
	const char *default_file;
	/* Their processes are no descendants of it. */
	bool outside;
	/* LAUNCHER_OTHER: the outcome; all: what to do instead. */
	enum command_outcome outcome;
	const char *advice;
};

/* The tables, one of a family each; names NULL ends them. */
extern const struct launcher launchers_plain[];
extern const struct launcher launchers_ranks[];
extern const struct launcher launchers_tasks[];
extern const struct launcher launchers_other[];

/* The row of a program by the last part of its path, or NULL. */
const struct launcher *launcher_find(const char *program);
/* The row of what python -m starts, or NULL; has it its subcommand? */
const struct launcher *launcher_find_module(const char *module, bool *is_whole);

/* The program needs no subcommand behind it. */
bool launcher_is_whole(const struct launcher *row, const char *program);
/* "podman" of /usr/bin/podman, as the row has it. */
const char *launcher_name(const struct launcher *row, const char *program);

/* A command while its launchers are peeled. */
struct wrapper {
	struct command_view *view;
	const struct strlist *argv; /* flat */
	size_t at;                  /* the argument that is looked at */
	bool done;                  /* the program itself is found */
	bool shell_is_taken;        /* apart, that is */
	const struct command_hints *hints;
	struct strlist environment; /* of what is started, as far as known */
	struct named_files *texts;
	struct error *err;
};

struct launch_said {
	const char *value; /* NULL: not said; "" of a switch */
	const char *name;  /* option or variable */
	const char *why;
	size_t index, offset; /* of the value; NO_INDEX: a variable */
};

/* What the options of one launcher said. */
struct launch {
	const struct launcher *row;
	size_t first;   /* argument where its options begin */
	bool is_single; /* it starts one process, that meets no other */
	struct launch_said said[LAUNCH_WORDS];
};

/* The argument at peel->at, or NULL. */
const char *wrapper_here(const struct wrapper *wrapper);
/* The word of shell text that argument index is; NULL: of no such. */
const struct word *wrapper_word(const struct wrapper *wrapper, size_t index);
/* Fails where what the argument at peel->at stands for is not known. */
enum command_outcome wrapper_check_known(const struct wrapper *wrapper);
/* Of what is started; NULL: not set, or not known. */
const char *wrapper_variable(const struct wrapper *wrapper, const char *name);
/* NAME=value holds from here on. */
void wrapper_assign(struct wrapper *wrapper, const char *assignment);
/*
 * Does what an option says that changes what is known; else nothing. second:
 * of the option's two values, or NULL.
 */
void wrapper_apply(struct wrapper *wrapper, enum launch_word word,
		   const char *value, const char *second);
/* Each takes what is at peel->at. python itself: */
enum command_outcome wrapper_python(struct wrapper *wrapper);
/* The name of a module, the path of a script: */
enum command_outcome wrapper_module(struct wrapper *wrapper);
enum command_outcome wrapper_script(struct wrapper *wrapper);
/* What follows the name of the launcher, and its subcommand if is_whole. */
enum command_outcome wrapper_launcher(struct wrapper *wrapper,
				      const struct launcher *row,
				      bool is_whole);
/* launcher: what should have named one. */
enum command_outcome wrapper_no_program(const struct wrapper *wrapper,
					const char *launcher);
/* Sets the message; returns the outcome. */
enum command_outcome launch_fail(const struct wrapper *wrapper,
				 enum command_outcome outcome,
				 const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Leaves peel->at on the first argument that is no option of the launcher. */
enum command_outcome launch_options_read(struct wrapper *wrapper,
					 struct launch *launch);
/* What variables say where options do not. */
void launch_variables_read(const struct wrapper *wrapper,
			   struct launch *launch);

/* "The ranks cannot be counted: why: say how many". */
enum command_outcome ranks_unknown(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *why);
/* A number of ranks as written; sets view->world. */
enum command_outcome ranks_written(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *text);
/* One rank on each visible device. */
enum command_outcome ranks_of_devices(const struct wrapper *wrapper,
				      const struct launch *launch);
/* Only one node can be probed; text NULL: one. */
enum command_outcome ranks_check_nodes(const struct wrapper *wrapper,
				       const struct launch *launch,
				       const char *text);
enum command_outcome ranks_several_nodes(const struct wrapper *wrapper,
					 const struct launch *launch,
					 const char *how_many);
/* Not every rank has a batch of its own because of what. */
enum command_outcome ranks_foreign(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *what);

launch_counter ranks_count_plain;      /* torchrun, paddle */
launch_counter ranks_count_accelerate; /* its YAML too */
launch_counter ranks_count_deepspeed;  /* hostfile, --include */
launch_counter ranks_count_hosts;      /* mpirun, horovodrun */
launch_counter ranks_count_srun;

/* Hosts of "a:2,b:2" or of a file with "a slots=2" or "a:2" in its lines. */
struct host_list {
	size_t count;  /* 1: all names are the same */
	int64_t slots; /* of all lines; 0: not said in one of them */
};
/* Separated by any of the letters. */
struct host_list host_list_read(const char *text, size_t length,
				const char *separators);
/* The file of SAYS_HOSTFILE, or of the row; NULL in *file: not there. */
enum command_outcome launch_file(const struct wrapper *wrapper,
				 const struct launch *launch, const char *path,
				 struct named_file **file);

/* What a launcher's config file says; NULL: not in it, or null. */
const char *launch_setting(const struct settings *config, const char *key);
/* What accelerate's options, its config file and DeepSpeed's own say of how
 * ranks share the model and its states: into the view, for the estimate only.
 */
void launch_sharding_find(const struct wrapper *wrapper,
			  const struct launch *launch,
			  const struct settings *config,
			  const struct settings *deepspeed);

/* Adds where its port is written, or goes, to the view. */
void launch_ports_find(const struct wrapper *wrapper,
		       const struct launch *launch);

#endif
