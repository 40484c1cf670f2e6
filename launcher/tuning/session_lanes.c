/* One turn of a tuning: a probe, or with --parallel several side by side. */
/* SPDX-License-Identifier: MIT */
/*
 * A round of several lanes:
 *
 *  1. The first probe of a tuning is always alone: it shows that the command
 *     uses one GPU, and that it is the first of those it sees. Then the other
 *     GPUs are looked for, once (spare_gpus.h), and why there are none is said.
 *  2. plan_ahead() names the next question and those that may follow it. The
 *     first runs on the command's own GPU as it would alone, and may go on as
 *     its own confirmation. The others run on one idle GPU each, and see only
 *     that one: their trials are evidence, and confirm nothing.
 *  3. Who is over may make others pointless: a size above one that does not
 *     fit, or below one that does. Those are cancelled, and leave no trial.
 *  4. When all are over the trials are concluded, the smallest first, as if
 *     they had been asked one after the other. Only what was seen of device
 *     memory counts. Whatever else ended a probe may be due to the others: that
 *     leaves no trial either, and from then on there is one lane.
 */
#include "launcher/tuning/session_lanes.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/tuning/isolation/memory_left.h"
#include "launcher/tuning/plan/plan_ahead.h"
#include "launcher/tuning/session_limits.h"
#include "launcher/tuning/session_probe.h"
#include "launcher/tuning/session_turn.h"

#include <assert.h>
#include <stdlib.h>

/* Of host memory each lane is given this many times the most that a probe took
 * so far. */
#define HOST_ROOM 2

/* Without a lane beside the first there is still that one. */
static int begin_all(struct session *session, struct session_lane *lanes,
		     size_t count, struct error *err)
{
	struct error why = ERROR_INIT;
	int result = session_probe_begin(session, &lanes[0], err);

	for (size_t i = 1; i < count && result == 0; i++)
		if (!session_loop_must_end(&session->loop) &&
		    session_probe_begin(session, &lanes[i], &why) < 0)
			log_verbose("no probe beside the first: %s",
				    why.message);
	return result;
}

static bool look_at_all(struct session *session, struct session_lane *lanes,
			size_t count)
{
	bool any_runs = false;

	for (size_t i = 0; i < count; i++)
		any_runs |= session_probe_look(session, &lanes[i]);
	return any_runs;
}

/* It would have shown the same alone. */
static bool lane_counts(const struct session_lane *lane)
{
	const struct probe_outcome *outcome = &lane->report.outcome;
	enum verdict verdict = outcome->trial.verdict;

	return lane->report.probe && !lane->is_withdrawn &&
	       outcome->evidence.end.stopped != STOP_OVER_HOST_LIMIT &&
	       (trial_fits(&outcome->trial) || verdict == VERDICT_OVER_BUDGET ||
		verdict == VERDICT_OOM_DEVICE || verdict == VERDICT_TOO_BIG);
}

/* By what one lane showed, is another one's question none any more? */
static bool lane_answers(const struct session_lane *lane, int64_t micro)
{
	int64_t own = lane->step.micro_batch;

	if (!lane_counts(lane))
		return false;
	return trial_fits(&lane->report.outcome.trial) ? micro < own
						       : micro > own;
}

static void withdraw_pointless(struct session *session,
			       struct session_lane *lanes, size_t count)
{
	struct session_loop *loop = &session->loop;

	for (size_t i = 0; i < count; i++) {
		bool is_answered = false;

		for (size_t k = 0; k < count; k++)
			is_answered |= lane_answers(&lanes[k],
						    lanes[i].step.micro_batch);
		if (!loop->lanes[i].probe || lanes[i].is_withdrawn ||
		    !is_answered)
			continue;
		lanes[i].is_withdrawn = true;
		loop->withdrawn++;
		probe_cancel(loop->lanes[i].probe);
	}
}

