/* Is a probe to go on? What its readings say of that, at each look. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include <assert.h>

/* So many looks at inputs of one size are believed. */
#define SAME_SIZES_MIN 5
/* After the steps that are enough, for the passes that settle a peak. */
#define SETTLING_MS 4000
/* A step shows the highest of all its passes, one of them only its own. */
#define DRAWS_OF_STEP 5
/* After the third step of the output, for the optimizer's first. */
#define UPDATE_MS 30000

/*
 * Would more of the second step than its first passes take more memory? What
 * each pass keeps until the step is over shows in their peaks, once these are
 * above that of the first step, by what the optimizer keeps. Else the first
 * step, which ended without that, may hide it: then the second must end as
 * well.
 */
static bool step_may_grow(const struct probe *probe)
{
	const struct step_peaks *peaks = &probe->readings.peaks;
	const struct growth_noise *noise = probe_noise(probe);

	if (step_peaks_would_rise(peaks, probe->spec.grad_accum, noise))
		return true;
	return probe->readings.python.steps < 2 &&
	       !step_peaks_rose(peaks->bytes[0], peaks->bytes[2], noise);
}

/*
 * What goes in has one size, and no step takes or keeps more than those before.
 * Where passes count as steps, an earlier probe saw that it has.
 */
static bool probe_repeats_itself(const struct probe *probe)
{
	const struct step_peaks *peaks = &probe->readings.peaks;
	const struct growth_noise *noise = probe_noise(probe);
	uint64_t same = probe->readings.python.same_sizes;

	if (probe_passes(probe) ? !same || step_may_grow(probe)
				: same < SAME_SIZES_MIN)
		return false;
	return !(probe->readings.python.flags & CHANNEL_HOLDS_MORE) &&
	       !step_peaks_are_rising(peaks, noise) &&
	       !step_peaks_are_varying(peaks, noise);
}

/* After so many passes, or where it may come later: then the run has room. */
static bool peak_has_settled(const struct probe *probe, int64_t passes,
			     uint64_t peak_bytes)
{
	return peak_bytes <= probe->spec.confirmation.settles_above_bytes ||
	       passes >= probe_noise(probe)->settling_passes;
}

/*
 * As many whole steps as are enough where all are alike, and as many passes as
 * a peak takes to settle, if these come soon. Or, where passes count as steps
 * do, that many after the last whole step, and in all as many as a peak takes.
 */
static bool same_steps_were_seen(const struct probe *probe, int64_t steps,
				 const struct lifecycle_facts *facts)
{
	const struct probe_confirmation *wanted = &probe->spec.confirmation;
	const struct step_peaks *peaks = &probe->readings.peaks;
	int64_t accum = probe->spec.grad_accum;
	int64_t passes = probe_passes(probe);
	int64_t same = wanted->steps_same;

	if (steps >= same)
		return peak_has_settled(probe, steps * accum,
					facts->peak_bytes) ||
		       peaks->steps < same ||
		       facts->now_ms - peaks->ms[same - 1] >= SETTLING_MS;
	return passes &&
	       peak_has_settled(probe, passes + accum, facts->peak_bytes) &&
	       passes >= same - 1 + (wanted->whole_steps - 1) * accum;
}

/* Peaks that come by chance do so with each pass of an accumulation. */
static bool enough_was_drawn(const struct probe *probe, int64_t steps,
			     const struct lifecycle_facts *facts)
{
	const struct probe_confirmation *wanted = &probe->spec.confirmation;
	int64_t passes = steps * probe->spec.grad_accum;

	if (steps >= wanted->steps)
		return true;
	return wanted->draws_passes && probe_later_passes(probe) &&
	       steps >= wanted->steps_min &&
	       passes >= wanted->steps * DRAWS_OF_STEP &&
	       peak_has_settled(probe, passes, facts->peak_bytes) &&
	       !step_peaks_are_rising(&probe->readings.peaks,
				      probe_noise(probe));
}

