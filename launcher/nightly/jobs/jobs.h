/* The job list of `autofit nightly`: read, and checked as a whole. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_H
#define AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_H

#include "base/strbuf.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBS_MAX 10000
#define JOBS_FILE_MAX ((size_t)8 << 20)
#define JOBS_AT_ONCE 32

/* Asked of Slurm for a job. Texts are NULL and numbers 0 where nothing is. */
struct job_slurm {
	char *partition, *account, *constraint, *gres;
	int64_t minutes;        /* --time */
	int64_t nodes, ranks;   /* --nodes, --ntasks */
	struct strlist options; /* further ones of sbatch: "--mem=64G" */
};

/* One command of the list, on one type of device. */
struct job {
	char *name;                 /* of its section, or NAME@TYPE */
	unsigned line;              /* of that section, from 1 */
	struct strlist command;     /* its words */
	char *directory;            /* absolute */
	struct strlist environment; /* NAME=value, beside autofit's own */
	struct strlist options;     /* of `autofit tune`: "--memory=8G" */
	bool is_optional;           /* its failure needs no look */
	int64_t time_limit_ms;      /* of its tuning; 0: none */
	struct strlist types;       /* of [type NAME], as the lines name them */
	struct job_slurm slurm;
};

struct jobs {
	struct job *items;
	size_t count, capacity;
	char *results;   /* folder, absolute */
	char *publish;   /* folder like AUTOFIT_SITE, absolute; NULL: nowhere */
	bool is_slurm;   /* the executor; else the jobs run here */
	int64_t at_once; /* jobs that Slurm has at most */
	/* "path:line: what is wrong; the remedy", in the order of the file. */
	struct strlist mistakes;
};

/*
 * Reads the text of the list at path, whose folder relative paths are of. All
 * mistakes are collected; the jobs count only where there is none.
 */
void jobs_read(struct jobs *jobs, const char *path, const struct strbuf *text);
void jobs_release(struct jobs *jobs);

/* name is the job's, or that of its section: all its types. */
bool job_is_named(const struct job *job, const char *name);

/*
 * The words of a command as a shell would split them; what needs a shell is
 * -EINVAL, and why says which and what to write instead. Pure.
 */
int job_words(const char *text, struct strlist *words, struct strbuf *why);

#endif
