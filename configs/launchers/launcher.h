/* Programs that start a training command: one INI file each. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_LAUNCHERS_LAUNCHER_H
#define AUTOFIT_CONFIGS_LAUNCHERS_LAUNCHER_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum launcher_kind {
	LAUNCHER_WRAPPER, /* becomes, or waits for, the program that follows */
	LAUNCHER_PYTHON,
	LAUNCHER_SHELL,
	LAUNCHER_RANKS,   /* starts a Python script once per rank */
	LAUNCHER_TASKS,   /* starts any program once per rank, launchers too */
	LAUNCHER_OPAQUE,  /* hides its command: taken with placeholders only */
	LAUNCHER_REFUSED, /* nothing behind it can be probed */
	LAUNCHER_UNKNOWN, /* known, but what it starts is not understood */
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
	/* They end it, the last two with the meaning's why. */
	SAYS_FOREIGN, /* not every rank has a batch of its own */
	SAYS_UNKNOWN,
	SAYS_REFUSED,
	LAUNCH_WORDS,
};

/* One option, or variable of the environment, and what it says. */
struct launch_meaning {
	char *name; /* as in launcher.options */
	enum launch_word word;
	char *why; /* what to do instead; NULL */
};

struct launch_meanings {
	struct launch_meaning *items;
	size_t count;
};

/* How its ranks are counted. */
enum launcher_count {
	COUNT_NOTHING, /* it starts none */
	COUNT_PLAIN,
	COUNT_ACCELERATE, /* its YAML too */
	COUNT_DEEPSPEED,  /* host file, --include */
	COUNT_HOSTS,      /* of mpirun and its kin */
	COUNT_SRUN,
};

struct launcher {
	char *file; /* "torchrun" of torchrun.ini */
	/* The text of a built-in one of which only the keys before "kind" were
	 * read: its names and modules. NULL: all was. */
	const struct builtin_file *unread;
	/* The names of the program; the first is shown. */
	struct strlist names;
	char *subcommand;     /* the words that must follow; NULL */
	struct strlist alone; /* names that need no subcommand */
	/* Names behind python -m: without, and with, the subcommand. */
	struct strlist modules, command_modules;
	enum launcher_kind kind;
	/*
	 * Its options, blanks between them, without dashes, words joined by
	 * "_"; one letter is a short option. "x" is a switch, "x=" has a value,
	 * "x?" may have one behind "=" (or glued, if short), "x==" has two.
	 */
	char *options;
	struct launch_meanings says; /* of options */
	/* Variables that stand for options which are not given. */
	struct launch_meanings variables;
	bool unknown_has_value; /* any other --option has a value too */
	bool abbreviations;     /* a unique beginning will do */
	bool single_dash;       /* -np as --np: short options do not glue */
	bool digits;            /* -5 is an option (nice) */
	bool assignments;       /* NAME=value may stand among them (env) */
	bool must_wait;         /* without SAYS_WAIT it returns at once */
	bool colon_joins;       /* ":" alone starts one more command (MPI) */
	int64_t operands;  /* words before the program (timeout's duration) */
	char *bad_letters; /* that no program's name has; NULL: none */
	/* The counting of ranks and tasks. */
	enum launcher_count count;
	char *ranks_option;   /* "--nproc_per_node=N": what to add */
	bool many_by_default; /* where ranks are not said: one per device */
	char *port_option;    /* inserted where none is given; NULL */
	/* SAYS_CONFIG, SAYS_HOSTFILE: looked for when no option names one. */
	char *default_file;
	/* TOML files that may say what the word behind it stands for. */
	struct strlist task_files;
	bool outside; /* its processes are no descendants of it */
	char *advice; /* what to do instead */
};

struct launchers {
	struct launcher *items;
	size_t count, capacity;
};

/*
 * The built-in ones, then *.ini of folder (NULL: none): a file of the same name
 * replaces the built-in one. docs/presets.md says what is in them. -EINVAL with
 * file:line for a file that is not understood. The caller releases, whatever
 * the result.
 */
int launchers_load(struct launchers *launchers, const char *folder,
		   struct error *err);
/*
 * This one of them, with all that its file says: of a built-in one
 * launchers_load reads only by what it is recognised.
 */
const struct launcher *launchers_whole(const struct launchers *launchers,
				       const struct launcher *launcher);
void launchers_release(struct launchers *launchers);

#endif
