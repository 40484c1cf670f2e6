/* Slurm's words for the state of a job, and what they mean for a night. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/executor/slurm_queue.h"

#include "base/units.h"

#include <stddef.h>
#include <string.h>

/* As squeue has it for a job that is not on a node. */
#define NO_NODE "n/a"

/* The states that end a job: "JOB STATE CODES" of squeue(1). */
static const struct state_over {
	const char *state;
	bool is_lost;
	const char *why;
} states_over[] = {
	{ "COMPLETED", false, "ended without a result" },
	{ "FAILED", false, "ended without a result" },
	{ "OUT_OF_MEMORY", false,
	  "ran out of the memory that Slurm gave it: raise sbatch = --mem=SIZE "
	  "above the job's memory" },
	{ "TIMEOUT", false,
	  "reached Slurm's time limit: raise time; the next night goes on "
	  "where "
	  "it was" },
	{ "DEADLINE", false, "reached its deadline in Slurm" },
	{ "CANCELLED", false, "was cancelled in Slurm" },
	{ "PREEMPTED", true, "was preempted and not requeued" },
	{ "NODE_FAIL", true, "lost its node" },
	{ "BOOT_FAIL", true, "got a node that does not start" },
	{ "REVOKED", false, "was revoked by its cluster" },
	{ "SPECIAL_EXIT", false,
	  "is held after a special exit: scontrol release it, or cancel it" },
};

/* "JOB REASON CODES" of squeue(1): those that no waiting mends. */
static const struct reason_stuck {
	const char *reason, *why;
} reasons_stuck[] = {
	{ "PartitionTimeLimit",
	  "never starts: time is more than its partition allows" },
	{ "PartitionNodeLimit",
	  "never starts: nodes are more than its partition allows" },
	{ "PartitionConfig", "never starts: its partition cannot give what it "
			     "asks for; see nodes, "
			     "ranks and gres" },
	{ "BadConstraints",
	  "never starts: no node has what constraint and gres ask for" },
	{ "InvalidAccount", "never starts: Slurm does not know its account" },
	{ "InvalidQOS", "never starts: Slurm does not know its QOS" },
	{ "JobHeldUser", "is held: scontrol release it" },
	{ "JobHeldAdmin", "is held by Slurm's administrator" },
};

#define COUNT_OF_ROWS(rows) (sizeof(rows) / sizeof(*(rows)))

const char *slurm_state_over(const char *state, bool *is_lost)
{
	/* sacct says "CANCELLED by 1000". */
	size_t length = strcspn(state, " +");

	for (size_t i = 0; i < COUNT_OF_ROWS(states_over); i++) {
		const struct state_over *row = &states_over[i];

		if (strlen(row->state) != length ||
		    strncmp(row->state, state, length) != 0)
			continue;
		*is_lost = row->is_lost;
		return row->why;
	}
	*is_lost = false;
	return NULL;
}

const char *slurm_state_word(const char *state)
{
	return strcmp(state, "RUNNING") == 0   ? "runs"
	       : strcmp(state, "PENDING") == 0 ? "queued"
					       : state;
}

bool slurm_reason_lost(const char *reason)
{
	/* As "RaisedSignal:9(Killed)"; which of them Slurm 22.05 says of a
	 * script that is killed depends on when that was. */
	static const char *const reasons[] = { "RaisedSignal",
					       "JobLaunchFailure" };

	for (size_t i = 0; i < COUNT_OF_ROWS(reasons); i++)
		if (strncmp(reason, reasons[i], strlen(reasons[i])) == 0)
			return true;
	return false;
}

const char *slurm_reason_stuck(const char *reason)
{
	for (size_t i = 0; i < COUNT_OF_ROWS(reasons_stuck); i++)
		if (strcmp(reasons_stuck[i].reason, reason) == 0)
			return reasons_stuck[i].why;
	return NULL;
}

/* Up to the stop, into a text of a bounded size. False: it does not fit. */
static bool take_queue_field(const char **at, char stop, char *out, size_t size)
{
	size_t length = 0;

	while ((*at)[length] && (*at)[length] != '\n' && (*at)[length] != stop)
		length++;
	if (length >= size || (*at)[length] != stop)
		return false;
	memcpy(out, *at, length);
	out[length] = '\0';
	*at += length + 1;
	return true;
}

/* "12", or "12_3" of an array; "12_[4-9]" is none that can be asked for. */
static bool take_queue_id(const char *text, struct slurm_queue_line *line)
{
	char number[24];
	size_t length = strcspn(text, "_");

	if (length >= sizeof(number))
		return false;
	memcpy(number, text, length);
	number[length] = '\0';
	line->element = -1;
	return integer_parse(number, &line->id, NULL) == 0 &&
	       (!text[length] ||
		integer_parse(text + length + 1, &line->element, NULL) == 0);
}

bool slurm_queue_next(const char **at, struct slurm_queue_line *line)
{
	char id[48];

	while (**at) {
		const char *field = *at;
		size_t length = strcspn(*at, "\n");
		bool is_job = (*at)[length] == '\n' &&
			      take_queue_field(&field, '|', id, sizeof(id)) &&
			      take_queue_id(id, line) &&
			      take_queue_field(&field, '|', line->state,
					       sizeof(line->state)) &&
			      take_queue_field(&field, '|', line->reason,
					       sizeof(line->reason)) &&
			      take_queue_field(&field, '|', line->node,
					       sizeof(line->node)) &&
			      take_queue_field(&field, '\n', line->name,
					       sizeof(line->name));

		*at += length;
		*at += **at == '\n';
		if (!is_job)
			continue;
		if (strcmp(line->node, NO_NODE) == 0)
			line->node[0] = '\0';
		return true;
	}
	return false;
}