/* Each to its end. 0, or a negative errno of autofit's own. */
static int run_lanes(struct session *session, struct session_lane *lanes,
		     size_t count, struct error *err)
{
	bool is_watched =
		probe_isolation_shares_memory(&session->kit.isolation);
	struct strlist memory = STRLIST_INIT;
	int result = session_limits_share_again(session, err);

	assert(count >= 1 && count <= SESSION_LANES_MAX);
	if (result < 0)
		return result;
	if (is_watched)
		memory_left_list(&memory);
	session->loop.lane_count = count;
	result = begin_all(session, lanes, count, err);
	while (result == 0 && look_at_all(session, lanes, count)) {
		withdraw_pointless(session, lanes, count);
		(void)uv_run(&session->loop.uv, UV_RUN_ONCE);
	}
	for (size_t i = 0; i < count; i++)
		session_probe_end(session, &lanes[i]);
	session->loop.lane_count = 1;
	if (is_watched)
		memory_left_warn(&memory);
	strlist_release(&memory);
	return result < 0 ? result
			  : device_locks_note_probe(session->given.guard, "",
						    "", err);
}

enum session_turn session_lanes_take_one(struct session *session,
					 const struct plan_step *step)
{
	struct session_lane lane = { .step = *step };
	struct error err = ERROR_INIT;
	int result = run_lanes(session, &lane, 1, &err);
	enum session_turn turn =
		result < 0 ? session_turn_fail(session, &lane.report, &err)
			   : session_turn_conclude(session, &lane.report);

	probe_report_release(&lane.report);
	return turn;
}

/* Why probes of this command run one at a time; NULL: they need not. */
static const char *why_one_lane(const struct session *session)
{
	const struct memory_target *target = session->given.target;
	const struct request *request = session->given.request;
	uint64_t used = target->used_places;
	uint64_t host_room = HOST_ROOM * session->host_peak_bytes;
	const struct {
		bool is_so;
		const char *words;
	} rows[] = {
		{ target->device != PROBE_CUDA, "no GPU is tuned for" },
		{ target->is_phantom, "a phantom's cards are none to be idle" },
		{ target->is_unified, "GPU and host share one memory" },
		{ request->options->probe.shared, "--shared is given" },
		{ request->command.batch.world_size > 1,
		  "the command has several ranks" },
		{ session->plan.takes_fastest,
		  "--objective fastest compares how fast probes are" },
		{ session->kit.isolation.choice.kind == ISOLATION_COMPARE,
		  "only one at a time can be compared with what was there" },
		{ !used, "which GPU the command uses is not known" },
		{ (used & (used - 1)) != 0, "the command uses several GPUs" },
		{ used > 1, "the command uses another GPU than the first one" },
		{ target->host_limit_bytes < 2 * host_room,
		  "host memory has no room for another" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].is_so)
			return rows[i].words;
	return NULL;
}

static void close_lanes(struct session *session, const char *why)
{
	spare_gpus_release(&session->spare);
	log_warning("--parallel: one probe at a time: %s", why);
}

/*
 * Once a probe had a verdict: are there GPUs to run others on? They are looked
 * for once; each probe may show that they are of no use.
 */
static bool may_run_beside(struct session *session)
{
	const struct probe_notes *notes = session->trials.notes;
	const struct trial *last =
		notes->count ? &notes->items[notes->count - 1].trial : NULL;
	bool is_first = !session->spare_is_settled;
	struct error why = ERROR_INIT;
	const char *words;

	if (!session->loop.started || !last ||
	    (!trial_fits(last) && !trial_is_misfit(last)) ||
	    (!is_first && !session->spare.count))
		return false;
	session->spare_is_settled = true;
	words = why_one_lane(session);
	if (words)
		close_lanes(session, words);
	else if (is_first &&
		 !spare_gpus_find(&session->spare, session->given.request,
				  session->given.target, session->given.guard,
				  &why))
		close_lanes(session, why.message);
	return session->spare.count > 0;
}

