/* One call of autofit on a command: what was read before anything starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/request.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/readback.h"
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/request/identity.h"
#include "launcher/request/seen_store.h"
#include "search/accumulation.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options of a script are declared near its top, and the sizes of a config
 * before the paths of its data; so many bytes are read in milliseconds, see
 * tests/bench/recognise.c. */
#define NAMED_BYTES_MAX ((size_t)200 * 1024)
/* More times the command's own batch need not be tried. */
#define MAX_MICRO_FACTOR 64

static void copy_environment(struct strlist *environment)
{
	for (char **item = environ; item && *item; item++)
		strlist_add(environment, *item);
}

/* A named_files_read. */
static int request_read_file(void *context, const char *path,
			     struct strbuf *text)
{
	enum settings_format format;
	bool is_config =
		settings_format_of(path, &format) && format != SETTINGS_PYTHON;
	struct error err = ERROR_INIT;
	int result = textfile_read(path, NAMED_BYTES_MAX, text, &err);

	(void)context;
	/* What is larger than any config holds data. */
	if (result > 0 && is_config)
		return EFBIG;
	return result < 0 ? -result : 0;
}

/* The script that recognition has read, for its hash and its name. */
static void note_script(struct request *request)
{
	const struct named_file *file = request->command.script_file;

	if (!file)
		return;
	request->script = xstrdup(file->path);
	request->script_hash =
		hash_bytes(strbuf_text(&file->text), file->text.length);
}

/* An option of the user's wins over what was seen. */
static const char *said_or_seen(const char *said, const char *seen)
{
	return said || !seen || !*seen ? said : seen;
}

static void set_sources(struct request *request)
{
	const struct options *options = request->options;
	const struct seen_meaning *seen = &request->seen;

	request->hints = (struct command_hints){
		.micro_flag = said_or_seen(options->hints.micro_flag,
					   seen->micro_flag),
		.accum_flag = said_or_seen(options->hints.accum_flag,
					   seen->accum_flag),
		.global_flag = said_or_seen(options->hints.global_flag,
					    seen->global_flag),
		.micro_scope = said_or_seen(options->hints.micro_scope,
					    seen->micro_is_global ? "global"
					    : seen->micro_is_rank ? "rank"
								  : NULL),
		.accum_scope = said_or_seen(options->hints.accum_scope,
					    seen->accum_is_total  ? "total"
					    : seen->accum_is_rank ? "rank"
								  : NULL),
		.global_scope = options->hints.global_scope,
		.preset = options->hints.preset,
		.env_templates = &options->hints.env_templates,
		.templates = &options->hints.templates,
		.environment = &request->environment,
		.visible_devices = options->target.device == DEVICE_HOST
					   ? 0
					   : visible_gpus_count(request->gpus),
		.ranks_around =
			request->place.world > 1 ? request->place.world : 0,
		.ranks_seen = seen->ranks,
		.micro_default = seen->micro_default,
		.accum_default = seen->accum_default,
		.micro_guess = seen->micro_guess,
		.accum_guess = seen->accum_guess,
		.config_file = said_or_seen(NULL, seen->config_file),
		.rows_may_be_seen = seen->micro_guess == GUESS_OPEN,
	};
	request->texts.read = request_read_file;
	request->sources =
		(struct command_sources){ .presets = &request->presets,
					  .launchers = &request->launchers,
					  .hints = &request->hints,
					  .texts = &request->texts };
}

static enum command_outcome request_recognise(struct request *request,
					      struct error *err)
{
	enum command_outcome outcome =
		command_recognise(&request->command, &request->options->command,
				  &request->sources, err);

	note_script(request);
	return outcome;
}

/* The ranks of the command, were there so many GPUs; 0: not recognised. */
static int64_t ranks_with(struct request *request, int64_t gpus)
{
	const int64_t before = request->hints.visible_devices;
	struct command command = { 0 };
	int64_t ranks = 0;

	request->hints.visible_devices = gpus;
	if (command_recognise(&command, &request->options->command,
			      &request->sources, NULL) == COMMAND_OK)
		ranks = command.batch.world_size;
	command_release(&command);
	request->hints.visible_devices = before;
	return ranks;
}

/*
 * "One rank for each GPU": how many there are only the driver knows, and it is
 * asked where that makes a difference.
 */
static enum command_outcome count_gpus(struct request *request,
				       enum command_outcome outcome,
				       struct error *err)
{
	int64_t counted = request->hints.visible_devices;
	int count;

	if (!visible_gpus_count_is_open(request->gpus) ||
	    ranks_with(request, counted) == ranks_with(request, counted + 2))
		return outcome;
	count = visible_gpus_ask(request->gpus, err);
	if (count < 0)
		return COMMAND_USAGE;
	if (count == counted)
		return outcome;
	request->hints.visible_devices = count;
	command_release(&request->command);
	free(request->script);
	request->script = NULL;
	return request_recognise(request, err);
}

static int rewrite_and_read(const struct request *request,
			    const struct command *command,
			    const struct command_values *values,
			    struct rewrite *rewrite, struct error *err)
{
	int result = command_rewrite(command, values, rewrite, err);

