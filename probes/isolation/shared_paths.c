/* Caches on disk that probes share with the user, as a table. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/shared_paths.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Folders of one cache, parted by spaces. */
#define HF_FOLDERS "hub datasets modules assets xet evaluate metrics"

/*
 * A row names caches that are known, and never a folder that holds them and
 * other things: a program may keep its checkpoints beside them. otherwise is
 * where it lies without the variable, "~/" being HOME, "{cache}/" the folder of
 * caches, and {user} the user's name. NULL: nowhere, or in another row.
 */
static const struct shared_paths_row {
	const char *variable;
	const char *otherwise;
	const char *below; /* words: folders of it; NULL: the value itself */
	bool is_list;      /* several, parted by colons */
	bool is_tool;      /* its owner changes at will what is in there */
	bool is_made;      /* wanted even where it is not there yet */
} rows[] = {
	/* Hugging Face */
	{ .variable = "HF_HOME",
	  .otherwise = "{cache}/huggingface",
	  .below = HF_FOLDERS,
	  .is_made = true },
	{ .variable = "HF_HUB_CACHE", .is_made = true },
	{ .variable = "HUGGINGFACE_HUB_CACHE", .is_made = true },
	{ .variable = "HF_ASSETS_CACHE" },
	{ .variable = "HF_XET_CACHE" },
	{ .variable = "HF_DATASETS_CACHE", .is_made = true },
	{ .variable = "HF_MODULES_CACHE" },
	{ .variable = "HF_EVALUATE_CACHE" },
	{ .variable = "TRANSFORMERS_CACHE" },
	{ .variable = "PYTORCH_TRANSFORMERS_CACHE" },
	{ .variable = "PYTORCH_PRETRAINED_BERT_CACHE" },
	{ .variable = "SENTENCE_TRANSFORMERS_HOME" },
	/* PyTorch and compilers */
	{ .variable = "TORCH_HOME",
	  .otherwise = "{cache}/torch",
	  .below = "hub",
	  .is_made = true },
	{ .otherwise = "{cache}/torch",
	  .below = "kernels sentence_transformers transformers" },
	{ .variable = "TORCH_EXTENSIONS_DIR",
	  .otherwise = "{cache}/torch_extensions" },
	{ .variable = "PYTORCH_KERNEL_CACHE_PATH" },
	{ .variable = "TORCHINDUCTOR_CACHE_DIR",
	  .otherwise = "/tmp/torchinductor_{user}" },
	{ .variable = "TRITON_HOME",
	  .otherwise = "~",
	  .below = ".triton/cache .triton/dump .triton/llvm .triton/nvidia "
		   ".triton/autotune" },
	{ .variable = "TRITON_CACHE_DIR" },
	{ .otherwise = "{cache}/triton" },
	{ .variable = "CUDA_CACHE_PATH", .otherwise = "~/.nv/ComputeCache" },
	{ .variable = "CUPY_CACHE_DIR", .otherwise = "~/.cupy/kernel_cache" },
	{ .variable = "NUMBA_CACHE_DIR" },
	{ .variable = "JAX_COMPILATION_CACHE_DIR" },
	{ .variable = "CCACHE_DIR", .otherwise = "~/.ccache", .is_tool = true },
	{ .otherwise = "{cache}/ccache", .is_tool = true },
	/* data and models of other libraries */
	{ .variable = "KERAS_HOME",
	  .otherwise = "~/.keras",
	  .below = "models datasets" },
	{ .variable = "TFDS_DATA_DIR", .otherwise = "~/tensorflow_datasets" },
	{ .variable = "TFHUB_CACHE_DIR", .otherwise = "/tmp/tfhub_modules" },
	{ .variable = "NLTK_DATA",
	  .otherwise = "~/nltk_data",
	  .is_list = true },
	{ .variable = "SCIKIT_LEARN_DATA", .otherwise = "~/scikit_learn_data" },
	{ .variable = "TIKTOKEN_CACHE_DIR",
	  .otherwise = "/tmp/data-gym-cache" },
	{ .variable = "MODELSCOPE_CACHE",
	  .otherwise = "{cache}/modelscope",
	  .below = "hub models datasets" },
	{ .variable = "KAGGLEHUB_CACHE",
	  .otherwise = "{cache}/kagglehub",
	  .below = "models datasets competitions" },
	{ .variable = "VLLM_CACHE_ROOT",
	  .otherwise = "{cache}/vllm",
	  .below = "torch_compile_cache modelinfos" },
	{ .otherwise = "{cache}", .below = "clip whisper" },
	/* what Python programs write once */
	{ .variable = "MPLCONFIGDIR", .otherwise = "~/.config/matplotlib" },
	{ .otherwise = "{cache}",
	  .below = "matplotlib fontconfig",
	  .is_tool = true },
	{ .variable = "PIP_CACHE_DIR",
	  .otherwise = "{cache}/pip",
	  .is_tool = true },
	{ .variable = "UV_CACHE_DIR",
	  .otherwise = "{cache}/uv",
	  .is_tool = true },
	/* CUDA's server for several processes: pipes, not files */
	{ .variable = "CUDA_MPS_PIPE_DIRECTORY",
	  .otherwise = "/tmp/nvidia-mps",
	  .is_tool = true },
	{ .variable = "CUDA_MPS_LOG_DIRECTORY",
	  .otherwise = "/var/log/nvidia-mps",
	  .is_tool = true },
};

