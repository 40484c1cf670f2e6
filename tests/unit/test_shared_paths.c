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
	  { "/home/ann/.cache/huggingface/hub", "/home/ann/.triton/cache",
	    "/home/ann/.nv/ComputeCache", "/home/ann/.config/matplotlib" },
	  { "/home/ann", "/home/ann/.config", "/home/ann/.cache", "/tmp" } },
	{ "never what holds caches and other things",
	  { "HOME=/home/ann", "HF_HOME=/s/me" },
	  { "/s/me/hub", "/s/me/datasets", "/home/ann/.cache/torch/hub",
	    "/home/ann/.cache/pip" },
	  { "/s/me", "/home/ann/.cache/torch", "/home/ann/.cache/huggingface",
	    "/home/ann/.cache/huggingface/hub" } },
	{ "defaults of libraries' data",
	  { "HOME=/home/ann" },
	  { "/home/ann/.keras/models", "/home/ann/tensorflow_datasets",
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
	  { "/scratch/ann/cache/torch/hub" },
	  { "/scratch/ann/cache", "/home/ann/.cache/torch/hub" } },
	{ "an empty variable is none",
	  { "HOME=/home/ann", "XDG_CACHE_HOME=" },
	  { "/home/ann/.cache/huggingface/hub" },
	  { "" } },
	{ "Hugging Face",
	  { "HF_HOME=/d/hf", "HF_HUB_CACHE=/d/hub", "HF_DATASETS_CACHE=/d/ds",
	    "TRANSFORMERS_CACHE=/d/tr" },
	  { "/d/hf/hub", "/d/hub", "/d/ds", "/d/tr" },
	  { NULL } },
	{ "torch",
	  { "TORCH_HOME=/d/t", "TORCH_EXTENSIONS_DIR=/d/e",
	    "TORCHINDUCTOR_CACHE_DIR=/d/i", "USER=ann" },
	  { "/d/t/hub", "/d/e", "/d/i" },
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
	  { "/d/.triton/cache", "/e/tc" },
	  { "/d", "/home/ann/.triton/cache" } },
	{ "compilers",
	  { "CUDA_CACHE_PATH=/d/nv", "NUMBA_CACHE_DIR=/d/nu",
	    "JAX_COMPILATION_CACHE_DIR=/d/j" },
	  { "/d/nv", "/d/nu", "/d/j" },
	  { NULL } },
	{ "data",
	  { "KERAS_HOME=/d/k", "TFDS_DATA_DIR=/d/tf", "MPLCONFIGDIR=/d/m",
	    "HOME=/home/ann" },
	  { "/d/k/models", "/d/tf", "/d/m" },
	  { "/home/ann/.config/matplotlib" } },
	{ "a list of folders",
	  { "NLTK_DATA=/d/a::/d/b:rel:/" },
	  { "/d/a", "/d/b" },
	  { "rel", "/", "" } },
	{ "relative values",
	  { "HF_HOME=cache", "TORCH_HOME=./x", "KERAS_HOME=../y" },
	  { NULL },
	  { "cache", "cache/hub", "./x/hub", "../y/models" } },
	{ "a tilde is HOME",
	  { "HOME=/home/ann", "HF_HOME=~/hf", "TORCH_HOME=~" },
	  { "/home/ann/hf/hub" },
	  { "~/hf/hub", "~", "/home/ann", "/home/ann/hub" } },
	{ "never everything",
	  { "HF_HOME=/", "TORCH_HOME=//", "KERAS_HOME=/./" },
	  { NULL },
	  { "/", "/hub", "/models", "/datasets" } },
	{ "never HOME",
	  { "HOME=/home/ann/", "HF_HOME=/home/ann", "TORCH_HOME=/home//ann/",
	    "KERAS_HOME=/home/ann/./" },
	  { NULL },
	  { "/home/ann", "/home/ann/hub", "/home/ann/models" } },
	{ "nor what HOME lies in",
	  { "HOME=/home/ann", "HF_HOME=/home", "TORCH_HOME=/home/" },
	  { NULL },
	  { "/home", "/home/hub" } },
	{ "names that begin alike are others",
	  { "HOME=/home/ann", "HF_HOME=/home/an", "TORCH_HOME=/home/anna" },
	  { "/home/an/hub", "/home/anna/hub" },
	  { NULL } },
	{ "upwards: not without asking the file system",
	  { "HOME=/home/ann", "HF_HOME=/home/ann/x/..",
	    "TORCH_HOME=/d/../home/ann", "KERAS_HOME=/d/..x/y" },
	  { "/d/..x/y/models" },
	  { "/home/ann/x/../hub", "/home/ann/hub", "/d/../home/ann/hub" } },
	{ "tidied",
	  { "HF_HOME=//d//hf///" },
	  { "/d/hf/hub" },
	  { "//d//hf///hub" } },
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

static void find(struct shared_paths *found, const char *const *items,
		 uid_t user)
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
		struct shared_paths found = { .all = STRLIST_INIT };

		find(&found, rows[i].environment, 1234);
		for (size_t j = 0; j < ITEMS_MAX && rows[i].with[j]; j++)
			if (strlist_find(&found.all, rows[i].with[j]) ==
			    found.all.count)
				fail_msg("%s: no %s", rows[i].name,
					 rows[i].with[j]);
		for (size_t j = 0; j < ITEMS_MAX && rows[i].without[j]; j++)
			if (strlist_find(&found.all, rows[i].without[j]) <
			    found.all.count)
				fail_msg("%s: %s", rows[i].name,
					 rows[i].without[j]);
		shared_paths_release(&found);
	}
}

