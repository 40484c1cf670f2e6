/* Caches that probes share with the user: by variable, or where they lie. */
/* SPDX-License-Identifier: MIT */
/* USES base probes */
#include "probes/isolation/shared_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ITEMS_MAX 4

static const struct {
	const char *name;
	const char *environment[ITEMS_MAX];
	const char *with[ITEMS_MAX];    /* must be in the list */
	const char *without[ITEMS_MAX]; /* must not */
} rows[] = {
	{ "defaults below HOME",
	  { "HOME=/home/ann" },
	  { "/home/ann/.cache", "/home/ann/.triton",
	    "/home/ann/.nv/ComputeCache", "/home/ann/.config/matplotlib" },
	  { "/home/ann", "/home/ann/.config", "/", "/tmp" } },
	{ "defaults of libraries' data",
	  { "HOME=/home/ann" },
	  { "/home/ann/.keras", "/home/ann/tensorflow_datasets",
	    "/home/ann/nltk_data", "/tmp/nvidia-mps" },
	  { "/home/ann/.local", NULL } },
	{ "MPS",
	  { "CUDA_MPS_PIPE_DIRECTORY=/run/mps",
	    "CUDA_MPS_LOG_DIRECTORY=/run/mps-log" },
	  { "/run/mps", "/run/mps-log" },
	  { "/tmp/nvidia-mps", "/var/log/nvidia-mps" } },
	{ "its log by default",
	  { "HOME=/h" },
	  { "/var/log/nvidia-mps" },
	  { NULL } },
	{ "XDG",
	  { "HOME=/home/ann", "XDG_CACHE_HOME=/scratch/ann/cache" },
	  { "/scratch/ann/cache" },
	  { "/home/ann/.cache" } },
	{ "an empty variable is none",
	  { "HOME=/home/ann", "XDG_CACHE_HOME=" },
	  { "/home/ann/.cache" },
	  { "" } },
	{ "Hugging Face",
	  { "HF_HOME=/d/hf", "HF_HUB_CACHE=/d/hub", "HF_DATASETS_CACHE=/d/ds",
	    "TRANSFORMERS_CACHE=/d/tr" },
	  { "/d/hf", "/d/hub", "/d/ds", "/d/tr" },
	  { NULL } },
	{ "torch",
	  { "TORCH_HOME=/d/t", "TORCH_EXTENSIONS_DIR=/d/e",
	    "TORCHINDUCTOR_CACHE_DIR=/d/i", "USER=ann" },
	  { "/d/t", "/d/e", "/d/i" },
	  { "/tmp/torchinductor_ann" } },
	{ "inductor by name",
	  { "USER=ann" },
	  { "/tmp/torchinductor_ann" },
	  { NULL } },
	{ "the name as Python finds it",
	  { "USER=ann", "LOGNAME=bob" },
	  { "/tmp/torchinductor_bob" },
	  { "/tmp/torchinductor_ann" } },
	{ "without a name: the number",
	  { "HOME=/home/ann" },
	  { "/tmp/torchinductor_1234" },
	  { NULL } },
	{ "a name that is a path",
	  { "USER=../../etc" },
	  { NULL },
	  { "/tmp/torchinductor_../../etc", "/etc" } },
	{ "triton's home holds a folder of its own",
	  { "HOME=/home/ann", "TRITON_HOME=/d", "TRITON_CACHE_DIR=/e/tc" },
	  { "/d/.triton", "/e/tc" },
	  { "/d", "/home/ann/.triton" } },
	{ "compilers",
	  { "CUDA_CACHE_PATH=/d/nv", "NUMBA_CACHE_DIR=/d/nu",
	    "JAX_COMPILATION_CACHE_DIR=/d/j" },
	  { "/d/nv", "/d/nu", "/d/j" },
	  { NULL } },
	{ "data",
	  { "KERAS_HOME=/d/k", "TFDS_DATA_DIR=/d/tf", "MPLCONFIGDIR=/d/m",
	    "HOME=/home/ann" },
	  { "/d/k", "/d/tf", "/d/m" },
	  { "/home/ann/.config/matplotlib" } },
	{ "a list of folders",
	  { "NLTK_DATA=/d/a::/d/b:rel:/" },
	  { "/d/a", "/d/b" },
	  { "rel", "/", "" } },
	{ "relative values",
	  { "HF_HOME=cache", "TORCH_HOME=./x", "KERAS_HOME=../y" },
	  { NULL },
	  { "cache", "./x", "../y" } },
	{ "a tilde is HOME",
	  { "HOME=/home/ann", "HF_HOME=~/hf", "TORCH_HOME=~" },
	  { "/home/ann/hf" },
	  { "~/hf", "~", "/home/ann" } },
	{ "never everything",
	  { "HF_HOME=/", "TORCH_HOME=//", "KERAS_HOME=/./" },
	  { NULL },
	  { "/", "//", "/./" } },
	{ "never HOME",
	  { "HOME=/home/ann/", "HF_HOME=/home/ann", "TORCH_HOME=/home//ann/",
	    "KERAS_HOME=/home/ann/./" },
	  { NULL },
	  { "/home/ann", "/home/ann/", "/home//ann/" } },
	{ "nor what HOME lies in",
	  { "HOME=/home/ann", "HF_HOME=/home", "TORCH_HOME=/home/" },
	  { NULL },
	  { "/home", "/home/" } },
	{ "names that begin alike are others",
	  { "HOME=/home/ann", "HF_HOME=/home/an", "TORCH_HOME=/home/anna" },
	  { "/home/an", "/home/anna" },
	  { NULL } },
	{ "upwards: not without asking the file system",
	  { "HOME=/home/ann", "HF_HOME=/home/ann/x/..",
	    "TORCH_HOME=/d/../home/ann", "KERAS_HOME=/d/..x/y" },
	  { "/d/..x/y" },
	  { "/home/ann/x/..", "/home/ann", "/d/../home/ann" } },
	{ "tidied", { "HF_HOME=//d//hf///" }, { "/d/hf" }, { "//d//hf///" } },
	{ "no HOME",
	  { "HOME=" },
	  { "/tmp/nvidia-mps" },
	  { "/.cache", ".cache", "~/.cache" } },
	{ "a service whose HOME is everything",
	  { "HOME=/" },
	  { "/tmp/nvidia-mps" },
	  { "/.cache", "//.cache", "/" } },
	{ "output folders are none",
	  { "HOME=/home/ann", "WANDB_DIR=/d/w", "TMPDIR=/d/tmp",
	    "OUTPUT_DIR=/d/o" },
	  { NULL },
	  { "/d/w", "/d/tmp", "/d/o" } },
};