/* What caches write again by themselves: indexes, locks, half a download. */
static const char *const own_files[] = {
	"*.lock",
	"*.incomplete",
	"*.part",
	"*.partial",
	"*.tmp",
	"*.downloading",
	"*.pyc",
	"*-atime",
	"*.nbi",
	"*.nbc",
	"*/ComputeCache/index",
	"*/index",
	"*/stats",
	"*/trusted_list",
	"*/refs/*",
	"*/xet/*",
	"*/.ninja_*",
	"*/build.ninja",
	"*/fontlist-*.json",
	"*/CACHEDIR.TAG",
	"*/version.txt",
	"*/.locks/*",
	"*/.msc",
	"*/.mdl",
	"*/.mv",
	"*/local_cache",
	"*.best_config",
};

struct finder {
	struct shared_paths *out;
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

/* One that may be shared, tidied; the caller frees. NULL: it may not. */
static char *shared_paths_clean(const struct finder *finder, const char *path)
{
	char *clean;

	if (*path != '/' || goes_up(path))
		return NULL;
	clean = tidy(path);
	if (strcmp(clean, "/") != 0 && !holds_home(finder, clean))
		return clean;
	free(clean);
	return NULL;
}

static void shared_paths_add_once(struct strlist *list, const char *path)
{
	if (strlist_find(list, path) == list->count)
		strlist_add(list, path);
}

/* Takes the path. */
static void shared_paths_add(const struct finder *finder,
			     const struct shared_paths_row *row, char *path)
{
	if (path) {
		shared_paths_add_once(&finder->out->all, path);
		if (!row->is_tool)
			shared_paths_add_once(&finder->out->kept, path);
		if (row->is_made)
			shared_paths_add_once(&finder->out->made, path);
	}
	free(path);
}

/* The folder of caches; the caller frees; or NULL. */
static char *cache_home(const struct finder *finder)
{
	const char *value = value_of(finder, "XDG_CACHE_HOME");

	if (value)
		return *value == '/' ? xstrdup(value) : NULL;
	return finder->home ? xasprintf("%s/.cache", finder->home) : NULL;
}

/* "~/x" as most libraries read it, {cache}, {user}. The caller frees; or
 * NULL. */
static char *shared_paths_expand(const struct finder *finder, const char *text)
{
	static const char cache[] = "{cache}";
	const char *mark = strstr(text, "{user}");
	char *known;
	char *path = NULL;

	if (strcmp(text, "~") == 0 || strncmp(text, "~/", 2) == 0)
		return finder->home ? xasprintf("%s%s", finder->home, text + 1)
				    : NULL;
	if (strncmp(text, cache, sizeof(cache) - 1) == 0) {
		known = cache_home(finder);
		if (known)
			path = xasprintf("%s%s", known,
					 text + sizeof(cache) - 1);
		free(known);
		return path;
	}
	if (!mark)
		return xstrdup(text);
	known = user_name(finder);
	if (!strchr(known, '/'))
		path = xasprintf("%.*s%s", (int)(mark - text), text, known);
	free(known);
	return path;
}

/* The folders of the row below top, each a word. */
static void shared_paths_add_below(const struct finder *finder,
				   const struct shared_paths_row *row,
				   const char *top)
{
	const char *words = row->below;

	while (*words) {
		size_t length = strcspn(words, " ");
		char *path = xasprintf("%s/%.*s", top, (int)length, words);

		shared_paths_add(finder, row, shared_paths_clean(finder, path));
		free(path);
		words += length + strspn(words + length, " ");
	}
}

/* Of a value that names HOME or what it lies in nothing is shared, but what
 * libraries keep there by default. */
static void shared_paths_add_value(const struct finder *finder,
				   const struct shared_paths_row *row,
				   const char *value, bool is_given)
{
	char *path = shared_paths_expand(finder, value);
	char *clean = path ? shared_paths_clean(finder, path) : NULL;

	if (row->below && path && (clean || !is_given))
		shared_paths_add_below(finder, row, clean ? clean : path);
	else if (clean && !row->below)
		shared_paths_add(finder, row, xstrdup(clean));
	free(clean);
	free(path);
}

static void shared_paths_add_list(const struct finder *finder,
				  const struct shared_paths_row *row,
				  const char *value)
{
	while (*value) {
		size_t length = strcspn(value, ":");
		char *one = xstrndup(value, length);

		shared_paths_add_value(finder, row, one, true);
		free(one);
		value += length + (value[length] == ':');
	}
}

static void shared_paths_add_row(const struct finder *finder,
				 const struct shared_paths_row *row)
{
	const char *value =
		row->variable ? value_of(finder, row->variable) : NULL;

	if (value && row->is_list)
		shared_paths_add_list(finder, row, value);
	else if (value)
		shared_paths_add_value(finder, row, value, true);
	else if (row->otherwise)
		shared_paths_add_value(finder, row, row->otherwise, false);
}

bool shared_paths_is_own_file(const char *path)
{
	for (size_t i = 0; i < sizeof(own_files) / sizeof(*own_files); i++)
		if (fnmatch(own_files[i], path, 0) == 0)
			return true;
	return false;
}

void shared_paths_release(struct shared_paths *paths)
{
	strlist_release(&paths->all);
	strlist_release(&paths->kept);
	strlist_release(&paths->made);
}

void shared_paths_find(struct shared_paths *out,
		       const struct strlist *environment, uid_t user)
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
