/* Caveats: what an answer leaves open, in one line each. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_caveats.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/phantom/phantom_trial.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* How much the peak is worth: at most one of these. */
static const char unseen[] =
	"the command ended before its memory was looked at: what it needs was "
	"not seen, only that it ran";
static const char a_pool[] =
	"the program divides a pool of device memory by itself, or nothing "
	"could look at it: what it needs was not seen, the sizes were found by "
	"trying";
static const char without_nvml[] =
	"NVML is not there: what the driver itself takes of device memory may "
	"be missing in the peak";
static const char sampled[] =
	"device memory was sampled from outside (a process of the command did "
	"not load autofit's library, or was too short to compare with): short "
	"peaks may have been missed";
static const char of_kernel[] =
	"what an AMD GPU holds was sampled by the kernel's figures: short "
	"peaks may have been missed";
static const char of_open_files[] =
	"what an Intel GPU holds was sampled by the open files of your "
	"processes: short peaks may have been missed, and what other users "
	"have "
	"there is not seen";
static const char *const of_coverage[] = { unseen,  a_pool,    without_nvml,
					   sampled, of_kernel, of_open_files,
					   NULL };

/* How the peak of one probe grew. */
static const char varies[] = "the peak varies from step to step: the data "
			     "vary, a longer batch may need more";
static const char rose[] = "the peak still rose at the end of the confirmation";
static const char differ[] = "inputs of different sizes went into the model: a "
			     "longer batch may need more";
static const char in_order[] = "its data are not shuffled: what comes later "
			       "was not seen, and may be longer";
static const char batch_norm[] =
	"BatchNorm takes its statistics from the micro-batch";
static const char compares[] =
	"the loss compares the samples of a micro-batch with each other: "
	"another size is another training";
static const char *const of_growth[] = { varies, rose, differ, in_order, NULL };

static bool is_among(const char *const *caveats, const char *caveat)
{
	while (*caveats && strcmp(*caveats, caveat) != 0)
		caveats++;
	return *caveats != NULL;
}

/* "grows with every step", and when that will be too much. */
static void add_trend_caveat(struct record *record, const struct trial *trial)
{
	char step[BYTES_TEXT_MAX], more[BYTES_TEXT_MAX];
	uint64_t growth = trial->step_growth_bytes;
	uint64_t room = record->limit_bytes > trial->peak_bytes
				? record->limit_bytes - trial->peak_bytes
				: 0;
	char *caveat =
		xasprintf("memory grew by about %s with every step: %s more, "
			  "and the limit, after about %llu steps",
			  bytes_format(step, growth), bytes_format(more, room),
			  (unsigned long long)(room / growth));
	strlist_take(&record->caveats, caveat);
}

static void add_growth_caveat(struct record *record, const struct trial *trial)
{
	if (trial && trial->step_growth_bytes)
		add_trend_caveat(record, trial);
	else if (trial && trial->peak_varying)
		strlist_add(&record->caveats, varies);
	else if (trial && trial->peak_rising)
		strlist_add(&record->caveats, rose);
	if (trial && trial->sizes_differ && !trial->peak_varying)
		strlist_add(&record->caveats, differ);
	/* Pictures have no second dimension, and rarely other sizes. */
	else if (trial && trial->data_in_order && trial->input_columns > 1 &&
		 !trial->peak_varying)
		strlist_add(&record->caveats, in_order);
}

/* Who saw a GPU's memory where no library counted it. */
static const char *from_outside(const struct memory_target *target)
{
	const char *const words[] = {
		[GPU_NVIDIA] = target->nvml ? sampled : without_nvml,
		[GPU_AMD] = of_kernel,
		[GPU_INTEL] = of_open_files,
	};

	assert((size_t)target->gpus[0].vendor < sizeof(words) / sizeof(*words));
	return words[target->gpus[0].vendor];
}

static void add_coverage_caveat(struct record *record,
				const struct memory_target *target,
				const struct trial *trial)
{
	bool is_host = target->device == PROBE_HOST;

	if (!trial)
		return;
	if (!trial->peak_bytes)
		strlist_add(&record->caveats, is_host ? unseen : a_pool);
	else if (!is_host && trial->coverage != COVERAGE_EXACT)
		strlist_add(&record->caveats, from_outside(target));
}

/* Does the run do this? Yes, where its settings do not tell. */
static bool may_do(const struct command *command,
		   const struct preset_phase *phase, bool does)
{
	return does || !phase->when.count || !command->preset_is_certain;
}

/* The run does not do it, or a probe came to it. */
static bool is_exercised(const struct command *command, const char *what,
			 const struct trial *trial)
{
	const struct preset_probe *probe = &command->preset->probe;

	if (trial && trial->ran_to_end)
		return true;
	if (strcmp(what, "evaluation") == 0)
		return !may_do(command, &probe->evaluation,
			       command->evaluates) ||
		       (trial && trial->has_evaluated);
	if (strcmp(what, "saving") == 0)
		return !may_do(command, &probe->saving, command->saves) ||
		       (trial && trial->phase == PHASE_SAVE);
	return false;
}

