/* A micro-batch beside a larger batch: the accumulation follows. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_pair.h"

#include "launcher/command/files/source_shares.h"
#include "launcher/command/knobs/advice.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/file_find.h"
#include "launcher/command/knobs/knob_accum.h"
#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_in_file.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/text/names.h"

#include <string.h>

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

/*
 * A size that nobody gave, in a script that reads the larger batch and not
 * that one, is of something else: a learning rate that follows it, say.
 */
static void drop_idle_micro(struct pair_options *options,
			    const struct recognition *r)
{
	const struct candidates *larger =
		options->global.count ? &options->global : &options->batch;
	char name[BRIEF_MAX], larger_name[BRIEF_MAX];

	if (options->micro.count == 1 && !options->micro.items[0].token.name &&
	    larger->count == 1 &&
	    !knob_scope_is_read(
		    r, candidate_name(name, &options->micro.items[0])) &&
	    knob_scope_is_read(r,
			       candidate_name(larger_name, &larger->items[0])))
		options->micro.count = 0;
}

static void drop_part(struct pair_options *options)
{
	if (options->global.count == 1 && options->batch.count == 1 &&
	    options->micro.count == 0 &&
	    knob_scope_is_part(options->global.items[0].value,
			       options->batch.items[0].value))
		options->global.count = 0;
}

static void pair_options_collect(struct pair_options *options,
				 const struct recognition *r)
{
	struct candidates all = { .count = 0 };

	options->micro.count = options->batch.count = options->global.count = 0;
	by_class_collect(&all, r,
			 CLASSES_MICRO | CLASS_BIT(OPTION_BATCH) |
				 CLASS_BIT(OPTION_GLOBAL));
	for (size_t i = 0; i < all.count; i++) {
		enum option_class class =
			by_class_of_candidate(r, &all.items[i]);
		struct candidates *of = &options->micro;

		if (class == OPTION_BATCH)
			of = &options->batch;
		else if (class == OPTION_GLOBAL)
			of = &options->global;
		of->items[of->count++] = all.items[i];
	}
	drop_idle_micro(options, r);
	drop_part(options);
}

/* --batch-gpu without a default, which would limit a pass: all of a rank's
 * share is one without it. NULL: there is none, or several. */
static const struct source_option *unset_micro(const struct recognition *r)
{
	const struct source_option *found = NULL;

	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];
		const struct candidate candidate = { .option = option };

		if (option->is_switch || option->kind != SOURCE_NONE ||
		    by_class_of_candidate(r, &candidate) != OPTION_MICRO)
			continue;
		if (found)
			return NULL;
		found = option;
	}
	return found;
}

/* The script computes the total batch, whatever is said of it. */
static bool makes_total(const struct recognition *r, const char *name)
{
	char variable[NAME_MAX_BYTES];
	bool is_number;

	return r->text &&
	       source_overwrites(r->text,
				 knob_scope_variable(r, name, variable),
				 &is_number);
}

/* It beside the one batch, if that is known to be of all ranks. False: it is
 * not, or they do not share it evenly. */
static bool takes_unset(struct recognition *r, const struct candidate *only,
			bool is_global, struct source_option *micro)
{
	const struct source_option *unset = unset_micro(r);
	enum knob_scope scope = SCOPE_RANK;
	char name[BRIEF_MAX];
	int64_t total;

	/* Some of one rank make another total: world * args.local_batch. */
	if (!unset || makes_total(r, candidate_name(name, only)) ||
	    r->command->knobs[KNOB_ACCUM].form != KNOB_ABSENT ||
	    !count_parse(only->value, &total) ||
	    total % r->command->batch.world_size != 0)
		return false;
	if (!is_global &&
	    (!knob_scope_said(r, candidate_name(name, only), &scope) ||
	     scope != SCOPE_GLOBAL))
		return false;
	*micro = *unset;
	micro->kind = SOURCE_INTEGER;
	micro->value = total / r->command->batch.world_size;
	return true;
}

