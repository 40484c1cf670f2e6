/* --guard: the real run is watched, and started smaller if memory ran out. */
/* SPDX-License-Identifier: MIT */
#include "launcher/guard/guard.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/guard/guarded_run.h"
#include "launcher/guard/run_evidence.h"
#include "launcher/guard/run_learned.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/first_split.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/config_copies.h"
#include "launcher/request/end_signals.h"
#include "probes/process/proctree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* Far more than there are tested splits; a bound all the same. */
#define RESTARTS_MAX 16
/* Loaders of data look every five seconds whether their parent lives. */
#define LEFT_PATIENCE_MS 60000
#define LEFT_LOOK_MS 100

struct guard {
	const struct request *request; /* of the command as it is to start */
	struct result *result;
	struct witness witness;
	/* The command with {resume:WORDS} filled in, once it is needed. */
	struct options restart_options;
	struct request restart;
};

bool guard_can(const struct request *request, const struct result *result)
{
	if (request->place.world > 1)
		log_warning("--guard: not as one of several ranks, which end "
			    "together; put autofit in front of what starts "
			    "them");
	else if (strcmp(result->starts, "recommended") != 0 ||
		 !result->record.id)
		log_warning("--guard: there is no record to go by, so that "
			    "nothing smaller is known");
	else
		return true;
	return false;
}

static bool can_resume(const struct request *request)
{
	const struct command *command = &request->command;

	return request->options->restart.count ||
	       (command->preset_is_certain &&
		command->preset->words.resume.count);
}

static bool is_out_of_memory(const struct judgement *judgement)
{
	return judgement->verdict == VERDICT_OOM_DEVICE ||
	       judgement->verdict == VERDICT_OOM_HOST;
}

/* 0, or -errno: there was no run. */
static int run_once(struct guard *guard, struct guarded_end *end,
		    struct judgement *judgement, struct error *err)
{
	const struct rewrite *run = &guard->result->run;
	struct run_evidence evidence;
	struct strlist changes = STRLIST_INIT;
	const struct guarded_start start = { guard->request->state, &run->argv,
					     &changes, &guard->witness };
	int result;

	strlist_add_all(&changes, (const char *const *)run->environment.items,
			run->environment.count);
	result = run_evidence_open(&evidence, guard->request, &changes, err);
	if (result == 0) {
		result = guarded_run(end, &start, err);
		if (result == 0 && end->status != 0)
			*judgement = run_evidence_judge(&evidence, end,
							&guard->result->record);
		run_evidence_close(&evidence);
	}
	strlist_release(&changes);
	return result;
}

/* False: some stay, or a signal came. */
static bool wait_for_left(const struct guard *guard, uint64_t since)
{
	const struct timespec pause = { .tv_nsec = LEFT_LOOK_MS * 1000000L };
	char *mark = run_evidence_mark(guard->request);
	struct pid_list left = PID_LIST_INIT;
	size_t count = 1;

	for (int ms = 0; ms < LEFT_PATIENCE_MS && !end_signals_waiting();
	     ms += LEFT_LOOK_MS) {
		count = proctree_find_marked(mark, since, &left);
		if (!count)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (left.count && !end_signals_waiting())
		log_warning("--guard: processes of the run are left (the first "
			    "is %d) and may hold its memory, so it is not "
			    "started again",
			    (int)left.items[0]);
	pid_list_release(&left);
	free(mark);
	return count == 0;
}

/* The command of the restart, with the record's split. */
static int set_restart(struct guard *guard, struct error *err)
{
	const struct request *request = guard->request;
	struct result *result = guard->result;

	if (!request->options->restart.count) {
		result_set_restart(result, request);
	} else {
		request_release(&guard->restart);
		guard->restart_options = *request->options;
		guard->restart_options.command = request->options->restart;
		if (request_prepare(&guard->restart, &guard->restart_options,
				    request->state, err) != COMMAND_OK)
			return -EINVAL;
		result_set_command(result, &guard->restart,
				   result->record.batch.micro_batch,
				   result->record.batch.grad_accum);
	}
	if (!result->run.argv.count)
		return error_set(err, -EINVAL,
				 "the sizes cannot be written into it");
	if (config_copies_write(&result->run, false, err) < 0)
		return -EIO;
	return config_copies_lay(&result->run, err);
}

static void say_lowered(const struct batch *from, const struct batch *to,
			const struct judgement *judgement, const char *then)
{
	log_warning("--guard: micro %" PRId64 " x accum %" PRId64
		    " ran out of memory (%s); recorded, and %s micro %" PRId64
		    " x accum %" PRId64,
		    from->micro_batch, from->grad_accum, judgement->why, then,
		    to->micro_batch, to->grad_accum);
}

/* After an end for want of memory: is there another start to make? */
static bool prepare_restart(struct guard *guard,
			    const struct judgement *judgement, uint64_t since)
{
	struct record *record = &guard->result->record;
	const struct batch before = record->batch;
	struct error err = ERROR_INIT;

	if (run_learned_lower(record, guard->request, &err) < 0) {
		log_warning("--guard: micro %" PRId64 " x accum %" PRId64
			    " ran out of memory (%s), and %s",
			    before.micro_batch, before.grad_accum,
			    judgement->why, err.message);
		return false;
	}
	if (!can_resume(guard->request)) {
		say_lowered(&before, &record->batch, judgement,
			    "the next start takes");
		log_warning("--guard: how the run goes on from its last "
			    "checkpoint is not known: {resume:WORDS} in the "
			    "command says it");
		return false;
	}
	if (!wait_for_left(guard, since))
		return false;
	if (set_restart(guard, &err) < 0) {
		log_warning("--guard: the run cannot be started again: %s",
			    err.message);
		return false;
	}
	say_lowered(&before, &record->batch, judgement, "it goes on with");
	first_split_keep(guard->request, guard->result);
	return true;
}

/* False: it is over; code is then the exit code where no signal ended it. */
static bool take_turn(struct guard *guard, struct guarded_end *end, int *code)
{
	uint64_t since = proctree_now_ticks();
	struct judgement judgement = { .verdict = VERDICT_NONE };
	struct error err = ERROR_INIT;

	*end = (struct guarded_end){ .status = 0 };
	if (run_once(guard, end, &judgement, &err) < 0) {
		log_error("--guard: %s", err.message);
		*code = EXIT_AUTOFIT_FAILED;
		return false;
	}
	*code = WIFEXITED(end->status) ? WEXITSTATUS(end->status)
				       : 128 + WTERMSIG(end->status);
	if (end->status == 0)
		run_learned_confirm(&guard->result->record, guard->request);
	return is_out_of_memory(&judgement) && !end->was_told_to_end &&
	       prepare_restart(guard, &judgement, since);
}

int guard_run(const struct request *request, struct result *result)
{
	struct guard guard = { .request = request,
			       .result = result,
			       .witness = WITNESS_INIT };
	struct error err = ERROR_INIT;
	struct guarded_end end;
	int restarts = 0;
	int code;

	guarded_run_hold();
	if (witness_start(&guard.witness, &err) < 0)
		log_warning("--guard: %s", err.message);
	if (!can_resume(request))
		log_warning(
			"--guard: nothing is started again, for it is not "
			"known how the run goes on from its last "
			"checkpoint: {resume:WORDS} in the command says it");
	while (take_turn(&guard, &end, &code) && restarts++ < RESTARTS_MAX)
		continue;
	witness_stop(&guard.witness);
	request_release(&guard.restart);
	if (WIFSIGNALED(end.status))
		end_signals_die(request->state, WTERMSIG(end.status));
	return code;
}
