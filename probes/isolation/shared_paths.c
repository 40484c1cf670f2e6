/* Caches on disk that probes share with the user, as a table. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/shared_paths.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * otherwise is where it lies without the variable, "~/" being HOME and {user}
 * the user's name. NULL: nowhere, or below XDG_CACHE_HOME, which is a row.
 */
static const struct shared_paths_row {
	const char *variable;
	const char *otherwise;
	const char *below; /* of the value; NULL: the value itself */
	bool is_list;      /* several, parted by colons */
} rows[] = {
	{ .variable = "XDG_CACHE_HOME", .otherwise = "~/.cache" },
	/* Hugging Face */
	{ .variable = "HF_HOME" },
	{ .variable = "HF_HUB_CACHE" },
	{ .variable = "HUGGINGFACE_HUB_CACHE" },
	{ .variable = "HF_ASSETS_CACHE" },
	{ .variable = "HF_XET_CACHE" },
	{ .variable = "HF_DATASETS_CACHE" },
	{ .variable = "HF_MODULES_CACHE" },
	{ .variable = "HF_EVALUATE_CACHE" },
	{ .variable = "TRANSFORMERS_CACHE" },
	{ .variable = "PYTORCH_TRANSFORMERS_CACHE" },
	{ .variable = "PYTORCH_PRETRAINED_BERT_CACHE" },
	{ .variable = "SENTENCE_TRANSFORMERS_HOME" },
	/* PyTorch and compilers */
	{ .variable = "TORCH_HOME" },
	{ .variable = "TORCH_EXTENSIONS_DIR" },
	{ .variable = "PYTORCH_KERNEL_CACHE_PATH" },
	{ .variable = "TORCHINDUCTOR_CACHE_DIR",
	  .otherwise = "/tmp/torchinductor_{user}" },
	{ .variable = "TRITON_HOME",
	  .otherwise = "~/.triton",
	  .below = ".triton" },
	{ .variable = "TRITON_CACHE_DIR" },
	{ .variable = "CUDA_CACHE_PATH", .otherwise = "~/.nv/ComputeCache" },
	{ .variable = "CUPY_CACHE_DIR", .otherwise = "~/.cupy/kernel_cache" },
	{ .variable = "NUMBA_CACHE_DIR" },
	{ .variable = "JAX_COMPILATION_CACHE_DIR" },
	{ .variable = "CCACHE_DIR", .otherwise = "~/.ccache" },
	/* data and models of other libraries */
	{ .variable = "KERAS_HOME", .otherwise = "~/.keras" },
	{ .variable = "TFDS_DATA_DIR", .otherwise = "~/tensorflow_datasets" },
	{ .variable = "TFHUB_CACHE_DIR", .otherwise = "/tmp/tfhub_modules" },
	{ .variable = "NLTK_DATA",
	  .otherwise = "~/nltk_data",
	  .is_list = true },
	{ .variable = "SCIKIT_LEARN_DATA", .otherwise = "~/scikit_learn_data" },
	{ .variable = "TIKTOKEN_CACHE_DIR",
	  .otherwise = "/tmp/data-gym-cache" },
	{ .variable = "MODELSCOPE_CACHE" },
	{ .variable = "KAGGLEHUB_CACHE" },
	{ .variable = "VLLM_CACHE_ROOT" },
	/* what Python programs write once */
	{ .variable = "MPLCONFIGDIR", .otherwise = "~/.config/matplotlib" },
	{ .variable = "PIP_CACHE_DIR" },
	{ .variable = "UV_CACHE_DIR" },
	/* CUDA's server for several processes: pipes, not files */
	{ .variable = "CUDA_MPS_PIPE_DIRECTORY",
	  .otherwise = "/tmp/nvidia-mps" },
	{ .variable = "CUDA_MPS_LOG_DIRECTORY",
	  .otherwise = "/var/log/nvidia-mps" },
};

struct finder {
	struct strlist *out;
	const struct strlist *environment;
	char *home; /* without slashes at its end; NULL: not known */
	uid_t user;
};

static const char *value_of(const struct finder *finder, const char *name)
{
	const char *value = strlist_env_get(finder->environment, name);

	return value && *value ? value : NULL;
}