/* Passes that no option of the command speaks of. */
static void add_passes_caveat(const struct session *session,
			      struct record *record, const struct trial *trial)
{
	bool has_knob = command_accumulates(&session->given.request->command);

	if (!trial || trial->steps_source != STEPS_HOOK)
		return;
	if (trial_step_passes(trial) < trial->grad_accum)
		strlist_addf(&record->caveats,
			     "its steps made %lld of %lld backward passes so "
			     "far: a warm-up of the accumulation was not seen "
			     "to its end",
			     (long long)trial->seen_accum,
			     (long long)trial->grad_accum);
	if (trial->seen_accum <= trial->grad_accum ||
	    trial_step_is_whole(trial))
		return;
	assert(trial->grad_accum >= 1);
	strlist_addf(&record->caveats,
		     "each optimizer step was seen to make %lld backward "
		     "passes%s: where they accumulate, the effective batch is "
		     "%lld times what is named here",
		     (long long)trial->seen_accum,
		     has_knob ? "" : ", which no option of the command names",
		     (long long)(trial->seen_accum / trial->grad_accum));
}

/* Numbers that were taken for sizes by their values, and had no other. */
static void add_guess_caveat(const struct session *session,
			     struct record *record)
{
	static const char words[] = "that %s is the %s is told by its value "
				    "alone: it had no other in a probe";
	const struct command *command = &session->given.request->command;
	bool is_micro = command->micro_guess == GUESS_MADE;
	bool is_accum = command->accum_guess == GUESS_MADE;
	struct proved_sizes proved;

	if (!is_micro && !is_accum)
		return;
	proved = session_trials_proved(&session->trials, &command->batch);
	if (is_micro && !proved.micro)
		strlist_addf(&record->caveats, words,
			     command->knobs[KNOB_MICRO].name, "batch size");
	if (is_accum && !proved.accum && command->knobs[KNOB_ACCUM].name)
		strlist_addf(&record->caveats, words,
			     command->knobs[KNOB_ACCUM].name, "accumulation");
	else if (is_accum && !proved.accum && command->knobs[KNOB_GLOBAL].name)
		strlist_addf(&record->caveats, words,
			     command->knobs[KNOB_GLOBAL].name,
			     "batch of a step");
}

/* The data loader gave more rows than were written, on as many ranks as are
 * known: the size may be set elsewhere. */
static bool rows_are_more(const struct command *command,
			  const struct trial *trial)
{
	int64_t micro = trial ? trial->micro_batch : 0;

	return trial && command->knobs[KNOB_MICRO].name &&
	       trial->loader_rows == trial->input_rows &&
	       trial->input_rows > micro &&
	       trial->input_rows !=
		       count_product(micro, command->batch.world_size);
}

/* Its passes took a part of the micro-batch, and all of a step no more: more
 * may come later. Rows that are time, and one row of packed samples, say
 * nothing. */
static bool rows_are_fewer(const struct command *command,
			   const struct trial *trial)
{
	return trial && trial->input_rows > 1 &&
	       trial->input_rows < trial->micro_batch &&
	       trial->input_columns != trial->micro_batch &&
	       command->knobs[KNOB_MICRO].unit == UNIT_PLAIN &&
	       !trial_step_is_whole(trial);
}

bool session_rows_differ(const struct command *command,
			 const struct trial *trial)
{
	return rows_are_more(command, trial) || rows_are_fewer(command, trial);
}

/* Other rows than were written; of a part that the user speaks of the effective
 * batch is a part, too. */
static void add_rows_caveat(const struct command *command,
			    struct record *record, const struct trial *trial)
{
	if (rows_are_more(command, trial))
		strlist_addf(&record->caveats,
			     "a data loader gave batches of %lld where micro "
			     "%lld was written: %s may not be what sets them, "
			     "and the effective batch another",
			     (long long)trial->input_rows,
			     (long long)trial->micro_batch,
			     command->knobs[KNOB_MICRO].name);
	if (rows_are_fewer(command, trial))
		strlist_addf(&record->caveats,
			     "a pass was seen to take %lld rows where micro "
			     "%lld was written: %s",
			     (long long)trial->input_rows,
			     (long long)trial->micro_batch,
			     command->micro_scope_is_said
				     ? "the effective batch is that part of "
				       "what is named here"
				     : "what as many take was not seen, as "
				       "where the batch grows with the steps");
}

/* Less is what ranks differ by that do the same. */
#define SPREAD_PERCENT 10

/* One GPU bounds the size of all. */
static void add_spread_caveat(const struct session *session,
			      struct record *record, const struct trial *trial)
{
	const struct gpu_spread *spread = &session->spread;
	const struct memory_target *target = session->given.target;
	char most[BYTES_TEXT_MAX];
	char others[BYTES_TEXT_MAX];
	char rank[32] = "";

