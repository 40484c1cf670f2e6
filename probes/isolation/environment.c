/* The environment of a probe: a table of its differences. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/environment.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH "{scratch}"

struct environment_row {
	const char *name;
	const char *value; /* SCRATCH in it stands for the folder */
	bool only_if_unset;
};

/*
 * WANDB_DISABLED and DISABLE_MLFLOW_INTEGRATION are not here: with
 * --report_to wandb or mlflow transformers raises an error because of them.
 */
static const struct environment_row rows[] = {
	{ "WANDB_MODE", "disabled", false },
	{ "WANDB_SILENT", "true", false },
	/* Otherwise wandb wraps stdout. */
	{ "WANDB_CONSOLE", "off", false },
	{ "WANDB_DIR", SCRATCH, false },
	{ "COMET_MODE", "disabled", false },
	/* "debug" is known to neptune 1 and 2, and sends nothing. */
	{ "NEPTUNE_MODE", "debug", false },
	{ "MLFLOW_TRACKING_URI", "file:" SCRATCH "/mlruns", false },
	{ "CLEARML_OFFLINE_MODE", "1", false },
	{ "SWANLAB_MODE", "disabled", false },
	{ "TRACKIO_DIR", SCRATCH "/trackio", false },
	{ "TENSORBOARD_LOGGING_DIR", SCRATCH "/tensorboard", false },
	/* Its warning after a fork is no news of the probe. */
	{ "TOKENIZERS_PARALLELISM", "false", true },
	{ "PYTHONUNBUFFERED", "1", false },
	{ "PYTHONDONTWRITEBYTECODE", "1", false },
	/* Progress bars are cut to the terminal, with the step counter. */
	{ "COLUMNS", "200", false },
	/* Read by tqdm 4.66 and later. */
	{ "TQDM_MININTERVAL", "0", false },
	{ "NO_COLOR", "1", false },
	{ "HYDRA_FULL_ERROR", "1", false },
	/* Otherwise most of a GPU is taken at the start, whatever the size. */
	{ "XLA_PYTHON_CLIENT_PREALLOCATE", "false", false },
	{ "TF_FORCE_GPU_ALLOW_GROWTH", "true", false },
	/* The step hook's: beside the page is not always a folder of ours. */
	{ "AUTOFIT_HOOK_FILES", SCRATCH, false },
};

static size_t environment_name_length(const char *item)
{
	return strcspn(item, "=");
}

static bool same_name(const char *a, const char *b)
{
	size_t length = environment_name_length(a);

	return length == environment_name_length(b) &&
	       memcmp(a, b, length) == 0;
}

static void copy_first_of_each(struct strlist *out, const struct strlist *user)
{
	for (size_t i = 0; i < user->count; i++) {
		size_t before = 0;

		while (before < i &&
		       !same_name(user->items[before], user->items[i]))
			before++;
		if (before == i)
			strlist_add(out, user->items[i]);
	}
}

/* The value with every SCRATCH replaced; the caller frees. */
static char *environment_expand(const char *value, const char *scratch)
{
	struct strbuf text = STRBUF_INIT;
	const char *mark;

	while ((mark = strstr(value, SCRATCH)) != NULL) {
		strbuf_add(&text, value, (size_t)(mark - value));
		strbuf_adds(&text, scratch);
		value = mark + strlen(SCRATCH);
	}
	strbuf_adds(&text, value);
	return strbuf_detach(&text);
}

static void apply_rows(struct strlist *out, const char *scratch)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct environment_row *row = &rows[i];
		char *value;

		if (row->only_if_unset && strlist_env_get(out, row->name))
			continue;
		value = environment_expand(row->value, scratch);
		strlist_env_set(out, row->name, value);
		free(value);
	}
}

static void apply_item(struct strlist *out, const char *item)
{
	size_t length = environment_name_length(item);
	char *name = xstrndup(item, length);

	if (item[length] == '=')
		strlist_env_set(out, name, item + length + 1);
	else
		strlist_env_unset(out, name);
	free(name);
}

static void set_number(struct strlist *out, const char *name, int64_t number)
{
	char *value = xasprintf("%" PRId64, number);

	strlist_env_set(out, name, value);
	free(value);
}

/* Without PATH the C library looks in these. */
static void put_shims(struct strlist *out, const char *shims)
{
	if (!strlist_env_get(out, "PATH"))
		strlist_env_set(out, "PATH", "/bin:/usr/bin");
	strlist_env_prepend(out, "PATH", shims);
}

static void set_or_unset(struct strlist *out, const char *name,
			 const char *value)
{
	if (value)
		strlist_env_set(out, name, value);
	else
		strlist_env_unset(out, name);
}

/* What autofit's own parts inside the probe are told. */
static void set_own(struct strlist *out, const struct probe_environment *probe)
{
	strlist_env_set(out, "AUTOFIT_PROBE", probe->id);
	set_number(out, "AUTOFIT_MICRO", probe->micro_batch);
	set_number(out, "AUTOFIT_ACCUM", probe->grad_accum);
	set_or_unset(out, "AUTOFIT_CHANNEL", probe->channel);
	if (probe->channel_fd >= 0)
		set_number(out, "AUTOFIT_CHANNEL_FD", probe->channel_fd);
	else
		strlist_env_unset(out, "AUTOFIT_CHANNEL_FD");
	if (probe->hook)
		strlist_env_prepend(out, "PYTHONPATH", probe->hook);
	if (probe->shims)
		put_shims(out, probe->shims);
	if (probe->preload && !strpbrk(probe->preload, ": "))
		strlist_env_prepend(out, "LD_PRELOAD", probe->preload);
}

void probe_environment_make(struct strlist *out, const struct strlist *user,
			    const struct probe_environment *probe)
{
	struct strlist made = STRLIST_INIT;

	copy_first_of_each(&made, user);
	apply_rows(&made, probe->scratch);
	if (probe->port > 0) {
		set_number(&made, "MASTER_PORT", probe->port);
		/* torchrun's default for --master_port. */
		set_number(&made, "PET_MASTER_PORT", probe->port);
	}
	for (size_t i = 0; probe->probe_env && i < probe->probe_env->count; i++)
		apply_item(&made, probe->probe_env->items[i]);
	set_own(&made, probe);
	for (size_t i = 0; i < made.count; i++)
		strlist_add(out, made.items[i]);
	strlist_release(&made);
}