/* As Python's getpass.getuser(), but for the user database. The caller
 * frees. */
static char *user_name(const struct finder *finder)
{
	static const char *const names[] = { "LOGNAME", "USER", "LNAME",
					     "USERNAME" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (value_of(finder, names[i]))
			return xstrdup(value_of(finder, names[i]));
	return finder->user == 0 ? xstrdup("root")
				 : xasprintf("%u", (unsigned int)finder->user);
}

/* A part "..": what it leads to only the file system knows. */
static bool goes_up(const char *path)
{
	const char *at = path;

	while ((at = strstr(at, "/.."))) {
		if (at[3] == '/' || at[3] == '\0')
			return true;
		at += 3;
	}
	return false;
}

/* One slash between parts, none at the end, no part ".". The caller frees. */
static char *tidy(const char *path)
{
	struct strbuf out = STRBUF_INIT;

	while (*path) {
		size_t length;

		while (*path == '/')
			path++;
		length = strcspn(path, "/");
		if (length && !(length == 1 && *path == '.')) {
			strbuf_addch(&out, '/');
			strbuf_add(&out, path, length);
		}
		path += length;
	}
	return out.length ? strbuf_detach(&out) : xstrdup("/");
}

/* HOME itself and what it lies in hold far more than caches. */
static bool holds_home(const struct finder *finder, const char *path)
{
	size_t length = strlen(path);

	return finder->home && strncmp(finder->home, path, length) == 0 &&
	       (finder->home[length] == '/' || finder->home[length] == '\0');
}

static void shared_paths_add(const struct finder *finder, const char *path)
{
	char *clean;

	if (*path != '/' || goes_up(path))
		return;
	clean = tidy(path);
	if (strcmp(clean, "/") != 0 && !holds_home(finder, clean) &&
	    strlist_find(finder->out, clean) == finder->out->count)
		strlist_add(finder->out, clean);
	free(clean);
}

/* "~/x" as most libraries read it, {user}. The caller frees; or NULL. */
static char *shared_paths_expand(const struct finder *finder, const char *text)
{
	const char *mark = strstr(text, "{user}");
	char *user;
	char *path;

	if (strncmp(text, "~/", 2) == 0)
		return finder->home ? xasprintf("%s/%s", finder->home, text + 2)
				    : NULL;
	if (!mark)
		return xstrdup(text);
	user = user_name(finder);
	path = strchr(user, '/')
		       ? NULL
		       : xasprintf("%.*s%s", (int)(mark - text), text, user);
	free(user);
	return path;
}

static void shared_paths_add_value(const struct finder *finder,
				   const char *value, const char *below)
{
	char *path = shared_paths_expand(finder, value);

	if (path && below) {
		char *longer = xasprintf("%s/%s", path, below);

		free(path);
		path = longer;
	}
	if (path)
		shared_paths_add(finder, path);
	free(path);
}

static void shared_paths_add_list(const struct finder *finder,
				  const char *value)
{
	while (*value) {
		size_t length = strcspn(value, ":");
		char *one = xstrndup(value, length);

		shared_paths_add_value(finder, one, NULL);
		free(one);
		value += length + (value[length] == ':');
	}
}

static void shared_paths_add_row(const struct finder *finder,
				 const struct shared_paths_row *row)
{
	const char *value = value_of(finder, row->variable);

	if (value && row->is_list)
		shared_paths_add_list(finder, value);
	else if (value)
		shared_paths_add_value(finder, value, row->below);
	else if (row->otherwise)
		shared_paths_add_value(finder, row->otherwise, NULL);
}

void shared_paths_find(struct strlist *out, const struct strlist *environment,
		       uid_t user)
{
	struct finder finder = {
		.out = out,
		.environment = environment,
		.user = user,
	};
	const char *home = value_of(&finder, "HOME");

	if (home && *home == '/' && !goes_up(home))
		finder.home = tidy(home);
	/* A home of "/" is that of a service: nothing is below it alone. */
	if (finder.home && strcmp(finder.home, "/") == 0) {
		free(finder.home);
		finder.home = NULL;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		shared_paths_add_row(&finder, &rows[i]);
	free(finder.home);
}
