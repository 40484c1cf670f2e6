/* Do the sizes mean what the words of the command say? Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/meaning.h"

#include "launcher/tuning/effect/number_by_value.h"

#include <assert.h>
#include <string.h>

static int64_t ranks_of(const struct trial *trial)
{
	return trial->seen_ranks > 0 ? trial->seen_ranks : 1;
}

/* a x b == product, without overflow. */
static bool multiplies(int64_t a, int64_t b, int64_t product)
{
	int64_t result;

	return !__builtin_mul_overflow(a, b, &result) && result == product;
}

bool meaning_is_default(const struct command *command, enum knob_kind kind)
{
	const struct knob *knob = &command->knobs[kind];

	return knob->form == KNOB_DEFAULT && !knob->is_said;
}

/* Numbers that are given make others than they are, too: what its default makes
 * does not say what it is. Where they all make the same, they say nothing; but
 * the default itself is given when they make as many times it. */
static bool is_as_read(const struct knob *knob, int64_t own, int64_t written,
		       int64_t made)
{
	int64_t product;

	return knob->as_read && knob->as_read != own && written != own &&
	       knob->scope == SCOPE_RANK && made > 0 && made != written &&
	       (made != own ||
		(!__builtin_mul_overflow(written, own, &product) &&
		 multiplies(made, knob->as_read, product)));
}

/* The own sizes were taken for others than were read, by what they made. */
static bool defaults_are_as_read(const struct command *command,
				 const struct batch *written,
				 const struct trial *trial,
				 struct seen_meaning *seen)
{
	const struct knob *micro = &command->knobs[KNOB_MICRO];
	const struct knob *accum = &command->knobs[KNOB_ACCUM];
	const struct batch *own = &command->batch;

	if (is_as_read(micro, own->micro_batch, written->micro_batch,
		       trial->input_rows))
		seen->micro_default = micro->as_read;
	if (is_as_read(accum, own->grad_accum, written->grad_accum,
		       trial->seen_accum))
		seen->accum_default = accum->as_read;
	return seen->micro_default || seen->accum_default;
}

/* It is seen once. */
static bool is_unseen_default(const struct command *command,
			      enum knob_kind kind)
{
	return meaning_is_default(command, kind) &&
	       !command->knobs[kind].as_read;
}

/* The own sizes ran as the command has them: what nobody gave is seen now. */
static bool defaults_differ(const struct command *command,
			    const struct batch *written,
			    const struct trial *trial,
			    struct seen_meaning *seen)
{
	const struct batch *own = &command->batch;

	if (is_unseen_default(command, KNOB_MICRO) &&
	    written->micro_batch == own->micro_batch &&
	    trial->input_rows != written->micro_batch &&
	    trial->input_columns != written->micro_batch &&
	    (!trial->loader_rows || trial->loader_rows == trial->input_rows))
		seen->micro_default = trial->input_rows;
	if (is_unseen_default(command, KNOB_ACCUM) &&
	    written->grad_accum == own->grad_accum && trial->seen_accum &&
	    trial->seen_accum != written->grad_accum)
		seen->accum_default = trial->seen_accum;
	return seen->micro_default || seen->accum_default;
}

/* Rows of the very size that was written, which was divided by the ranks when
 * it was read. A loader that gives less is no reading: each row came twice. */
static bool micro_is_whole(const struct command *command,
			   const struct batch *written,
			   const struct trial *trial, struct seen_meaning *seen)
{
	const struct knob *micro = &command->knobs[KNOB_MICRO];

	if (micro->form == KNOB_ABSENT || micro->scope == SCOPE_RANK ||
	    written->world_size == 1 ||
	    (trial->loader_rows && trial->loader_rows != trial->input_rows) ||
	    !multiplies(written->micro_batch, written->world_size,
			trial->input_rows))
		return false;
	seen->micro_is_rank = true;
	return true;
}

