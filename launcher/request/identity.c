/* The identity of a request: what an exact repeat of it must share. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/identity.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/identity/identity_text.h"
#include "configs/identity/stamps.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/record_arguments.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/names.h"
#include "launcher/request/exec_command.h"
#include "launcher/request/visible_gpus.h"
#include "probes/observers/host/host.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVER_VERSION "/proc/driver/nvidia/version"
#define DRIVER_VERSION_MAX ((size_t)4096)

static void identity_add_number(struct strbuf *out, enum identity_class class,
				const char *label, int64_t value)
{
	char *text = xasprintf("%lld", (long long)value);

	identity_add(out, class, label, text);
	free(text);
}

static void identity_add_list(struct strbuf *out, const char *label,
			      const struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		identity_add(out, IDENTITY_PART, label, list->items[i]);
}

static void identity_add_masked(struct strbuf *out, const char *label,
				const struct strlist *list)
{
	struct strlist masked = STRLIST_INIT;

	secrets_mask_argv(&masked, list);
	identity_add_list(out, label, &masked);
	strlist_release(&masked);
}

/* The amount in full: a shortened one could hide a difference. */
static void add_amount(struct strbuf *out, const struct options *options)
{
	char *text;

	if (!options->target.has_headroom)
		text = xstrdup("default");
	else if (options->target.headroom.is_percent)
		text = xasprintf("%.17g%%", options->target.headroom.percent);
	else
		text = xasprintf(
			"%llu B",
			(unsigned long long)options->target.headroom.bytes);
	identity_add(out, IDENTITY_PLACE, "headroom", text);
	free(text);
}

static void add_budget(struct strbuf *out, const struct options *options)
{
	static const char *const devices[] = {
		[DEVICE_AUTO] = "auto",
		[DEVICE_CUDA] = "cuda",
		[DEVICE_HOST] = "host",
		[DEVICE_PHANTOM] = "phantom",
	};
	char *memory = xasprintf(
		"%llu B", (unsigned long long)options->target.memory_bytes);

	identity_add(out, IDENTITY_PLACE, "--device",
		     devices[options->target.device]);
	identity_add(out, IDENTITY_PLACE, "--memory",
		     options->target.memory_bytes ? memory : "what is free");
	free(memory);
	/* By its size as well: the user's catalogue may say another. */
	if (options->target.model.usable_bytes) {
		char *model = xasprintf(
			"%s, %llu B", options->target.model.name,
			(unsigned long long)options->target.model.usable_bytes);

		identity_add(out, IDENTITY_PLACE, "--as", model);
		free(model);
	}
	add_amount(out, options);
}

/* The question that the answer is to: another one has another answer. */
static void add_question(struct strbuf *out, const struct request *request)
{
	const struct options *options = request->options;
	char *tolerance = xasprintf("%.17g", options->search.tolerance);

	identity_add_number(out, IDENTITY_PLACE, "world",
			    request->command.batch.world_size);
	identity_add_number(out, IDENTITY_PLACE, "effective batch",
			    request->asked.effective_batch);
	identity_add(out, IDENTITY_PLACE, "effective batch may grow",
		     options->batch.choice == EFFECTIVE_GROW ? "yes" : "no");
	identity_add_number(out, IDENTITY_PLACE, "--max-micro",
			    options->batch.max_micro);
	identity_add_number(out, IDENTITY_PLACE, "--micro-multiple-of",
			    options->batch.micro_multiple_of);
	identity_add(out, IDENTITY_PLACE, "--tolerance", tolerance);
	/* Records from before there was a choice are of the largest. */
	if (options->search.fastest)
		identity_add(out, IDENTITY_PLACE, "--objective", "fastest");
	identity_add(out, IDENTITY_PLACE, "shared with others",
		     options->probe.shared ? "yes" : "no");
	free(tolerance);
}

