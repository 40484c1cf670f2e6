/* Programs that send work elsewhere: in a probe they start nothing. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_LEAVING_SHIMS_H
#define AUTOFIT_PROBES_LEAVING_SHIMS_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * sbatch, kubectl, ssh and their like. What they start no view holds and no
 * keeper ends. So a script of the same name stands for each in a folder that is
 * first in PATH, in a view also over the program itself; and the processes of
 * a probe are looked through for those that were started in another way. A
 * script says one line, leaves the words in the mark, and fails.
 */
struct shims {
	char *folder;         /* of the scripts */
	char *mark;           /* file: what would have left, in words */
	struct strlist names; /* of the scripts */
	/* Of these, those that always send work elsewhere. */
	struct strlist always;
};

/*
 * Make folder and scripts, one for each of the programs. srun may pass where it
 * can only start here, in an allocation of one node as environment tells, and
 * ray but for its jobs. Release it, whatever the result.
 */
int shims_make(struct shims *shims, const char *scratch,
	       const struct strlist *programs,
	       const struct strlist *environment, struct error *err);

/* Has one been called? The process, if not 0, is looked at as well; one that is
 * such a program is noted. */
bool shims_look(const struct shims *shims, pid_t pid);

/* "sbatch job.sh": the first that was called, a few words of it; NULL: none.
 * Whatever wrote there, it is one line of printable text. The caller frees. */
char *shims_called(const struct shims *shims);

void shims_release(struct shims *shims);

#endif