/* So many samples in each of all passes are the size that was written. */
static bool are_pieces(const struct batch *written, const struct trial *trial,
		       int64_t samples)
{
	int64_t passes = trial->seen_accum;
	int64_t step;

	return passes >= 2 &&
	       !__builtin_mul_overflow(passes, ranks_of(trial), &step) &&
	       (multiplies(samples, passes, written->micro_batch) ||
		multiplies(samples, step, written->micro_batch));
}

static bool is_in_pieces(const struct batch *written, const struct trial *trial)
{
	return are_pieces(written, trial, trial->input_rows);
}

/* The samples of a pass are its rows, or where time comes first its columns,
 * if these with the passes are the size that was written. */
static int64_t piece_of(const struct batch *written, const struct trial *trial)
{
	return !is_in_pieces(written, trial) && trial->input_columns > 1 &&
			       are_pieces(written, trial, trial->input_columns)
		       ? trial->input_columns
		       : trial->input_rows;
}

/* {micro} stands where no option has a name to be given. */
static bool is_marked(const struct knob *knob)
{
	return knob->form == KNOB_PLACEHOLDER || knob->form == KNOB_ENVIRONMENT;
}

/* Rows that are a known part of the size that was written. */
static bool micro_is_more(const struct command *command,
			  const struct batch *written,
			  const struct trial *trial, struct seen_meaning *seen)
{
	const struct knob *micro = &command->knobs[KNOB_MICRO];
	int64_t ranks = ranks_of(trial);

	if (trial->input_rows == written->micro_batch ||
	    micro->form == KNOB_ABSENT || micro->scope == SCOPE_NODE ||
	    command->micro_scope_is_said)
		return false;
	if (ranks > 1 && micro->scope == SCOPE_RANK &&
	    multiplies(trial->input_rows, ranks, written->micro_batch)) {
		seen->micro_is_global = true;
		return true;
	}
	if (command->knobs[KNOB_GLOBAL].form != KNOB_ABSENT || !micro->name ||
	    is_marked(micro) || strlen(micro->name) >= SEEN_NAME_MAX)
		return false;
	/* A size over all ranks was divided by them when it was read. */
	if (micro->scope == SCOPE_RANK
		    ? !are_pieces(written, trial, piece_of(written, trial))
		    : trial->seen_accum < 2 ||
			      !multiplies(trial->input_rows, trial->seen_accum,
					  written->micro_batch))
		return false;
	memcpy(seen->global_flag, micro->name, strlen(micro->name) + 1);
	return true;
}

/* The own size ran, and the program made its loader with a smaller one: what
 * was read is not its batch size, or a part of it that nothing names; where
 * it is marked, it may be the whole batch. */
static bool loader_is_smaller(const struct command *command,
			      const struct batch *written,
			      const struct trial *trial)
{
	const struct knob *micro = &command->knobs[KNOB_MICRO];

	return written->micro_batch == command->batch.micro_batch &&
	       (trial->loader_rows == trial->input_rows ||
		(is_marked(micro) && is_in_pieces(written, trial))) &&
	       trial->input_rows < written->micro_batch &&
	       micro->form != KNOB_ABSENT && !command->micro_scope_is_said;
}

/* The whole batch was written, and the loader made less of it than that. */
static bool whole_is_missed(const struct command *command,
			    const struct batch *written,
			    const struct trial *trial)
{
	int64_t ranks = written->world_size > trial->seen_ranks
				? written->world_size
				: trial->seen_ranks;
	int64_t whole, seen;

	return command->knobs[KNOB_GLOBAL].form != KNOB_ABSENT &&
	       trial->seen_accum && trial->loader_rows == trial->input_rows &&
	       !__builtin_mul_overflow(written->micro_batch,
				       written->grad_accum, &whole) &&
	       !__builtin_mul_overflow(whole, written->world_size, &whole) &&
	       !__builtin_mul_overflow(trial->input_rows, trial->seen_accum,
				       &seen) &&
	       !__builtin_mul_overflow(seen, ranks, &seen) && seen < whole;
}