	if (!trial || target->device != PROBE_CUDA ||
	    session->spread_micro != trial->micro_batch ||
	    !spread->others_peak_bytes ||
	    spread->peak_bytes - spread->others_peak_bytes <
		    spread->peak_bytes / 100 * SPREAD_PERCENT)
		return;
	assert(spread->place < target->gpu_count);
	assert(spread->peak_bytes >= spread->others_peak_bytes);
	if (spread->rank >= 0)
		(void)snprintf(rank, sizeof(rank), "rank %d on ", spread->rank);
	strlist_addf(&record->caveats,
		     "%sGPU %d takes %s, the others %s at most: it bounds the "
		     "size of all ranks",
		     rank, target->gpus[spread->place].index,
		     bytes_format(most, spread->peak_bytes),
		     bytes_format(others, spread->others_peak_bytes));
}

/* Rows that the last batch of an epoch has less than the others. */
static int64_t missing_rows(int64_t data_rows, int64_t micro)
{
	return (micro - data_rows % micro) % micro;
}

/* Of few data the last batch is a large part of an epoch, and of its steps. */
#define SHORT_BATCH_PERCENT 5

static void add_data_caveat(const struct command *command,
			    struct record *record, const struct trial *trial)
{
	int64_t micro = trial->micro_batch;
	int64_t own = command->batch.micro_batch;
	int64_t data = trial->data_rows;
	int64_t missing;

	if (micro < 1 || own < 1 || data < micro || trial->loader_rows != micro)
		return;
	missing = missing_rows(data, micro);
	if (missing <= missing_rows(data, own) ||
	    (double)missing * 100 <= (double)data * SHORT_BATCH_PERCENT)
		return;
	strlist_addf(&record->caveats,
		     "its data loader has %lld samples: the last batch of an "
		     "epoch has %lld rows, so that its step has fewer than the "
		     "effective batch, or the loader leaves them out",
		     (long long)data, (long long)(micro - missing));
}

/* With another micro-batch some things differ, although E is kept. */
static void add_split_caveats(const struct session *session,
			      struct record *record, const struct trial *trial)
{
	const struct command *command = &session->given.request->command;

	strlist_add_all(&record->caveats,
			(const char *const *)command->caveats.items,
			command->caveats.count);
	if (trial && trial->has_batch_norm)
		strlist_add(&record->caveats, batch_norm);
	if (trial && trial->compares)
		strlist_add(&record->caveats, compares);
	if (trial)
		add_data_caveat(command, record, trial);
	if (trial && trial->steps_source == STEPS_LOG &&
	    command->batch.grad_accum > 1 && session->plan.takes_fastest)
		strlist_add(&record->caveats,
			    "its output may count micro-steps: whether your "
			    "split is faster is not known");
}

void session_caveats_add(struct session *session, const struct trial *trial)
{
	const struct command *command = &session->given.request->command;
	const struct strlist *left_out = &command->preset->probe.not_exercised;
	struct record *record = &session->result->record;

	phantom_trial_add_caveats(&session->given.request->options->target,
				  &record->caveats);
	for (size_t i = 0; i < left_out->count; i++)
		if (!is_exercised(command, left_out->items[i], trial))
			strlist_add(&record->not_exercised, left_out->items[i]);
	if (trial && trial->has_frozen)
		strlist_add(&record->not_exercised,
			    "training of what is frozen");
	if (record->batch.micro_batch != command->batch.micro_batch)
		add_split_caveats(session, record, trial);
	if (command->open_ranks)
		strlist_addf(&record->caveats,
			     "the effective batch is that of %lld %s: %s",
			     (long long)record->batch.world_size,
			     record->batch.world_size == 1 ? "rank" : "ranks",
			     command->open_ranks);
	add_coverage_caveat(record, session->given.target, trial);
	add_growth_caveat(record, trial);
	add_spread_caveat(session, record, trial);
	add_passes_caveat(session, record, trial);
	add_rows_caveat(command, record, trial);
	add_guess_caveat(session, record);
	if (trial && trial->steps_source == STEPS_TIME)
		strlist_add(&record->caveats,
			    "no step was seen: judged by time without growth");
	if (trial && trial_may_count_passes(trial) && !trial->ran_to_end &&
	    trial->steps <= trial->grad_accum)
		strlist_add(&record->caveats,
			    "its output may count micro-steps: then no step of "
			    "the optimizer was seen");
	if (trial && trial->steps_source == STEPS_EXIT && !trial->steps)
		strlist_add(&record->caveats,
			    "no step was seen: judged by its end, with status "
			    "0");
	if (session->kit.without_hook || session->kit.without_args ||
	    session->kit.without_output)
		strlist_add(&record->caveats,
			    "probes ran without autofit's additions, which "
			    "the command does not take");
}

/* What was sampled from outside may have varied by when it was looked at. */
void session_caveats_renew(struct session *session, const struct record *older,
			   const struct trial *check)
{
	struct record *record = &session->result->record;
	bool sees_more = check->coverage == COVERAGE_EXACT &&
			 older->coverage != COVERAGE_EXACT;

	for (size_t i = 0; i < older->caveats.count; i++) {
		const char *caveat = older->caveats.items[i];

		if (!is_among(of_coverage, caveat) &&
		    !(sees_more && is_among(of_growth, caveat)))
			strlist_add(&record->caveats, caveat);
	}
	if (sees_more)
		add_growth_caveat(record, check);
	add_coverage_caveat(record, session->given.target, check);
}
