/* Processes as /proc shows them: one, a tree, or all with a mark. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROCESS_PROCTREE_H
#define AUTOFIT_PROBES_PROCESS_PROCTREE_H

#include "probes/process/pid_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
	pid_t pid, ppid, pgrp, session;
	char state;          /* 'R', 'S', 'D', 'T', 'Z'... */
	uint64_t start_time; /* clock ticks since boot: tells a reused pid */
	uint64_t cpu_ticks;  /* utime + stime of all its threads */
	int64_t threads;     /* 0: it has ended, and was not waited for */
};

/* 0, -ESRCH when there is no such process, or another negative errno. */
int proctree_stat(pid_t pid, struct proc_stat *stat);

/* The same of the process whose /proc folder folder_fd is. */
int proctree_stat_at(int folder_fd, struct proc_stat *stat);

enum proctree_walk {
	PROCTREE_WHOLE, /* the children of every thread */
	PROCTREE_QUICK, /* of first threads only: a fraction of the cost */
	/* By the parent of every process on the machine: the other two fall
	 * back to it on kernels without CONFIG_PROC_CHILDREN. */
	PROCTREE_SCAN,
};

/*
 * Replace list by the descendants of root, zombies included, root not, and
 * return their number. A process whose parent ends during the walk can be
 * missed: to reach all of them, repeat until nothing is left.
 */
size_t proctree_descendants(pid_t root, enum proctree_walk walk,
			    struct pid_list *list);

/* Is the mark, a "NAME=value", an entry of the environment that the process
 * was started with, or has it that mark by its limits? false where neither may
 * be read. */
bool proctree_is_marked(pid_t pid, const char *mark);

/*
 * Replace list by all processes of the caller's user, in any session or tree,
 * that are marked so and that started at or after not_before_start_time. Never
 * the caller, never a zombie. Their number.
 */
size_t proctree_find_marked(const char *mark, uint64_t not_before_start_time,
			    struct pid_list *list);

/* Now, on the scale of start_time. */
uint64_t proctree_now_ticks(void);

#endif