	rewrite->leaves_computed = values->leaves_computed;
	return result < 0 ? result
			  : command_read_back(command, values, rewrite,
					      &request->sources, err);
}

int request_rewrite(const struct request *request,
		    const struct command *command,
		    const struct command_values *values,
		    struct rewrite *rewrite, struct error *err)
{
	struct command_values leaves = *values;

	leaves.leaves_computed = true;
	if (command->script_follows &&
	    rewrite_and_read(request, command, &leaves, rewrite, NULL) == 0)
		return 0;
	if (command->script_follows)
		rewrite_release(rewrite);
	return rewrite_and_read(request, command, values, rewrite, err);
}

/*
 * ACC=$((256 / MICRO)): does the script keep the effective batch with twice and
 * with half the micro-batch, where there are such splits?
 */
static bool script_follows(const struct request *request)
{
	const struct command *command = &request->command;
	const struct batch *own = &command->batch;
	const struct command_values splits[] = {
		{ .micro_batch = 2 * own->micro_batch,
		  .grad_accum = own->grad_accum / 2,
		  .leaves_computed = true },
		{ .micro_batch = own->micro_batch / 2,
		  .grad_accum = 2 * own->grad_accum,
		  .leaves_computed = true },
	};
	size_t follows = 0;
	size_t exact = 0;

	if (!command->knobs[KNOB_ACCUM].is_computed ||
	    command->knobs[KNOB_MICRO].is_computed)
		return false;
	for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
		struct rewrite rewrite;

		if (splits[i].micro_batch * splits[i].grad_accum !=
		    own->micro_batch * own->grad_accum)
			continue;
		exact++;
		follows += rewrite_and_read(request, command, &splits[i],
					    &rewrite, NULL) == 0;
		rewrite_release(&rewrite);
	}
	return exact && follows == exact;
}

/* Other sizes that obey what the framework asks: multiples of its own. */
static enum command_outcome check_rewrite(struct request *request,
					  struct error *err)
{
	struct command *command = &request->command;
	const struct command_constraints *constraints = &command->constraints;
	bool trades = command_accumulates(command);
	struct command_values values = {
		.micro_batch = (constraints->micro_divides ? 1 : 2) *
			       command->batch.micro_batch,
		.grad_accum = (trades && !constraints->one_accum ? 2 : 1) *
			      command->batch.grad_accum,
		.copies = request->paths.copies,
	};
	struct rewrite rewrite;
	int result;

	if (!command->batch.micro_batch || command_rows_are_open(command) ||
	    values.micro_batch > request->max_micro)
		return COMMAND_OK;
	if (command->nominal.batch)
		values.grad_accum = command_nominal_accum(
			&command->nominal, values.micro_batch,
			command->batch.world_size);
	command->script_follows = script_follows(request);
	result = request_rewrite(request, command, &values, &rewrite, err);
	strlist_add_all(&command->caveats,
			(const char *const *)rewrite.followers.items,
			rewrite.followers.count);
	rewrite_release(&rewrite);
	return result < 0 ? COMMAND_NOT_RECOGNISED : COMMAND_OK;
}

static enum command_outcome check_effective_batch(const struct request *request,
						  struct error *err)
{
	int64_t effective = request->asked.effective_batch;
	int64_t world = request->command.batch.world_size;
	int64_t multiple = accumulation_multiple(
		world, request->command.constraints.effective_multiple_of);

	assert(world >= 1 && multiple >= world);
	if (effective % world != 0)
		(void)error_set(err, -EINVAL,
				"effective batch %lld cannot be split over "
				"%lld ranks: give --effective-batch a multiple "
				"of %lld",
				(long long)effective, (long long)world,
				(long long)multiple);
	else if (effective % multiple != 0)
		(void)error_set(err, -EINVAL,
				"effective batch %lld is not what %s takes: "
				"give --effective-batch a multiple of %lld",
				(long long)effective,
				request->command.preset->description,
				(long long)multiple);
	return effective % multiple == 0 ? COMMAND_OK : COMMAND_USAGE;
}

/* E as asked: in the command, or by --effective-batch N. */
static enum command_outcome set_effective_batch(struct request *request,
						struct error *err)
{
	const struct options *options = request->options;

	request->asked = request->command.batch;
	/* What is asked for is divided when the sizes are known. */
	if (command_rows_are_open(&request->command)) {
		request->asked.effective_batch =
			request->asked.grad_accum * request->asked.world_size;
		return COMMAND_OK;
	}
	if (options->batch.choice == EFFECTIVE_NUMBER)
		request->asked.effective_batch = options->batch.effective_batch;
	if (request->asked.effective_batch == 0 &&
	    options->batch.choice == EFFECTIVE_KEEP &&
	    options->subcommand != SUBCOMMAND_TUNE) {
		(void)error_set(err, -EINVAL,
				"the effective batch to keep is not known: "
				"write {micro:8} for the present value, or "
				"give --effective-batch N or --grow");
		return COMMAND_USAGE;
	}
	assert(request->asked.world_size >= 1);
	return check_effective_batch(request, err);
}

