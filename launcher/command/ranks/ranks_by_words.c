/* How many ranks the words of a command and of its script speak of. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/ranks/ranks_by_words.h"

#include "base/alloc.h"
#include "base/span.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <string.h>

/* More of them no machine has: it counts something else. */
#define RANKS_OF_WORDS_MAX 64

int64_t ranks_listed(const char *text)
{
	int64_t count = 1;

	for (; *text; text++)
		count += *text == ',' && text[1] && text[1] != ']';
	return count;
}

bool ranks_of_devices_text(const char *text, int64_t visible, int64_t *count)
{
	size_t length = strlen(text);

	if (strcmp(text, "auto") == 0 || strcmp(text, "-1") == 0) {
		*count = visible > 0 ? visible : 1;
		return true;
	}
	if (count_parse(text, count))
		return true;
	if (length == 0 || text[strspn(text, "0123456789,[] ")] != '\0')
		return false;
	*count = ranks_listed(text);
	return true;
}

/* names: ends with NULL */
static bool name_is_one_of(const char *name, size_t length, bool bare,
			   const char *const *names)
{
	for (; *names; names++)
		if (name_matches(*names, name, length, bare))
			return true;
	return false;
}

/* What programs call the number of ranks that they start. */
static bool counts_ranks(const char *name, size_t length, bool bare)
{
	static const char *const names[] = {
		"gpus",
		"num_gpus",
		"n_gpus",
		"ngpus",
		"ngpu",
		"n_gpu",
		"num_gpu",
		"gpu_num",
		"nproc",
		"nprocs",
		"num_procs",
		"num_processes",
		"world_size",
		"nproc_per_node",
		"devices",
		"num_devices",
		"n_devices",
		"nprocs_per_node",
		"gpus_per_node",
		"ngpus_per_node",
		"number_gpus",
		"number_of_gpus",
		"num_process_per_node",
		NULL,
	};

	return name_is_one_of(name, length, bare, names);
}

/* --gpu 0,1: what programs call a list of devices. Without a comma it is the
 * number of one. */
static bool lists_devices(const char *name, size_t length, bool bare)
{
	static const char *const names[] = { "gpu",    "gpu_id",     "gpu_ids",
					     "device", "device_ids", NULL };

	return name_is_one_of(name, length, bare, names);
}

/* "train_procs" of spawn(work, nprocs=args.train_procs). */
static struct span spawned_by(const char *text)
{
	static const char call[] = "nprocs=";
	struct span name = { NULL, 0 };

