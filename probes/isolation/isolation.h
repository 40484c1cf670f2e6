/* A probe never feeds the real run: what it may write, and how that is kept. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_ISOLATION_H
#define AUTOFIT_PROBES_ISOLATION_ISOLATION_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>

struct shims;

#define ISOLATION_SHARED_MEMORY "/dev/shm"

/* Strongest first. */
enum isolation_kind {
	/*
	 * A copy-on-write view of every mounted file system, in a mount
	 * namespace of the probe's own (and a user namespace, without
	 * privilege): all writes succeed, and go away with the scratch folder.
	 */
	ISOLATION_VIEW,
	/* Landlock: writes beside scratch and shared are refused (EACCES). */
	ISOLATION_LANDLOCK,
	/* Nothing keeps it: the guarded folders are compared (compare/). */
	ISOLATION_COMPARE,
	ISOLATION_KINDS,
};

/* "view", "landlock", "compare": options, JSON, records; NULL-safe parse. */
const char *isolation_name(enum isolation_kind kind);
int isolation_parse(const char *name, enum isolation_kind *kind);
/* One line for the report: "probes write into a copy-on-write view". */
const char *isolation_words(enum isolation_kind kind);

/* Absolute, without links. Texts and lists are the caller's, and stay. */
struct isolation_spec {
	enum isolation_kind kind;
	/* The folder the command runs in; entered again inside the view. */
	const char *working;
	/* The probe's own folder, written for real. Layers go to
	 * <scratch>/view. */
	const char *scratch;
	/*
	 * Folders and files that are written for real: caches, the temporary
	 * folders of running servers, --allow-writes. The deeper path wins:
	 * a guarded folder inside a shared one is guarded. What does not
	 * exist is passed over.
	 */
	const struct strlist *shared;
	/* Working, script and output folder: never written for real. */
	const struct strlist *guarded;
	/* In a view they lie over the programs that are found in path (of the
	 * command's environment). NULL: there are none. */
	const struct shims *shims;
	const char *path;
	/* Files and the copies that lie over them, in a view only; see
	 * namespaces.h. NULL: there are none. */
	const struct strlist *covers;
	/* A signal that waits, or 0: then no kind is tried any more. NULL: none
	 * is looked for. */
	int (*interrupted)(void);
};

/* What isolation_choose found. */
struct isolation_choice {
	enum isolation_kind kind;
	/* Why not a stronger one: "no user namespace (Operation not
	 * permitted)"; "" when the kind is the strongest asked for. */
	char why_not[256];
	/* /dev/shm of a probe is its own: nothing of it stays. */
	bool has_own_memory;
};

/*
 * The strongest kind, from spec->kind downwards, that works here and now:
 * each is tried in a child of its own that builds it whole, writes into a
 * folder of scratch and ends. spec->scratch must exist; what the trial leaves
 * in it is removed. Never fails: ISOLATION_COMPARE needs nothing.
 */
void isolation_choose(struct isolation_choice *choice,
		      const struct isolation_spec *spec);

/*
 * In the probe's child (one thread), after the cgroup was entered and before
 * exec: from here on the spec holds for this process and all it starts. The
 * working folder is spec->working again. 0, or -errno with the step that
 * failed in err.
 */
int isolation_enter(const struct isolation_spec *spec, struct error *err);

#endif