/* Whatever the environment: absolute, tidy, each once, never everything. */
static void all_of_them_are_safe(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct shared_paths found = { .all = STRLIST_INIT };

		find(&found, rows[i].environment, 0);
		for (size_t j = 0; j < found.all.count; j++) {
			const char *path = found.all.items[j];

			if (path[0] != '/' || !path[1] ||
			    path[strlen(path) - 1] == '/' ||
			    strstr(path, "//") ||
			    strlist_find(&found.all, path) != j)
				fail_msg("%s: '%s'", rows[i].name, path);
		}
		shared_paths_release(&found);
	}
}

static void root_has_a_name(void **state)
{
	static const char *const nothing[ITEMS_MAX] = { NULL };
	struct shared_paths found = { .all = STRLIST_INIT };

	(void)state;
	find(&found, nothing, 0);
	assert_true(strlist_find(&found.all, "/tmp/torchinductor_root") <
		    found.all.count);
	shared_paths_release(&found);
}

/* What may change and what is made is shared, too; pipes may change at will. */
static void lists_are_parts(void **state)
{
	static const char *const home[ITEMS_MAX] = { "HOME=/h" };
	struct shared_paths found = { .all = STRLIST_INIT };

	(void)state;
	find(&found, home, 0);
	assert_true(found.kept.count > 0 && found.made.count > 0);
	for (size_t i = 0; i < found.kept.count; i++)
		assert_true(strlist_find(&found.all, found.kept.items[i]) <
			    found.all.count);
	for (size_t i = 0; i < found.made.count; i++)
		assert_true(strlist_find(&found.kept, found.made.items[i]) <
			    found.kept.count);
	assert_int_equal(strlist_find(&found.kept, "/tmp/nvidia-mps"),
			 found.kept.count);
	shared_paths_release(&found);
}

static void own_files_are_known(void **state)
{
	static const struct {
		const char *path;
		bool is_own;
	} files[] = {
		{ "/h/hub/models--a/refs/main", true },
		{ "/h/hub/.locks/a/b.lock", true },
		{ "/h/.nv/ComputeCache/index", true },
		{ "/h/hub/models--a/blobs/0123.incomplete", true },
		{ "/h/torch/hub/trusted_list", true },
		{ "/h/hub/models--a/blobs/0123", false },
		{ "/h/hub/last.ckpt", false },
		{ "/h/torch/hub/checkpoints/resnet.pth", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (shared_paths_is_own_file(files[i].path) != files[i].is_own)
			fail_msg("%s", files[i].path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_found),
		cmocka_unit_test(all_of_them_are_safe),
		cmocka_unit_test(root_has_a_name),
		cmocka_unit_test(lists_are_parts),
		cmocka_unit_test(own_files_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