/* The ranks share the passes that were written, or each makes all of them. */
static bool accum_scope_differs(const struct knob *accum,
				const struct batch *written,
				const struct trial *trial,
				struct seen_meaning *seen)
{
	bool is_total = accum->scope == SCOPE_TOTAL;
	int64_t ranks = ranks_of(trial);

	if (accum->form == KNOB_ABSENT || ranks == 1)
		return false;
	seen->accum_is_total = !is_total && multiplies(trial->seen_accum, ranks,
						       written->grad_accum);
	seen->accum_is_rank =
		is_total && multiplies(written->grad_accum, written->world_size,
				       trial->seen_accum);
	return seen->accum_is_total || seen->accum_is_rank;
}

/* No option is known to count the passes: one number is as many, or as many as
 * the rows of all. */
static bool passes_are_found(const struct command *command,
			     const struct batch *written,
			     const struct trial *trial,
			     struct seen_meaning *seen)
{
	int64_t whole;

	return passes_number_find(command, trial->seen_accum, seen) ||
	       (trial->seen_accum > 1 &&
		trial->input_rows == written->micro_batch &&
		!__builtin_mul_overflow(trial->input_rows, trial->seen_accum,
					&whole) &&
		!__builtin_mul_overflow(whole, ranks_of(trial), &whole) &&
		whole_number_find(command, whole, seen));
}

/* True: the passes are not those that were written. */
static bool passes_differ(const struct command *command,
			  const struct batch *written,
			  const struct trial *trial, struct size_meaning *out)
{
	const struct knob *accum = &command->knobs[KNOB_ACCUM];
	int64_t passes = trial->seen_accum;
	bool has_knob = command_accumulates(command);

	if (!passes || passes == written->grad_accum)
		return false;
	if (command->accum_guess == GUESS_MADE) {
		out->seen.accum_guess = GUESS_FAILED;
		out->state = MEANING_OTHER;
	} else if (accum_scope_differs(accum, written, trial, &out->seen) ||
		   (!has_knob &&
		    passes_are_found(command, written, trial, &out->seen))) {
		out->state = MEANING_OTHER;
	} else if (has_knob &&
		   (passes % written->grad_accum != 0 ||
		    (passes == command->batch.grad_accum && passes > 1))) {
		/* Fewer passes than were written, or none that belong to it. */
		out->state = MEANING_NO_SENSE;
	}
	return true;
}

/*
 * Fewer ranks share gradients than were read, or some where nothing starts
 * any. More of them below a launcher may share a model's parts instead.
 */
static bool ranks_differ(const struct command *command,
			 const struct batch *written, const struct trial *trial)
{
	if (trial->seen_ranks < 1)
		return false;
	return trial->seen_ranks < written->world_size ||
	       (trial->seen_ranks > 1 && written->world_size == 1 &&
		!command->view.launcher);
}

/* What a whole batch is cut by must be known, to be changed: the number of its
 * passes, or the rows of each. */
static bool pieces_are_known(const struct command *command,
			     const struct trial *trial, int64_t piece,
			     struct seen_meaning *seen)
{
	return command->knobs[KNOB_ACCUM].form != KNOB_ABSENT ||
	       passes_number_find(command, trial->seen_accum, seen) ||
	       part_number_find(command, piece, seen);
}

