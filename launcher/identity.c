/* What an exact repeat of a command must share with its record. */
/* SPDX-License-Identifier: MIT */
#include "launcher/identity.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "launcher/target.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger files are told apart by size and time alone. */
#define HASHED_FILE_MAX ((size_t)1024 * 1024)

static void add_text(struct strbuf *out, const char *name, const char *text)
{
	/* The length keeps two texts with newlines from meeting. */
	strbuf_addf(out, "%s %zu ", name, strlen(text));
	strbuf_adds(out, text);
	strbuf_addch(out, '\n');
}

static void add_list(struct strbuf *out, const char *name,
		     const struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		add_text(out, name, list->items[i]);
}

/* Without knobs and what changes no step's memory: the split is not part. */
static void add_command(struct strbuf *out, const struct job *job,
			const struct strlist *argv)
{
	add_list(out, "argv", argv);
	add_text(out, "preset", job->command.preset->name);
	strbuf_addf(out, "world %lld\neffective %lld\n",
		    (long long)job->command.world_size,
		    (long long)job->effective_batch);
}

static void add_options(struct strbuf *out, const struct options *options)
{
	const char *texts[] = { options->micro_flag,  options->accum_flag,
				options->global_flag, options->micro_scope,
				options->accum_scope, options->preset };

	strbuf_addf(out, "device %d %d memory %llu headroom %d %d %g %llu\n",
		    (int)options->device, options->cuda_index,
		    (unsigned long long)options->memory_bytes,
		    options->has_headroom, options->headroom.is_percent,
		    options->headroom.percent,
		    (unsigned long long)options->headroom.bytes);
	strbuf_addf(out, "grow %d max %lld multiple %lld tolerance %g\n",
		    options->effective == EFFECTIVE_GROW,
		    (long long)options->max_micro,
		    (long long)options->micro_multiple_of, options->tolerance);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		add_text(out, "option", texts[i] ? texts[i] : "");
	add_list(out, "template", &options->env_templates);
	add_list(out, "probe-arg", &options->probe_args);
	add_list(out, "probe-env", &options->probe_env);
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

static void add_file(struct strbuf *out, const char *path)
{
	struct strbuf text = STRBUF_INIT;
	struct stat info;

	if (stat(path, &info) < 0 || !S_ISREG(info.st_mode) ||
	    !is_instruction(path, info.st_mode))
		return;
	add_text(out, "file", path);
	if (info.st_size <= (off_t)HASHED_FILE_MAX &&
	    textfile_read(path, HASHED_FILE_MAX, &text, NULL) == 0)
		strbuf_addf(out, "content %zu %016llx\n", text.length,
			    (unsigned long long)hash_bytes(strbuf_text(&text),
							   text.length));
	else
		strbuf_addf(out, "size %lld time %lld\n",
			    (long long)info.st_size, (long long)info.st_mtime);
	strbuf_release(&text);
}

/* Script, configs, the program itself: whatever argv names as a file. */
static void add_files(struct strbuf *out, const struct strlist *argv)
{
	for (size_t i = 0; i < argv->count; i++) {
		const char *value = strchr(argv->items[i], '=');

		if (strlen(argv->items[i]) < PATH_MAX)
			add_file(out, argv->items[i]);
		if (value && strlen(value) < PATH_MAX)
			add_file(out, value + 1);
	}
}

static bool is_allocator_variable(const char *item)
{
	return (strncmp(item, "PYTORCH_", 8) == 0 &&
		strstr(item, "ALLOC_CONF")) ||
	       strncmp(item, "XLA_", 4) == 0 ||
	       strncmp(item, "CUDA_VISIBLE_DEVICES=", 21) == 0 ||
	       strncmp(item, "MALLOC_", 7) == 0 ||
	       strncmp(item, "LD_PRELOAD=", 11) == 0 ||
	       strncmp(item, "PYTHONPATH=", 11) == 0 ||
	       strncmp(item, "PATH=", 5) == 0 ||
	       strncmp(item, "VIRTUAL_ENV=", 12) == 0 ||
	       strncmp(item, "OMP_NUM_THREADS=", 16) == 0;
}

static void add_environment(struct strbuf *out,
			    const struct strlist *environment)
{
	char folder[PATH_MAX];

	for (size_t i = 0; i < environment->count; i++)
		if (is_allocator_variable(environment->items[i]))
			add_text(out, "environment", environment->items[i]);
	if (getcwd(folder, sizeof(folder)))
		add_text(out, "folder", folder);
}

char *identity_make(const struct job *job)
{
	struct strlist argv = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;

	command_identity(&job->command, &argv);
	strbuf_adds(&out, "autofit.identity/1\n");
	add_command(&out, job, &argv);
	add_options(&out, job->options);
	/* Not those of neutral arguments: a run writes its own checkpoint. */
	add_files(&out, &argv);
	strlist_release(&argv);
	add_environment(&out, &job->environment);
	target_fingerprint(&out);
	return strbuf_detach(&out);
}

char *identity_subject(const struct job *job)
{
	return xasprintf("%s %s", job_name(job), job->command.preset->name);
}