/* Some commands count tokens or frames in a batch. */
static int64_t max_micro(const struct request *request)
{
	int64_t own = request->command.batch.micro_batch;
	int64_t usual = request->options->batch.max_micro;

	if (command_rows_are_open(&request->command))
		return own;
	if (request->options->batch.has_max_micro ||
	    own <= usual / MAX_MICRO_FACTOR)
		return usual;
	return own <= INT32_MAX / MAX_MICRO_FACTOR ? own * MAX_MICRO_FACTOR
						   : INT32_MAX;
}

/* A folder of the user's settings; NULL: it is not there to be read. */
static char *users_folder(const struct request *request, const char *name)
{
	char *folder = xasprintf("%s/%s", request->paths.config, name);

	if (access(folder, R_OK) == 0)
		return folder;
	free(folder);
	return NULL;
}

/* What is known of frameworks and launchers. */
static int load_known(struct request *request, struct error *err)
{
	char *presets = users_folder(request, "presets");
	char *launchers = users_folder(request, "launchers");
	int result = presets_load(&request->presets, presets, err);

	if (result == 0)
		result = launchers_load(&request->launchers, launchers, err);
	free(launchers);
	free(presets);
	return result;
}

/* seen: NULL, nothing. */
static enum command_outcome prepare_with(struct request *request,
					 const struct options *options,
					 const struct process_state *state,
					 const struct seen_meaning *seen,
					 struct error *err)
{
	enum command_outcome outcome;

	memset(request, 0, sizeof(*request));
	request->options = options;
	request->state = state;
	if (seen) {
		request->seen = *seen;
		request->is_seen = true;
	}
	copy_environment(&request->environment);
	surroundings_folder_set(&request->environment);
	request->place = surroundings_rank(&request->environment);
	if (paths_find(&request->paths, &request->environment, err) < 0)
		return COMMAND_USAGE;
	if (load_known(request, err) < 0)
		return COMMAND_USAGE;
	request->gpus = xcalloc(1, sizeof(*request->gpus));
	visible_gpus_open(request->gpus, options, &request->environment);
	set_sources(request);
	outcome = request_recognise(request, err);
	outcome = count_gpus(request, outcome, err);
	if (outcome == COMMAND_OK)
		outcome = set_effective_batch(request, err);
	if (outcome != COMMAND_OK)
		return outcome;
	request->max_micro = max_micro(request);
	assert(request->max_micro >= 1);
	outcome = check_rewrite(request, err);
	if (outcome != COMMAND_OK)
		return outcome;
	request->identity = identity_make(request);
	request->subject = identity_subject(request);
	return COMMAND_OK;
}

static enum command_outcome prepare_anew(struct request *request,
					 const struct seen_meaning *seen,
					 struct error *err)
{
	const struct options *options = request->options;
	const struct process_state *state = request->state;
	const struct seen_meaning kept = *seen;
	char *worded = request->worded;
	enum command_outcome outcome;

	request->worded = NULL;
	request_release(request);
	outcome = prepare_with(request, options, state, &kept, err);
	request->worded = worded;
	return outcome;
}

/* What probes will show is of use only where there will be one. */
static enum command_outcome request_check_rows(const struct request *request,
					       struct error *err)
{
	const struct options *options = request->options;

	if (!command_rows_are_open(&request->command) ||
	    (options->subcommand <= SUBCOMMAND_EXPLAIN &&
	     !options->reuse.no_probe && request->place.world <= 1))
		return COMMAND_OK;
	(void)error_set(err, -EINVAL, "%s", request->command.open_words);
	return COMMAND_NOT_RECOGNISED;
}

enum command_outcome request_prepare(struct request *request,
				     const struct options *options,
				     const struct process_state *state,
				     struct error *err)
{
	enum command_outcome outcome =
		prepare_with(request, options, state, NULL, err);
	struct seen_meaning seen;

	if (outcome != COMMAND_OK)
		return outcome;
	request->worded = xstrdup(request->identity);
	if (options->reuse.fresh ||
	    !seen_store_read(&seen, &request->paths, request->identity))
		return request_check_rows(request, err);
	return prepare_anew(request, &seen, err);
}

enum command_outcome request_prepare_again(struct request *request,
					   const struct seen_meaning *seen,
					   struct error *err)
{
	/* The answer is the same without: its next start probes once more. */
	if (seen_store_write(seen, &request->paths, request->worded, err) < 0)
		log_warning("%s", err->message);
	return prepare_anew(request, seen, err);
}

void request_release(struct request *request)
{
	if (request->gpus)
		visible_gpus_release(request->gpus);
	free(request->gpus);
	strlist_release(&request->environment);
	paths_release(&request->paths);
	presets_release(&request->presets);
	launchers_release(&request->launchers);
	command_release(&request->command);
	named_files_release(&request->texts);
	free(request->script);
	free(request->identity);
	free(request->subject);
	free(request->worded);
	memset(request, 0, sizeof(*request));
}