static bool confirmation_is_done(const struct probe *probe,
				 const struct lifecycle_facts *facts)
{
	const struct probe_confirmation *wanted = &probe->spec.confirmation;
	const struct step_peaks *peaks = &probe->readings.peaks;
	int64_t third = peaks->steps >= 3 ? peaks->ms[2] : 0;
	/* Data that vary are watched for twice as long. */
	int64_t factor =
		step_peaks_are_varying(peaks, probe_noise(probe)) ? 2 : 1;
	enum steps_source source;
	int64_t steps = probe_steps(probe, &source);

	if (probe->course.by_time || enough_was_drawn(probe, steps, facts))
		return true;
	/* The first steps of a compiled model are not like the others. */
	if (same_steps_were_seen(probe, steps, facts) &&
	    facts->steps >= probe->course.limits.steps_needed &&
	    probe_repeats_itself(probe))
		return true;
	return steps >= wanted->steps_min &&
	       facts->now_ms - third >= wanted->ms * factor;
}

/* Which device decides, and how many steps, is known only on the way. */
static void update_limits(struct probe *probe)
{
	const struct lifecycle_limits *given = &probe->spec.limits;
	struct lifecycle_limits *limits = &probe->course.limits;

	limits->limit_bytes = probe_is_cuda(probe) ? given->limit_bytes
						   : given->host_limit_bytes;
	limits->noise = *probe_noise(probe);
	if (probe->readings.python.flags & CHANNEL_COMPILED)
		limits->steps_needed = probe->spec.steps_needed_compiled;
}

/* Steps that the output counts may be ahead of what was computed. */
static bool output_is_ahead(const struct probe *probe)
{
	enum steps_source source;

	(void)probe_steps(probe, &source);
	return source == STEPS_LOG && probe_memory_comes(probe);
}

/*
 * What the output counts may be micro-steps. Then the optimizer makes its first
 * step after all of an accumulation, and one more shows that it was made. They
 * are waited for up to UPDATE_MS, for they may be whole steps after all.
 */
static bool output_awaits_update(const struct probe *probe,
				 const struct lifecycle_facts *facts)
{
	const struct step_peaks *peaks = &probe->readings.peaks;
	enum steps_source source;
	int64_t steps = probe_steps(probe, &source);

	return source == STEPS_LOG &&
	       probe->spec.confirmation.counts_may_be_passes &&
	       steps <= probe->spec.grad_accum && peaks->steps >= 3 &&
	       facts->now_ms - peaks->ms[2] < UPDATE_MS;
}

/* Once it is decided: what must stop it, or a confirmation that is done. */
static enum stop_reason decide_further(struct probe *probe,
				       const struct lifecycle_facts *facts)
{
	const struct probe_course *course = &probe->course;
	enum stop_reason breach = lifecycle_breach(&course->limits, facts);

	if (breach != STOP_NONE)
		return breach;
	return course->confirming && confirmation_is_done(probe, facts) &&
			       !probe_watch_awaits(probe) &&
			       !output_is_ahead(probe) &&
			       !output_awaits_update(probe, facts)
		       ? STOP_ENOUGH
		       : STOP_NONE;
}

/* What the last look comes to. */
static struct lifecycle_step judge_look(struct probe *probe)
{
	const struct probe_course *course = &probe->course;
	struct lifecycle_facts facts = probe_watch_facts(probe);
	struct lifecycle_step step = { .action = LIFECYCLE_GO_ON };

	if (course->decided) {
		step.reason = decide_further(probe, &facts);
		if (step.reason != STOP_NONE)
			step.action = LIFECYCLE_STOP;
		return step;
	}
	step = lifecycle_next(&course->limits, &facts, &probe->readings.peaks);
	if (step.action == LIFECYCLE_DECIDED &&
	    (probe_watch_more(probe) || output_is_ahead(probe) ||
	     output_awaits_update(probe, &facts)))
		step.action = LIFECYCLE_GO_ON;
	return step;
}

static bool rests_on_the_peak(const struct lifecycle_step *step)
{
	return step->action == LIFECYCLE_DECIDED ||
	       (step->action == LIFECYCLE_STOP && step->reason == STOP_ENOUGH);
}

enum stop_reason probe_decide(struct probe *probe)
{
	struct probe_course *course = &probe->course;
	struct lifecycle_step step;

	update_limits(probe);
	if (probe->readings.would_leave)
		return STOP_CANCELLED;
	step = judge_look(probe);
	if (rests_on_the_peak(&step) && probe_watch_catches_up(probe))
		step = judge_look(probe);
	if (step.action == LIFECYCLE_DECIDED) {
		course->decided = true;
		course->by_time = step.by_time;
		course->state = PROBE_DECIDED;
	}
	assert(step.action != LIFECYCLE_STOP || step.reason != STOP_NONE);
	return step.action == LIFECYCLE_STOP ? step.reason : STOP_NONE;
}