/* How many probes may run side by side now. */
static size_t lanes_at_most(struct session *session)
{
	const struct options *options = session->given.request->options;
	const struct memory_target *target = session->given.target;
	uint64_t host_room = HOST_ROOM * session->host_peak_bytes;
	int64_t left = options->search.max_probes -
		       session_loop_probes(&session->loop);
	size_t most = SESSION_LANES_MAX;
	size_t idle;

	if (!options->probe.parallel || !may_run_beside(session))
		return 1;
	idle = spare_gpus_look(&session->spare, target);
	if (most > idle + 1)
		most = idle + 1;
	if (host_room && most > target->host_limit_bytes / host_room)
		most = (size_t)(target->host_limit_bytes / host_room);
	if ((int64_t)most > left)
		most = left > 1 ? (size_t)left : 1;
	return most;
}

/* The step's lane, and behind it those for what may be asked after it. */
static size_t plan_lanes(struct session *session, const struct plan_step *step,
			 struct session_lane *lanes)
{
	const struct probe_notes *notes = session->trials.notes;
	struct plan_step steps[SESSION_LANES_MAX];
	size_t most = lanes_at_most(session);
	struct trial *trials;
	size_t count;
	size_t next = 0;

	if (most < 2)
		return 1;
	trials = probe_notes_trials(notes);
	count = plan_ahead(&session->plan, trials, notes->count, steps, most);
	free(trials);
	/* One that is asked for another reason than the plan's. */
	if (!count || steps[0].micro_batch != step->micro_batch ||
	    steps[0].probe_accum != step->probe_accum)
		return 1;
	for (size_t i = 0; i < count; i++) {
		lanes[i].place = i;
		lanes[i].step = i ? steps[i] : *step;
		if (i == 0)
			continue;
		while (!session->spare.gpus[next].is_idle)
			next++;
		lanes[i].gpu = &session->spare.gpus[next++];
		assert(next <= session->spare.count);
	}
	return count;
}

static int lanes_by_size(const void *a, const void *b)
{
	const struct session_lane *left = a;
	const struct session_lane *right = b;

	return (left->step.micro_batch > right->step.micro_batch) -
	       (left->step.micro_batch < right->step.micro_batch);
}

/* What it was that only a probe alone can tell; NULL: nothing. */
static const char *spoiled_by(const struct session_lane *lane)
{
	if (lane_counts(lane) || lane->is_withdrawn)
		return NULL;
	return lane->report.why ? lane->report.why : "one could not be started";
}

static enum session_turn conclude_round(struct session *session,
					struct session_lane *lanes,
					size_t count)
{
	enum session_turn turn = SESSION_GO_ON;
	const char *spoiled = NULL;

	qsort(lanes, count, sizeof(*lanes), lanes_by_size);
	/* Cut short, it ends with what all of them have shown. */
	for (size_t i = 0; i < count && !session->result->message; i++) {
		struct probe_report *report = &lanes[i].report;

		report->gpu = lanes[i].gpu ? lanes[i].gpu->device.uuid : NULL;
		report->round = session->rounds;
		if (lane_counts(&lanes[i]))
			turn = session_turn_conclude(session, report);
		else if (report->probe &&
			 session_turn_has_left(session, report))
			turn = SESSION_END;
		if (!spoiled)
			spoiled = spoiled_by(&lanes[i]);
	}
	if (spoiled && turn != SESSION_END &&
	    !session_loop_must_end(&session->loop))
		close_lanes(session, spoiled);
	return turn;
}

static enum session_turn take_round(struct session *session,
				    struct session_lane *lanes, size_t count)
{
	struct error err = ERROR_INIT;
	enum session_turn turn;

	session->rounds++;
	if (run_lanes(session, lanes, count, &err) < 0)
		turn = session_turn_fail(session, &lanes[0].report, &err);
	else
		turn = conclude_round(session, lanes, count);
	for (size_t i = 0; i < count; i++)
		probe_report_release(&lanes[i].report);
	return turn;
}

enum session_turn session_lanes_take(struct session *session,
				     const struct plan_step *step)
{
	struct session_lane *lanes = xcalloc(SESSION_LANES_MAX, sizeof(*lanes));
	size_t count = plan_lanes(session, step, lanes);
	enum session_turn turn =
		count > 1 ? take_round(session, lanes, count)
			  : session_lanes_take_one(session, step);

	free(lanes);
	return turn;
}
