/* What the autofit in front of a rank tells, in a file of a shared folder. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_NODES_NODE_REPORT_H
#define AUTOFIT_PROBES_NODES_NODE_REPORT_H

#include "base/error.h"
#include "probes/channel/channel.h"
#include "probes/observers/host/host.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The processes of srun are children of Slurm's daemons, on any node of the
 * allocation. So a probe starts `srun ... autofit -- command`, and the autofit
 * in front of each rank (node_rank.h) is told by NODE_VARIABLE the folder of
 * the probe that all nodes see:
 *
 *	rank.N   its report, replaced as a whole several times a second
 *	alive    a number that autofit raises once a second
 *	stop     there once the rank is to end; in it the time it has for that
 *	frozen   there while it is to be stopped, as by Ctrl-Z
 *	rank-N/  what its own processes write by the Python hook
 *
 * A report is a struct node_report and behind it the page of the channel that
 * is in rank-N: a mapped file of a network file system shows a writer of
 * another node late, or never.
 *
 * Nothing is kept on a node itself: Slurm may kill all that is there.
 *
 * Writer and reader are of one program and one architecture. What is read is
 * not trusted: sizes are fixed, texts end, numbers are bounded.
 */
#define NODE_VARIABLE "AUTOFIT_RANKS"
#define NODE_NAME_MAX 64
#define NODE_RANKS_MAX 4096

enum node_rank_state {
	NODE_RANK_RUNS,
	NODE_RANK_EXITED, /* its command did, by itself; what it left lives */
	NODE_RANK_OVER,   /* no process of it is left */
};

struct node_report {
	uint64_t magic;
	uint32_t size; /* sizeof(struct node_report) */
	uint32_t state;
	int32_t rank;
	int32_t wait_status; /* from NODE_RANK_EXITED on */
	int32_t was_stopped; /* it was told to end */
	int32_t foreign_kills;
	uint64_t beats;  /* how many reports there were */
	uint64_t now_ns; /* CLOCK_MONOTONIC of its node */
	uint64_t oom_kills;
	uint64_t available_bytes; /* of its node; 0: not known */
	struct host_reading host;
	char node[NODE_NAME_MAX];
};

struct node_page {
	struct node_report report;
	struct channel_slot slots[CHANNEL_SLOTS];
};

/* "FOLDER/rank-3". The caller frees. */
char *node_report_folder(const char *folder, int rank);

/* The node that this process is on, as Slurm calls it. */
void node_report_where(char name[NODE_NAME_MAX]);

/* Puts it in its place as a whole. Nobody waits for a disk. */
int node_report_write(const char *folder, struct node_page *page,
		      struct error *err);

/* Where nobody will read it. */
void node_report_remove(const char *folder, int rank);

/* False: there is none, or it is no report. */
bool node_report_read(const char *folder, int rank, struct node_page *page);

#endif