	for (text = text ? strstr(text, call) : NULL; text;
	     text = strstr(text, call)) {
		text += strlen(call);
		text += strcspn(text, ".,)\n");
		if (*text != '.')
			continue;
		name.at = text + 1;
		name.length = strspn(name.at, "abcdefghijklmnopqrstuvwxyz"
					      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789_");
		return name;
	}
	return name;
}

static bool spawn_names(const struct span *spawned, const struct token *token)
{
	size_t dashes = strspn(token->name, "-");

	return spawned->length && token->name_length > dashes &&
	       name_equal(spawned->at, spawned->length, token->name + dashes,
			  token->name_length - dashes);
}

static bool option_names_ranks(const struct source_option *option)
{
	bool found = false;

	for (size_t i = 0; i < option->names.count; i++)
		found |= counts_ranks(option->names.items[i],
				      strlen(option->names.items[i]), false);
	return found;
}

/* -d is --devices where the script says so. */
static bool option_counts_ranks(const struct recognition *r,
				const struct token *token)
{
	const struct source_option *option = option_of_token(r, token);

	/* "number of nodes": of each it starts as many as it sees. What is per
	 * node, or a device of one, is a rank. */
	if (option && option->help && strcasestr(option->help, "node") &&
	    !strcasestr(option->help, "gpu") &&
	    !strcasestr(option->help, "device") &&
	    !strcasestr(option->help, "per node"))
		return false;
	return counts_ranks(token->name, token->name_length, token->bare) ||
	       (option && option_names_ranks(option));
}

bool ranks_are_started(const char *text)
{
	static const char *const calls[] = {
		".spawn(",   "start_processes(", "launch(",
		"lightning", "launch_command(",  "mp.Process("
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strstr(text, calls[i]))
			return true;
	return strstr(text, "torch.multiprocessing") &&
	       strstr(text, "Process(");
}

/* --devices cuda:0 cuda:1: one rank on each, where they are several. */
static int64_t devices_in_words(const struct command *command,
				const struct token *token)
{
	int64_t count = 0;

	if (token->form != KNOB_SEPARATE)
		return 0;
	for (size_t i = token->value_index; i < command->view.end; i++) {
		const char *word = command_argv(command)->items[i];

		word += strncmp(word, "cuda:", 5) == 0 ? 5 : 0;
		if (!*word || word[strspn(word, "0123456789")])
			break;
		count++;
	}
	return count > 1 ? count : 0;
}

/* The number of ranks that an option says, or 0. */
static int64_t ranks_of_token(const struct recognition *r,
			      const struct token *token,
			      const struct span *spawned)
{
	const char *value = token_value(token, command_argv(r->command));
	bool is_list =
		lists_devices(token->name, token->name_length, token->bare);
	int64_t count;

	if (!is_list && !spawn_names(spawned, token) &&
	    !option_counts_ranks(r, token))
		return 0;
	count = devices_in_words(r->command, token);
	/* -1 and auto are all; which those are is seen later. */
	if (count || (!is_list && count_parse(value, &count)) ||
	    ((strchr(value, ',') || *value == '[') &&
	     ranks_of_devices_text(value, 0, &count)))
		return count <= RANKS_OF_WORDS_MAX ? count : 0;
	return 0;
}

/* The last number of ranks among the words, or 0. */
static int64_t ranks_typed(const struct recognition *r)
{
	const struct command *command = r->command;
	const struct span spawned = spawned_by(r->text);
	int64_t count, said = 0;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		count = ranks_of_token(r, &token, &spawned);
		said = count ? count : said;
	}
	return said;
}

/* "(0, 1, 2)" */
static bool tuple_counts(const char *text, int64_t *count)
{
	size_t length = strlen(text);

	if (length < 3 || text[0] != '(' || text[length - 1] != ')' ||
	    strspn(text + 1, "0123456789, ") != length - 2)
		return false;
	*count = ranks_listed(text) - (text[length - 2] == ',');
	return true;
}

/* devices: [0, 1] are two items, devices[0] and devices[1]; 0: no list begins
 * here. */
static int64_t list_counts(const struct settings *settings, size_t first)
{
	const char *key = settings->items[first].key;
	const char *bracket = strchr(key, '[');
	size_t length = bracket ? (size_t)(bracket - key) : 0;
	size_t at = first;

	if (!bracket || strcmp(bracket, "[0]") != 0 ||
	    !counts_ranks(key, length, true))
		return 0;
	while (at < settings->count &&
	       strncmp(settings->items[at].key, key, length + 1) == 0)
		at++;
	return (int64_t)(at - first);
}

/* NUM_GPUS: 8, GPUS: (0,1), devices: [0, 1]; 0: none of these. */
static int64_t ranks_of_setting(const struct settings *settings, size_t k)
{
	const struct setting *setting = &settings->items[k];
	int64_t count;

	return counts_ranks(setting->key, strlen(setting->key), true) &&
			       (count_parse(setting->value, &count) ||
				tuple_counts(setting->value, &count))
		       ? count
		       : list_counts(settings, k);
}

/* The first number of ranks in a config file, or 0. A one beside another counts
 * something else, as WORLD_SIZE: 1 of one node does. */
static int64_t ranks_in_files(const struct command *command)
{
	int64_t said = 0;

	for (size_t i = 0; i < command->file_count; i++) {
		const struct settings *settings = command->files[i].settings;

		for (size_t k = 0; k < settings->count; k++) {
			int64_t count = ranks_of_setting(settings, k);

			if (count > 1 && count <= RANKS_OF_WORDS_MAX)
				return count;
			said = count == 1 ? count : said;
		}
	}
	return said;
}

