/* Is a probe to be forked from the zygote, or started afresh? */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_zygote.h"

#include "base/units.h"
#include "search/memory_line.h"

#include <stdlib.h>

/* What the search so far lets expect of a size that is to be probed. */
struct outlook {
	bool may_be_answer; /* if it fits, the tuning may end with it */
	bool fits_clearly;  /* and it fits, but for a surprise */
};

static struct outlook outlook_of(const struct session *session,
				 const struct plan_step *step)
{
	const struct probe_notes *notes = session->trials.notes;
	struct trial *trials = probe_notes_trials(notes);
	struct memory_line line = memory_line_fit(trials, notes->count);
	uint64_t limit = session->plan.problem.limit_bytes;
	uint64_t peak = memory_line_peak(&line, step->micro_batch);
	const struct trial fit = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		/* Without a line nothing says that it comes near the limit. */
		.peak_bytes = line.points == 2 ? bytes_min(peak, limit) : 0,
	};
	const struct outlook outlook = {
		.may_be_answer = step->is_confirmation ||
				 plan_wants_confirmed(&session->plan, trials,
						      notes->count, &fit),
		.fits_clearly = line.points == 2 &&
				peak + memory_line_noise(limit) <= limit,
	};

	free(trials);
	return outlook;
}

static bool has_size_in_environment(const struct command *command)
{
	bool found = command->env_templates.count > 0;

	for (int kind = 0; kind <= KNOB_GLOBAL; kind++)
		found |= command->knobs[kind].form == KNOB_ENVIRONMENT;
	return found;
}

/* What a script does before Python is done by no copy, and a rank is not alone;
 * NULL: neither. */
static const char *why_no_copy(const struct command_view *view)
{
	if (view->has_shell)
		return "a shell starts it";
	return view->launcher || view->outside ? "a launcher starts ranks of it"
					       : NULL;
}

static bool session_zygote_is_due(const struct session *session,
				  const struct plan_step *step, bool is_beside)
{
	const struct request *request = session->given.request;
	const struct outlook outlook = outlook_of(session, step);
	bool is_there = session->preloaded.zygote != NULL;

	if (request->options->probe.no_zygote || session->kit.without_hook ||
	    step->is_confirmation)
		return false;
	/* Beside another it is no answer, and begins no zygote either. */
	if (is_beside)
		return is_there;
	return !outlook.may_be_answer || (is_there && !outlook.fits_clearly);
}

int64_t session_zygote_accum(const struct session *session,
			     const struct plan_step *step, bool is_beside)
{
	const struct command_view *view = &session->given.request->command.view;

	return !why_no_copy(view) && preloaded_can_serve(&session->preloaded) &&
			       session_zygote_is_due(session, step, is_beside)
		       ? plan_least_accum(&session->plan, step->micro_batch)
		       : step->probe_accum;
}

struct zygote *session_zygote_for(struct session *session,
				  const struct plan_step *step,
				  const struct probe_setup *setup)
{
	const struct request *request = session->given.request;
	const struct command *command = &request->command;
	const struct preloaded_start start = {
		.argv = &setup->run.argv,
		.environment = &setup->environment,
		.state = request->state,
		.scratch = setup->scratch,
		.hook = setup->hook,
		.why_not = why_no_copy(&command->view),
		.has_size_in_environment = has_size_in_environment(command),
		.must_end = session_loop_look_up,
		.context = &session->loop,
	};

	return !setup->ranks && session_zygote_is_due(session, step,
						      setup->only_gpu != NULL)
		       ? preloaded_zygote(&session->preloaded, &start)
		       : NULL;
}
