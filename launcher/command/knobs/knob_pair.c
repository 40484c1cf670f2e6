/* A micro-batch beside a larger batch: the accumulation follows. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_pair.h"

#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_take.h"

static enum command_outcome pair_take(struct recognition *r,
				      enum knob_kind kind,
				      const struct candidate *candidate)
{
	return candidate->token.name
		       ? knob_take(r, kind, &candidate->token)
		       : knob_set_option_default(r, kind, candidate->option);
}

/* What the options that speak of a batch are, of each class. */
struct pair_options {
	struct candidates micro, batch, global;
};

static void pair_options_collect(struct pair_options *options,
				 const struct recognition *r)
{
	*options = (struct pair_options){ 0 };
	by_class_collect(&options->micro, r, CLASSES_MICRO);
	by_class_collect(&options->batch, r, CLASS_BIT(OPTION_BATCH));
	by_class_collect(&options->global, r, CLASS_BIT(OPTION_GLOBAL));
}

/* Of each rank or of all: with one rank that is the same. */
static enum command_outcome whose_is_it(const struct recognition *r,
					const struct candidate *micro,
					const struct candidate *larger)
{
	char words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX], micro_name[BRIEF_MAX];

	if (r->command->batch.world_size == 1)
		return COMMAND_OK;
	candidate_words(words, larger);
	(void)candidate_name(name, larger);
	(void)candidate_name(micro_name, micro);
	return not_recognised(
		r,
		"is %s the batch of all %lld ranks, or of each? Of "
		"all: add --micro-flag %s --global-flag %s; of "
		"each: write {accum} where the accumulation "
		"belongs, with --micro-flag %s",
		words, (long long)r->command->batch.world_size, micro_name,
		name, micro_name);
}

/* One option alone that says all ranks: is accumulation in it? */
static enum command_outcome global_beside_accum(const struct recognition *r,
						const struct candidate *global)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	char words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];

	if (accum->form == KNOB_ABSENT || accum->value <= 1)
		return COMMAND_OK;
	candidate_words(words, global);
	(void)candidate_name(name, global);
	return not_recognised(r,
			      "does %s count the %lld micro-batches of %s too? "
			      "If so, add --global-flag %s; if not, "
			      "--micro-flag %s --micro-scope global",
			      words, (long long)accum->value, accum->name, name,
			      name);
}

enum command_outcome knob_pair_find(struct recognition *r)
{
	const struct knob *knobs = r->command->knobs;
	const struct candidate *micro, *larger;
	struct pair_options options;
	enum command_outcome outcome = COMMAND_OK;

	if (!by_class_applies(r) || r->hints->micro_flag ||
	    knobs[KNOB_MICRO].form != KNOB_ABSENT ||
	    knobs[KNOB_GLOBAL].form != KNOB_ABSENT)
		return COMMAND_OK;
	pair_options_collect(&options, r);
	if (options.micro.count + options.batch.count == 0 &&
	    options.global.count == 1)
		return global_beside_accum(r, &options.global.items[0]);
	if (options.micro.count + options.batch.count + options.global.count !=
		    2 ||
	    options.batch.count == 2 || options.micro.count == 2 ||
	    options.global.count == 2)
		return COMMAND_OK;
	micro = options.micro.count ? &options.micro.items[0]
				    : &options.batch.items[0];
	larger = options.global.count ? &options.global.items[0]
				      : &options.batch.items[0];
	if (!options.global.count)
		outcome = whose_is_it(r, micro, larger);
	if (outcome == COMMAND_OK)
		outcome = pair_take(r, KNOB_MICRO, micro);
	return outcome == COMMAND_OK ? pair_take(r, KNOB_GLOBAL, larger)
				     : outcome;
}