/* What else than the ranks is not as it was read. */
static void sizes_judge(const struct command *command,
			const struct batch *written, const struct trial *trial,
			struct size_meaning *out)
{
	if (whole_is_missed(command, written, trial)) {
		out->state = MEANING_NO_SENSE;
		out->nonsense = NONSENSE_WHOLE;
		return;
	}
	if (defaults_are_as_read(command, written, trial, &out->seen)) {
		out->state = MEANING_OTHER;
		return;
	}
	/* The rows of the own size, with another one: it has no effect. */
	if (written->micro_batch != command->batch.micro_batch &&
	    trial->input_rows == command->batch.micro_batch) {
		if (command->micro_guess == GUESS_MADE)
			out->seen.micro_guess = GUESS_FAILED;
		else if (command->accum_guess == GUESS_MADE &&
			 trial->seen_accum == command->batch.grad_accum)
			out->seen.accum_guess = GUESS_FAILED;
		else
			return;
		out->state = MEANING_OTHER;
		return;
	}
	if (defaults_differ(command, written, trial, &out->seen) ||
	    micro_is_whole(command, written, trial, &out->seen) ||
	    micro_is_more(command, written, trial, &out->seen)) {
		out->state = !out->seen.global_flag[0] ||
					     pieces_are_known(
						     command, trial,
						     piece_of(written, trial),
						     &out->seen)
				     ? MEANING_OTHER
				     : MEANING_NO_SENSE;
		return;
	}
	if (loader_is_smaller(command, written, trial)) {
		out->state = MEANING_NO_SENSE;
		out->nonsense = is_marked(&command->knobs[KNOB_MICRO]) &&
						is_in_pieces(written, trial)
					? NONSENSE_MARKED
					: NONSENSE_ROWS;
		return;
	}
	if (!passes_differ(command, written, trial, out) && trial->seen_accum &&
	    trial->input_rows == written->micro_batch)
		out->state = MEANING_AGREES;
}

/* A whole batch is known, and the loader gives that, or a part of it for each
 * rank: the program cuts it into so many passes. */
static bool loader_is_cut(const struct command *command,
			  const struct trial *trial)
{
	const struct knob *global = &command->knobs[KNOB_GLOBAL];
	int64_t ranks = ranks_of(trial);
	int64_t whole;

	return global->form != KNOB_ABSENT && global->value > 0 &&
	       multiplies(trial->input_rows, trial->seen_accum,
			  trial->loader_rows) &&
	       !__builtin_mul_overflow(trial->loader_rows, ranks, &whole) &&
	       (trial->loader_rows == global->value || whole == global->value);
}

/* The rows of a pass say which number is the batch size, and its passes which
 * one counts them. Of a whole batch one of both is enough. */
static void rows_judge(const struct command *command, const struct trial *trial,
		       struct size_meaning *out)
{
	bool is_cut = loader_is_cut(command, trial);

	out->state = MEANING_NO_SENSE;
	if (trial->loader_rows && trial->loader_rows != trial->input_rows &&
	    !is_cut)
		return;
	if (is_cut ? !pieces_are_known(command, trial, trial->input_rows,
				       &out->seen)
		   : !rows_number_find(command, trial, &out->seen))
		return;
	out->state = MEANING_OTHER;
	if (!is_cut && trial->seen_accum != trial->input_rows &&
	    !command_accumulates(command))
		(void)passes_number_find(command, trial->seen_accum,
					 &out->seen);
}

struct size_meaning meaning_judge(const struct command *command,
				  const struct batch *written,
				  const struct trial *trial)
{
	struct size_meaning out = { .state = MEANING_UNSEEN };

	assert(written->micro_batch >= 1 && written->grad_accum >= 1);
	if (command_rows_are_open(command)) {
		rows_judge(command, trial, &out);
		return out;
	}
	if (trial->steps_source != STEPS_HOOK || !trial->input_rows)
		return out;
	sizes_judge(command, written, trial, &out);
	if (ranks_differ(command, written, trial)) {
		out.seen.ranks = trial->seen_ranks;
		if (out.state != MEANING_NO_SENSE)
			out.state = MEANING_OTHER;
	}
	return out;
}

bool meaning_passes_follow(const struct trial *one, const struct trial *other)
{
	int64_t product;

	return one->seen_accum > 0 && one->grad_accum != other->grad_accum &&
	       !__builtin_mul_overflow(one->seen_accum, other->grad_accum,
				       &product) &&
	       multiplies(other->seen_accum, one->grad_accum, product);
}

bool meaning_is_proved(const struct trial *by, const struct trial *other)
{
	return by->grad_accum >= 2 && trial_step_is_whole(by) &&
	       other->input_rows != other->micro_batch;
}