const char *const *identity_reading(void)
{
	static const char *const labels[] = { "world",         "preset",
					      "--micro-flag",  "--accum-flag",
					      "--global-flag", "--micro-scope",
					      "--accum-scope", "--global-scope",
					      "ranks seen",    "--env",
					      "--template",    NULL };

	return labels;
}

static void add_reading(struct strbuf *out, const struct request *request)
{
	const struct options *options = request->options;
	const struct {
		const char *label, *value;
	} texts[] = {
		{ "--micro-flag", options->hints.micro_flag },
		{ "--accum-flag", options->hints.accum_flag },
		{ "--global-flag", options->hints.global_flag },
		{ "--micro-scope", options->hints.micro_scope },
		{ "--accum-scope", options->hints.accum_scope },
		{ "--global-scope", options->hints.global_scope },
	};

	identity_add(out, IDENTITY_PART, "preset",
		     request->command.preset->name);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].value)
			identity_add(out, IDENTITY_PART, texts[i].label,
				     texts[i].value);
	if (request->seen.ranks)
		identity_add_number(out, IDENTITY_PART, "ranks seen",
				    request->seen.ranks);
	identity_add_list(out, "--env", &options->hints.env_templates);
	identity_add_list(out, "--template", &options->hints.templates);
	identity_add_masked(out, "--probe-arg", &options->probe.args);
	identity_add_masked(out, "--probe-env", &options->probe.env);
}

/* What tells a run what to do; other files may be what it writes. */
static bool is_instruction(const char *path, mode_t mode)
{
	static const char *const suffixes[] = { ".py",   ".yaml", ".yml",
						".json", ".toml", ".ini",
						".cfg",  ".conf", ".sh",
						".args" };
	const char *dot = strrchr(path, '.');

	if (mode & S_IXUSR)
		return true;
	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strcmp(dot, suffixes[i]) == 0)
			return true;
	return false;
}

static void add_stamp(struct strbuf *out, const char *label, const char *path)
{
	char stamp[STAMP_TEXT_MAX];

	stamp_file(path, stamp);
	identity_add(out, IDENTITY_PART, label, stamp);
}

/* Of a folder, as a model is kept in, its config.json. */
static void list_file(struct strlist *paths, const char *path)
{
	struct stat info;
	char *config;

	if (strlen(path) >= PATH_MAX || stat(path, &info) < 0)
		return;
	config = xasprintf("%s/config.json", path);
	if (S_ISREG(info.st_mode) && is_instruction(path, info.st_mode))
		strlist_add(paths, path);
	else if (S_ISDIR(info.st_mode) && access(config, F_OK) == 0)
		strlist_add(paths, config);
	free(config);
}

/* A script, whatever it is called. */
static void list_script(struct strlist *paths, const struct command *command,
			const char *path)
{
	struct stat info;

	if (path && strlen(path) < PATH_MAX &&
	    strlist_find(paths, path) == paths->count &&
	    !command_source_find(command, path) && stat(path, &info) == 0 &&
	    S_ISREG(info.st_mode))
		strlist_add(paths, path);
}

/* The file right behind a program that nobody knows is its script, as in
 * "julia train.jl". */
static const char *script_of_unknown(const struct command *command)
{
	const struct strlist *argv = command_argv(command);
	size_t at = command->view.program + 1;

	return command->script_file || at >= argv->count ? NULL
							 : argv->items[at];
}

/* Script and configs: whatever argv names as a file. */
static void list_files(struct strlist *paths, const struct strlist *argv,
		       const struct command *command)
{
	for (size_t i = 0; i < argv->count; i++) {
		const char *value = strchr(argv->items[i], '=');

		if (!command_source_find(command, argv->items[i]))
			list_file(paths, argv->items[i]);
		if (value)
			list_file(paths, value + 1);
	}
	for (size_t i = 0; i < command->file_count; i++) {
		const struct command_file *file = &command->files[i];

		/* Those that no word names as it stands. */
		if ((file->index == NO_INDEX ||
		     *command_argv(command)->items[file->index] == '@') &&
		    !command_source_find(command, file->read->path))
			list_file(paths, file->read->path);
	}
	if (command->script_file)
		list_script(paths, command, command->script_file->path);
	list_script(paths, command, script_of_unknown(command));
	list_script(paths, command, command->view.expansion.script);
}