/* One option alone, beside an accumulation: is that in it? */
static enum command_outcome
alone_take(struct recognition *r, const struct candidate *only, bool is_global)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	struct knob *global = &r->command->knobs[KNOB_GLOBAL];
	char words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];
	struct source_option micro;

	(void)candidate_name(name, only);
	if (takes_unset(r, only, is_global, &micro)) {
		enum command_outcome outcome =
			knob_set_option_default(r, KNOB_MICRO, &micro);

		r->command->knobs[KNOB_MICRO].follows = true;
		return outcome == COMMAND_OK ? pair_take(r, KNOB_GLOBAL, only)
					     : outcome;
	}
	if (accum->form == KNOB_ABSENT)
		return COMMAND_OK;
	if (knob_scope_holds_accum(r, name) || knob_accum_splits(r)) {
		if (!is_global && !r->hints->global_scope)
			(void)knob_scope_said(r, name, &global->scope);
		return pair_take(r, KNOB_GLOBAL, only);
	}
	/* With one pass it is the same, but what is tried has more. */
	if (!is_global && !knob_accum_may_split(r))
		return COMMAND_OK;
	candidate_words(words, only);
	return not_recognised(r,
			      "does %s count the micro-batches of %s too? If "
			      "so, add --global-flag %s; if not, --micro-flag "
			      "%s%s",
			      words, accum->name, name, name,
			      is_global ? " --micro-scope global" : "");
}

/* The two of a pair; false: they are none. */
static bool pair_of(const struct pair_options *options,
		    const struct candidate **micro,
		    const struct candidate **larger)
{
	size_t batches = options->batch.count, globals = options->global.count;

	*micro = options->micro.count ? &options->micro.items[0]
				      : &options->batch.items[0];
	*larger =
		globals ? &options->global.items[0] : &options->batch.items[0];
	return options->micro.count + batches + globals == 2 &&
	       options->micro.count < 2 && batches < 2 && globals < 2;
}

/* What a config file has beside the one that is typed; NULL: nothing. */
static const struct setting *other_of_pair(const struct file_keys *keys,
					   const struct pair_options *options,
					   const struct token *typed)
{
	bool is_micro = options->micro.count == 1;
	enum option_class other = is_micro ? OPTION_GLOBAL : OPTION_MICRO;
	const struct setting *own =
		keys->first[is_micro ? OPTION_MICRO : OPTION_BATCH];

	if (!options->batch.count && keys->count[other] == 1)
		return keys->first[other];
	/* A plain batch is the larger one where the word sets one of two keys
	 * of the file anew. */
	if (keys->count[OPTION_MICRO] != 1 || keys->count[OPTION_BATCH] != 1 ||
	    keys->count[OPTION_GLOBAL] ||
	    !name_matches(own->key, typed->name, typed->name_length,
			  typed->bare))
		return NULL;
	return keys->first[is_micro ? OPTION_BATCH : OPTION_MICRO];
}

static enum command_outcome take_with_file(struct recognition *r,
					   const struct candidate *typed,
					   bool is_micro, const char *key)
{
	enum command_outcome outcome =
		pair_take(r, is_micro ? KNOB_MICRO : KNOB_GLOBAL, typed);

	return outcome == COMMAND_OK
		       ? knob_by_key_find(
				 r, is_micro ? KNOB_GLOBAL : KNOB_MICRO, key)
		       : outcome;
}

/* One of the two is typed, and a config file has the other. */
static enum command_outcome pair_with_file(struct recognition *r,
					   const struct pair_options *options)
{
	bool is_micro = options->micro.count == 1;
	const struct candidate *typed = is_micro ? &options->micro.items[0]
					: options->batch.count
						? &options->batch.items[0]
						: &options->global.items[0];
	enum command_outcome outcome = COMMAND_OK;
	const struct setting *other;
	struct file_keys keys;
	char name[BRIEF_MAX];

	if (options->micro.count + options->batch.count +
			    options->global.count !=
		    1 ||
	    !typed->token.name)
		return COMMAND_OK;
	file_keys_find(&keys, r);
	other = other_of_pair(&keys, options, &typed->token);
	if (!other)
		return COMMAND_OK;
	(void)candidate_name(name, typed);
	if (options->batch.count)
		outcome =
			knob_scope_of_larger(r, other->key, name, typed->value);
	else if (is_micro && !keys.count[OPTION_GLOBAL])
		outcome =
			knob_scope_of_larger(r, name, other->key, other->value);
	return outcome == COMMAND_OK
		       ? take_with_file(r, typed, is_micro, other->key)
		       : outcome;
}