/* --gpus that is not typed, where its default is several; else 0. */
static int64_t ranks_by_default(const struct source *source)
{
	for (size_t i = 0; i < source->option_count; i++) {
		const struct source_option *option = &source->options[i];

		if (option->kind == SOURCE_INTEGER && option->value > 1 &&
		    option->value <= RANKS_OF_WORDS_MAX &&
		    option_names_ranks(option))
			return option->value;
	}
	return 0;
}

int64_t ranks_said(const struct recognition *r)
{
	int64_t said = ranks_typed(r);

	said = said ? said : ranks_in_files(r->command);
	return said ? said : ranks_by_default(r->source);
}

/* Trainer(devices=4): a number of the script itself, or 0. */
static int64_t ranks_in_script(const struct recognition *r)
{
	const struct source *source = r->source;
	int64_t most = 0, least = RANKS_OF_WORDS_MAX;

	for (size_t i = 0; i < source->constant_count; i++) {
		const struct source_constant *constant = &source->constants[i];

		if (constant->kind != SOURCE_INTEGER || constant->value < 1 ||
		    constant->value > RANKS_OF_WORDS_MAX ||
		    !counts_ranks(constant->name, strlen(constant->name), true))
			continue;
		most = constant->value > most ? constant->value : most;
		least = constant->value < least ? constant->value : least;
	}
	if (most > least)
		r->command->open_ranks = xasprintf(
			"%s names %lld and %lld ranks", r->source_name,
			(long long)least, (long long)most);
	return most > 1 && most == least ? most : 0;
}

/* --world-size, "number of nodes": where else ranks are counted. */
static bool help_counts_nodes(const struct recognition *r,
			      const struct token *token)
{
	const struct source_option *option = option_of_token(r, token);

	return option && option->help &&
	       counts_ranks(token->name, token->name_length, token->bare) &&
	       strcasestr(option->help, "number of nodes");
}

bool ranks_name_nodes(const struct recognition *r, struct token *option)
{
	/* Of a graph there are nodes as well: --num_nodes alone says nothing.
	 */
	static const char *const counts[] = { "num_nodes",    "nnodes",
					      "n_nodes",      "nodes",
					      "num_machines", NULL };
	static const char *const own[] = { "node_rank", "machine_rank",
					   "node_id", NULL };
	const struct command *command = r->command;
	/* Lightning counts them all by itself. */
	bool is_one = r->text && strstr(r->text, "lightning");
	bool is_counted = false;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		bool by_help = help_counts_nodes(r, &token);
		int64_t count;

		is_one |= name_is_one_of(token.name, token.name_length,
					 token.bare, own);
		if ((!by_help && !name_is_one_of(token.name, token.name_length,
						 token.bare, counts)) ||
		    !count_parse(token_value(&token, command_argv(command)),
				 &count))
			continue;
		is_counted = count > 1;
		is_one |= is_counted && by_help;
		*option = token;
	}
	return is_counted && is_one;
}

void ranks_by_words(const struct recognition *r)
{
	struct command *command = r->command;
	int64_t said;

	if (!r->text || command->view.launcher || !ranks_are_started(r->text))
		return;
	said = ranks_said(r);
	if (said == 0)
		said = ranks_in_script(r);
	/* Nobody said, and it counts what it sees. */
	if (said == 0 && strstr(r->text, ".spawn(") &&
	    strstr(r->text, "device_count()"))
		said = command->view.visible_devices;
	if (said > 0)
		command->batch.world_size = said;
}

int64_t ranks_of_variable(const struct recognition *r)
{
	static const char name[] = "NPROC_PER_NODE";
	const char *value = variable_value(r, name);
	int64_t count;

	if (!value || (r->text && !strstr(r->text, name)))
		return 0;
	return count_parse(value, &count) ? count : 0;
}
