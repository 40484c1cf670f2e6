/* Where a command leads, after its launchers. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_hints.h"
#include "launcher/command/text/command_outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a launcher takes the port at which its ranks meet: probes get one that
 * is free.
 */
struct launch_port {
	size_t index;       /* argument of the flat argv whose value it is, or
			       before which the option is inserted */
	size_t offset;      /* byte where the port begins in it */
	const char *option; /* inserted: "--master_port"; NULL: replaced */
};

#define LAUNCH_PORTS_MAX 4

/* Where the command leads, after its launchers. Indexes into the flat argv. */
struct command_view {
	/* Shell text taken apart; its argv is the flat one where it has any. */
	struct shell_expansion expansion;
	size_t program; /* python, torchrun's script, ./trainer */
	size_t script;  /* a file of source that can be read; NO_INDEX */
	size_t module;  /* the name after python -m; NO_INDEX */
	size_t code;    /* the text after python -c: a source; NO_INDEX */
	size_t args;    /* the first argument of the program itself */
	size_t end;     /* past the last one that may be a knob ("--") */
	/* Of them, the most in one piece, and many, that no preset reads as an
	 * option or a setting: the files that a shell made of a pattern. */
	size_t plain_start, plain_end;
	int64_t world;           /* data-parallel ranks by the launchers; 1 */
	int64_t visible_devices; /* as given, less what env hides */
	char *launcher;          /* "torchrun", NULL: none that starts ranks */
	/* A program that nobody knows, and that starts what follows, however
	 * many times; NULL. */
	const char *starter;
	/* How its ranks share the model, as --sharding of `autofit estimate`
	 * says it: "zero3", "fsdp"; NULL: not said. */
	const char *sharding;
	bool offloads_optimizer, offloads_weights; /* to the host */
	struct launch_port ports[LAUNCH_PORTS_MAX];
	size_t port_count;
	/* Its processes are no descendants of it: "srun", "docker"; NULL. */
	const char *outside;
	/* What a launcher of tasks such as srun starts there: the first word of
	 * it; 0: there is none. And the nodes that its tasks are on; 1. */
	size_t outside_program;
	int64_t nodes;
	bool has_shell; /* with text or a script, understood or not */
	/* NAME=value of env and of shell text, before the program. */
	struct strlist assignments;
	/* How the preset's arguments are read, once it is known. */
	const char *group; /* key=value words follow this option; NULL */
	bool pairs;        /* KEY VALUE words without dashes */
	/* Words of the command that are such a KEY, whatever they look like. */
	struct strlist pair_keys;
	/* Options of the command behind which key=value is a setting. */
	struct strlist setting_options;
	/* Its drop list: "--x" alone is an option without a value. NULL. */
	const struct strlist *dropped;
};

struct launchers;
struct presets;

/* What a command is read by; all of it outlives the command. */
struct command_sources {
	const struct presets *presets;
	const struct launchers *launchers;
	const struct command_hints *hints;
	struct named_files *texts; /* scripts and config files */
};

/*
 * Takes the launchers off. The caller releases the view, whatever the outcome.
 */
enum command_outcome command_unwrap(struct command_view *view,
				    const struct strlist *argv,
				    const struct command_sources *sources,
				    struct error *err);
void command_view_release(struct command_view *view);

#endif