/* Batches of two domains, neither of which is that of all ranks. */
static enum command_outcome two_domains(const struct recognition *r,
					const struct candidate *global)
{
	char name[BRIEF_MAX], other[BRIEF_MAX];
	struct candidates like = { .count = 0 };

	(void)candidate_name(name, global);
	by_class_collect(&like, r, CLASS_BIT(OPTION_BATCH_LIKE));
	for (size_t i = 0; i < like.count; i++)
		if (name_is_counterpart(name,
					candidate_name(other, &like.items[i])))
			return advise_between(r, KNOB_MICRO, &like.items[i],
					      global);
	return COMMAND_OK;
}

static bool counts_tokens(const struct candidate *candidate)
{
	return candidate->option && candidate->option->help &&
	       strcasestr(candidate->option->help, "token");
}

static enum command_outcome other_unit(const struct recognition *r,
				       const struct candidate *micro,
				       const struct candidate *larger)
{
	char words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];

	candidate_words(words, larger);
	return not_recognised(r,
			      "%s counts tokens, and the accumulation follows "
			      "from it in a way that is not known: write "
			      "{micro} and {accum} where these belong, or, "
			      "where there is no accumulation, add "
			      "--micro-flag %s",
			      words, candidate_name(name, micro));
}

/* Who types several micro-batches trains several models, or generates. */
static enum command_outcome several_micros(const struct recognition *r,
					   const struct candidates *micros)
{
	const struct candidate *typed[2];
	size_t count = 0;

	for (size_t i = 0; i < micros->count && count < 2; i++)
		if (micros->items[i].token.name)
			typed[count++] = &micros->items[i];
	return count < 2 ? COMMAND_OK
			 : advise_between(r, KNOB_MICRO, typed[0], typed[1]);
}

/* A name of a larger batch that the script divides among its ranks. */
struct divided_batch {
	const char *name;
	size_t length;
};

static void note_divided(void *context, const char *name, size_t length,
			 enum source_share share, enum source_accum accum)
{
	struct divided_batch *found = context;
	enum option_class class = option_class_of(name, length);

	(void)accum;
	if (share != SHARE_OF_ALL ||
	    (class != OPTION_BATCH && class != OPTION_GLOBAL))
		return;
	found->name = name;
	found->length = length;
}

/* What Hydra composes is not known, but that a larger batch is in it. */
static enum command_outcome hidden_larger(const struct recognition *r,
					  const struct candidate *micro)
{
	struct divided_batch found = { 0 };
	char name[BRIEF_MAX];

	if (!micro->token.name || !uses_hydra(r))
		return COMMAND_OK;
	source_shares_visit(r->text, note_divided, &found);
	if (!found.name)
		return COMMAND_OK;
	return not_recognised(r,
			      "%s divides %.*s among its ranks, and what Hydra "
			      "composes for it is not known: add its key with "
			      "the present value beside %s",
			      r->source_name, (int)found.length, found.name,
			      candidate_name(name, micro));
}

/* Its name says the batch of all ranks; or, without any default, the words of
 * a plain --batch do: something else gives it then. */
static bool is_open_larger(const struct recognition *r,
			   const struct source_option *option)
{
	const struct candidate candidate = { .option = option };
	enum option_class class = by_class_of_candidate(r, &candidate);
	enum knob_scope scope;

	if (option->kind == SOURCE_OTHER)
		return class == OPTION_GLOBAL;
	return option->kind == SOURCE_NONE && class == OPTION_BATCH &&
	       knob_scope_said(r, option->names.items[0], &scope) &&
	       scope == SCOPE_GLOBAL;
}

/* A larger batch that is not given, and whose default is no plain number. */
static const struct source_option *open_larger(const struct recognition *r)
{
	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];

		if (!option->is_switch && is_open_larger(r, option) &&
		    !by_class_is_typed(r, option))
			return option;
	}
	return NULL;
}