static void identity_add_files(struct strbuf *out, const struct strlist *argv,
			       const struct command *command)
{
	struct strlist paths = STRLIST_INIT;

	list_files(&paths, argv, command);
	for (size_t i = 0; i < paths.count; i++) {
		char *label = xasprintf("file %s", paths.items[i]);

		add_stamp(out, label, paths.items[i]);
		free(label);
	}
	strlist_release(&paths);
}

bool identity_has_file(const struct command *command, const char *path)
{
	struct strlist argv = STRLIST_INIT;
	struct strlist paths = STRLIST_INIT;
	bool found = false;

	command_record_arguments(command, &argv);
	list_files(&paths, &argv, command);
	for (size_t i = 0; i < paths.count && !found; i++) {
		char *real = realpath(paths.items[i], NULL);

		found = real && strcmp(real, path) == 0;
		free(real);
	}
	strlist_release(&paths);
	strlist_release(&argv);
	return found;
}

/* Scripts with sizes in them: whoever writes the answer there has the same. */
static void add_sources(struct strbuf *out, const struct command *command)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		const struct named_file *source = command->knobs[kind].source;
		char *label, *hash;

		if (!source || command_source_find(command, source->path) !=
				       &command->knobs[kind])
			continue;
		label = xasprintf("file %s", source->path);
		hash = xasprintf("%016llx but for its sizes",
				 (unsigned long long)command_source_hash(
					 command, source));
		identity_add(out, IDENTITY_PART, label, hash);
		free(hash);
		free(label);
	}
}

/* What PATH leads to: an interpreter by its place and its content. */
static void add_program(struct strbuf *out, const struct command *command)
{
	const char *program = command->given->items[0];
	char *found = exec_command_where(program);
	char *real = found ? realpath(found, NULL) : NULL;

	if (real) {
		identity_add(out, IDENTITY_PART, "program", real);
		if (!command_source_find(command, program))
			add_stamp(out, "file of the program", real);
	}
	free(real);
	free(found);
}