static void find(struct strlist *found, const char *const *items, uid_t user)
{
	struct strlist environment = STRLIST_INIT;

	for (size_t i = 0; i < ITEMS_MAX && items[i]; i++)
		strlist_add(&environment, items[i]);
	shared_paths_find(found, &environment, user);
	strlist_release(&environment);
}

static void every_row_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist found = STRLIST_INIT;

		find(&found, rows[i].environment, 1234);
		for (size_t j = 0; j < ITEMS_MAX && rows[i].with[j]; j++)
			if (strlist_find(&found, rows[i].with[j]) ==
			    found.count)
				fail_msg("%s: no %s", rows[i].name,
					 rows[i].with[j]);
		for (size_t j = 0; j < ITEMS_MAX && rows[i].without[j]; j++)
			if (strlist_find(&found, rows[i].without[j]) <
			    found.count)
				fail_msg("%s: %s", rows[i].name,
					 rows[i].without[j]);
		strlist_release(&found);
	}
}

/* Whatever the environment: absolute, tidy, each once, never everything. */
static void all_of_them_are_safe(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist found = STRLIST_INIT;

		find(&found, rows[i].environment, 0);
		for (size_t j = 0; j < found.count; j++) {
			const char *path = found.items[j];

			if (path[0] != '/' || !path[1] ||
			    path[strlen(path) - 1] == '/' ||
			    strstr(path, "//") ||
			    strlist_find(&found, path) != j)
				fail_msg("%s: '%s'", rows[i].name, path);
		}
		strlist_release(&found);
	}
}

static void root_has_a_name(void **state)
{
	static const char *const nothing[ITEMS_MAX] = { NULL };
	struct strlist found = STRLIST_INIT;

	(void)state;
	find(&found, nothing, 0);
	assert_true(strlist_find(&found, "/tmp/torchinductor_root") <
		    found.count);
	strlist_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_found),
		cmocka_unit_test(all_of_them_are_safe),
		cmocka_unit_test(root_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