static enum command_outcome micro_alone(struct recognition *r,
					const struct candidate *micro)
{
	const struct source_option *larger = open_larger(r);
	char name[BRIEF_MAX];

	/* A "local" batch may be that of all passes of a rank. */
	if (!larger && r->command->knobs[KNOB_ACCUM].form != KNOB_ABSENT &&
	    knob_scope_holds_accum(r, candidate_name(name, micro))) {
		r->command->knobs[KNOB_GLOBAL].scope = SCOPE_RANK;
		return pair_take(r, KNOB_GLOBAL, micro);
	}
	return larger ? knob_set_option_default(r, KNOB_GLOBAL, larger)
		      : hidden_larger(r, micro);
}

/* Of the options alone, and what a file has beside one of them. */
static enum command_outcome pair_of_one(struct recognition *r,
					struct pair_options *options)
{
	enum command_outcome outcome = COMMAND_OK;

	pair_options_collect(options, r);
	if (options->global.count == 1)
		outcome = two_domains(r, &options->global.items[0]);
	return outcome == COMMAND_OK ? pair_with_file(r, options) : outcome;
}

static enum command_outcome pair_find(struct recognition *r)
{
	const struct knob *knobs = r->command->knobs;
	const struct candidate *micro, *larger;
	char micro_name[BRIEF_MAX], name[BRIEF_MAX];
	struct pair_options options;
	enum command_outcome outcome;

	if (!by_class_applies(r) || r->hints->micro_flag ||
	    knobs[KNOB_MICRO].form != KNOB_ABSENT ||
	    knobs[KNOB_GLOBAL].form != KNOB_ABSENT)
		return COMMAND_OK;
	outcome = pair_of_one(r, &options);
	if (outcome != COMMAND_OK || command_rows_are_open(r->command) ||
	    knobs[KNOB_GLOBAL].form != KNOB_ABSENT)
		return outcome;
	if (options.micro.count == 0 &&
	    options.batch.count + options.global.count == 1)
		return alone_take(r,
				  options.batch.count
					  ? &options.batch.items[0]
					  : &options.global.items[0],
				  options.global.count > 0);
	if (options.micro.count + options.batch.count + options.global.count ==
	    0)
		return knob_pair_in_file_find(r);
	if (options.micro.count == 1 &&
	    options.batch.count + options.global.count == 0)
		return micro_alone(r, &options.micro.items[0]);
	if (!pair_of(&options, &micro, &larger))
		return several_micros(r, &options.micro);
	/* The total follows from what is typed for one rank. */
	if (micro->token.name && !larger->token.name &&
	    makes_total(r, candidate_name(name, larger)))
		return pair_take(r, KNOB_MICRO, micro);
	if (counts_tokens(larger) && !counts_tokens(micro))
		return other_unit(r, micro, larger);
	if (!options.global.count)
		outcome = knob_scope_of_larger(
			r, candidate_name(micro_name, micro),
			candidate_name(name, larger), larger->value);
	if (outcome == COMMAND_OK)
		outcome = pair_take(r, KNOB_MICRO, micro);
	return outcome == COMMAND_OK ? pair_take(r, KNOB_GLOBAL, larger)
				     : outcome;
}

/* --accum without a default, which nobody gave, is what the two make it. */
static bool accum_is_unset(const struct recognition *r)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	const struct source_option *option =
		accum->form == KNOB_DEFAULT && !accum->is_said
			? source_resolve(r->source, accum->name,
					 strlen(accum->name))
			: NULL;

	return option && option->kind == SOURCE_NONE;
}

enum command_outcome knob_pair_find(struct recognition *r)
{
	struct knob *knobs = r->command->knobs;
	enum command_outcome outcome = pair_find(r);

	if (knobs[KNOB_MICRO].form != KNOB_ABSENT &&
	    knobs[KNOB_GLOBAL].form != KNOB_ABSENT && accum_is_unset(r))
		knob_forget(&knobs[KNOB_ACCUM]);
	return outcome;
}