/* Does the variable change memory, or which code runs? */
static bool is_telling(const char *item)
{
	static const char *const names[] = {
		"LD_PRELOAD=",      "PYTHONPATH=",   "PYTHONHOME=",
		"VIRTUAL_ENV=",     "CONDA_PREFIX=", "OMP_NUM_THREADS=",
		"MKL_NUM_THREADS=",
	};
	static const char *const beginnings[] = { "XLA_", "MALLOC_" };

	if (strncmp(item, "PYTORCH_", 8) == 0)
		return strstr(item, "ALLOC_CONF=") != NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(item, names[i], strlen(names[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (strncmp(item, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* Of one rank among others, and where they meet: whoever starts it says it. */
static bool tells_a_rank(const char *name)
{
	return strstr(name, "RANK") || strstr(name, "WORLD") ||
	       strstr(name, "PORT") || strncmp(name, "SLURM_", 6) == 0;
}

static bool is_of_a_knob(const struct command *command, const char *name)
{
	for (int kind = 0; kind < KNOB_KINDS; kind++)
		if (command->knobs[kind].form == KNOB_ENVIRONMENT &&
		    strcmp(command->knobs[kind].name, name) == 0)
			return true;
	return false;
}

/* SEED, as --seed; STEPS, as --steps. */
static bool is_neutral_variable(const struct preset *preset, const char *name)
{
	const struct strlist *neutral = &preset->words.neutral_args;
	const struct strlist *steps = &preset->knobs.steps.names;
	char *option = xasprintf("--%s", name);
	size_t length = strlen(option);
	bool found;

	for (size_t i = 0; i < length; i++)
		option[i] = (char)tolower((unsigned char)option[i]);
	found = names_find(neutral, option, length, false) < neutral->count ||
		names_find(steps, option, length, false) < steps->count;
	free(option);
	return found;
}

/* The script reads a number from it, which may be that of a layer or a length.
 */
static bool is_setting(const struct command *command, const char *name)
{
	const struct source *source =
		command->script_file ? named_file_source(command->script_file)
				     : &command->source;
	bool is_read = false;

	for (size_t i = 0; i < source->variable_count && !is_read; i++)
		is_read = source->variables[i].kind == SOURCE_INTEGER &&
			  strcmp(source->variables[i].name, name) == 0;
	return is_read && !tells_a_rank(name) &&
	       !is_neutral_variable(command->preset, name) &&
	       !is_of_a_knob(command, name);
}

static void add_environment(struct strbuf *out, const struct command *command,
			    const struct strlist *environment)
{
	for (size_t i = 0; i < environment->count; i++) {
		const char *item = environment->items[i];
		size_t length = strcspn(item, "=");
		char *name = xstrndup(item, length);
		char *label = xasprintf("variable %s", name);

		if (item[length] &&
		    (is_telling(item) || is_setting(command, name)))
			identity_add(out, IDENTITY_PART, label,
				     item + length + 1);
		free(label);
		free(name);
	}
}

static void add_driver(struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	if (textfile_read(DRIVER_VERSION, DRIVER_VERSION_MAX, &text, NULL) >= 0)
		identity_add(out, IDENTITY_PART, "driver", strbuf_text(&text));
	strbuf_release(&text);
}

/* Total memory moves a little with kernels and firmware of equal machines. */
static uint64_t rounded_memory(uint64_t bytes)
{
	return (bytes + 128 * MIB) / (256 * MIB) * (256 * MIB);
}

/* Its memory and the limit of the cgroup. */
static void add_host(struct strbuf *out)
{
	struct host_budget host;
	char text[BYTES_TEXT_MAX];

	if (host_budget_read(&host, 0, &host_roots_here, NULL) < 0)
		return;
	identity_add(out, IDENTITY_PLACE, "memory of the machine",
		     bytes_format(text, rounded_memory(host.total_bytes)));
	identity_add(out, IDENTITY_PLACE, "memory of the cgroup",
		     bytes_format(text, host.cgroup_limit_bytes));
}

char *identity_make(const struct request *request)
{
	struct strlist argv = STRLIST_INIT;
	struct strlist masked = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	char folder[PATH_MAX];

	command_record_arguments(&request->command, &argv);
	secrets_mask_argv(&masked, &argv);
	identity_begin(&out);
	add_question(&out, request);
	add_budget(&out, request->options);
	if (request->options->target.device != DEVICE_HOST)
		visible_gpus_fingerprint(request->gpus, &out);
	add_host(&out);
	identity_add_list(&out, "argument", &masked);
	add_reading(&out, request);
	/* Not those of neutral arguments: a run writes its own checkpoint. */
	identity_add_files(&out, &argv, &request->command);
	add_sources(&out, &request->command);
	add_program(&out, &request->command);
	/* Relative names, in arguments and scripts, mean something here. */
	if (getcwd(folder, sizeof(folder)))
		identity_add(&out, IDENTITY_PART, "folder", folder);
	add_environment(&out, &request->command, &request->environment);
	add_driver(&out);
	strlist_release(&masked);
	strlist_release(&argv);
	return strbuf_detach(&out);
}

const char *identity_name(const struct request *request)
{
	const struct command_view *view = &request->command.view;
	const char *name =
		command_argv(&request->command)->items[view->program];

	if (view->script != NO_INDEX)
		name = command_argv(&request->command)->items[view->script];
	else if (view->module != NO_INDEX)
		name = command_argv(&request->command)->items[view->module];
	return basename(name);
}

char *identity_subject(const struct request *request)
{
	return xasprintf("%s %s", identity_name(request),
			 request->command.preset->name);
}
