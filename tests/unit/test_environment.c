/* What a probe's environment keeps, replaces and adds. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/isolation/environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ITEMS_MAX 8

static void make(struct strlist *out, const char *const *user,
		 const char *const *own, const struct probe_environment *probe)
{
	struct probe_environment with_own = *probe;
	struct strlist user_list = STRLIST_INIT;
	struct strlist own_list = STRLIST_INIT;

	for (size_t i = 0; i < ITEMS_MAX && user[i]; i++)
		strlist_add(&user_list, user[i]);
	for (size_t i = 0; i < ITEMS_MAX && own[i]; i++)
		strlist_add(&own_list, own[i]);
	with_own.probe_env = &own_list;
	probe_environment_make(out, &user_list, &with_own);
	strlist_release(&user_list);
	strlist_release(&own_list);
}

static const struct probe_environment usual = {
	.id = "id7",
	.micro_batch = 16,
	.grad_accum = 4,
	.scratch = "/s",
	.channel = "/s/channel",
	.channel_fd = 927,
	.hook = "/s/hook",
	.preload = "/s/preload.so",
	.port = 0,
	.probe_env = NULL,
};

/* One variable each: "" is an empty value, NULL is not there at all. */
static const struct {
	const char *title;
	const char *user[ITEMS_MAX];
	const char *own[ITEMS_MAX];
	const char *name, *value;
} rows[] = {
	{ "tracker off",
	  { "WANDB_MODE=online" },
	  { NULL },
	  "WANDB_MODE",
	  "disabled" },
	{ "never the trap", { NULL }, { NULL }, "WANDB_DISABLED", NULL },
	{ "the user's own trap stays",
	  { "WANDB_DISABLED=true" },
	  { NULL },
	  "WANDB_DISABLED",
	  "true" },
	{ "quiet wandb", { NULL }, { NULL }, "WANDB_SILENT", "true" },
	{ "stdout not wrapped", { NULL }, { NULL }, "WANDB_CONSOLE", "off" },
	{ "wandb files", { "WANDB_DIR=/home" }, { NULL }, "WANDB_DIR", "/s" },
	{ "comet", { NULL }, { NULL }, "COMET_MODE", "disabled" },
	{ "neptune", { NULL }, { NULL }, "NEPTUNE_MODE", "debug" },
	{ "mlflow",
	  { "MLFLOW_TRACKING_URI=http://h" },
	  { NULL },
	  "MLFLOW_TRACKING_URI",
	  "file:/s/mlruns" },
	{ "mlflow stays usable",
	  { NULL },
	  { NULL },
	  "DISABLE_MLFLOW_INTEGRATION",
	  NULL },
	{ "clearml", { NULL }, { NULL }, "CLEARML_OFFLINE_MODE", "1" },
	{ "swanlab", { NULL }, { NULL }, "SWANLAB_MODE", "disabled" },
	{ "trackio", { NULL }, { NULL }, "TRACKIO_DIR", "/s/trackio" },
	{ "tensorboard",
	  { NULL },
	  { NULL },
	  "TENSORBOARD_LOGGING_DIR",
	  "/s/tensorboard" },
	{ "tokenizers", { NULL }, { NULL }, "TOKENIZERS_PARALLELISM", "false" },
	{ "tokenizers as set",
	  { "TOKENIZERS_PARALLELISM=true" },
	  { NULL },
	  "TOKENIZERS_PARALLELISM",
	  "true" },
	{ "tokenizers as set empty",
	  { "TOKENIZERS_PARALLELISM=" },
	  { NULL },
	  "TOKENIZERS_PARALLELISM",
	  "" },
	{ "unbuffered",
	  { "PYTHONUNBUFFERED=" },
	  { NULL },
	  "PYTHONUNBUFFERED",
	  "1" },
	{ "no .pyc", { NULL }, { NULL }, "PYTHONDONTWRITEBYTECODE", "1" },
	{ "wide", { "COLUMNS=80" }, { NULL }, "COLUMNS", "200" },
	{ "bars", { NULL }, { NULL }, "TQDM_MININTERVAL", "0" },
	{ "plain", { NULL }, { NULL }, "NO_COLOR", "1" },
	{ "hydra", { NULL }, { NULL }, "HYDRA_FULL_ERROR", "1" },
	{ "contract: id",
	  { "AUTOFIT_PROBE=old" },
	  { NULL },
	  "AUTOFIT_PROBE",
	  "id7" },
	{ "contract: micro", { NULL }, { NULL }, "AUTOFIT_MICRO", "16" },
	{ "contract: accum", { NULL }, { NULL }, "AUTOFIT_ACCUM", "4" },
	{ "contract: channel",
	  { NULL },
	  { NULL },
	  "AUTOFIT_CHANNEL",
	  "/s/channel" },
	{ "hook alone", { NULL }, { NULL }, "PYTHONPATH", "/s/hook" },
	{ "hook, empty before",
	  { "PYTHONPATH=" },
	  { NULL },
	  "PYTHONPATH",
	  "/s/hook" },
	{ "hook first",
	  { "PYTHONPATH=/a:/b" },
	  { NULL },
	  "PYTHONPATH",
	  "/s/hook:/a:/b" },
	{ "hook before the user's for probes",
	  { "PYTHONPATH=/a" },
	  { "PYTHONPATH=/p" },
	  "PYTHONPATH",
	  "/s/hook:/p" },
	{ "the user's for probes", { "X=1" }, { "X=2" }, "X", "2" },
	{ "the last of them", { NULL }, { "X=2", "X=3" }, "X", "3" },
	{ "equal signs", { NULL }, { "X=a=b" }, "X", "a=b" },
	{ "unset for probes", { "X=1" }, { "X" }, "X", NULL },
	{ "over the table", { NULL }, { "NO_COLOR=" }, "NO_COLOR", "" },
	{ "not over the contract",
	  { NULL },
	  { "AUTOFIT_MICRO=1" },
	  "AUTOFIT_MICRO",
	  "16" },
	{ "TMPDIR stays", { "TMPDIR=/t" }, { NULL }, "TMPDIR", "/t" },
	{ "caches stay", { "HF_HOME=/c" }, { NULL }, "HF_HOME", "/c" },
	{ "allocator stays",
	  { "PYTORCH_CUDA_ALLOC_CONF=x:y" },
	  { NULL },
	  "PYTORCH_CUDA_ALLOC_CONF",
	  "x:y" },
	{ "no allocator made up",
	  { NULL },
	  { NULL },
	  "PYTORCH_CUDA_ALLOC_CONF",
	  NULL },
	{ "port stays",
	  { "MASTER_PORT=29500" },
	  { NULL },
	  "MASTER_PORT",
	  "29500" },
	{ "no preallocation in JAX",
	  { "XLA_PYTHON_CLIENT_PREALLOCATE=true" },
	  { NULL },
	  "XLA_PYTHON_CLIENT_PREALLOCATE",
	  "false" },
	{ "nor in TensorFlow",
	  { NULL },
	  { NULL },
	  "TF_FORCE_GPU_ALLOW_GROWTH",
	  "true" },
	{ "unless the user says so for probes",
	  { NULL },
	  { "XLA_PYTHON_CLIENT_PREALLOCATE=true" },
	  "XLA_PYTHON_CLIENT_PREALLOCATE",
	  "true" },
	{ "JAX's share stays",
	  { "XLA_CLIENT_MEM_FRACTION=.5" },
	  { NULL },
	  "XLA_CLIENT_MEM_FRACTION",
	  ".5" },
	{ "contract: descriptor",
	  { "AUTOFIT_CHANNEL_FD=5" },
	  { NULL },
	  "AUTOFIT_CHANNEL_FD",
	  "927" },
	{ "preload alone", { NULL }, { NULL }, "LD_PRELOAD", "/s/preload.so" },
	{ "preload, empty before",
	  { "LD_PRELOAD=" },
	  { NULL },
	  "LD_PRELOAD",
	  "/s/preload.so" },
	{ "preload first",
	  { "LD_PRELOAD=/a.so /b.so:/c.so" },
	  { NULL },
	  "LD_PRELOAD",
	  "/s/preload.so:/a.so /b.so:/c.so" },
	{ "preload before the user's for probes",
	  { "LD_PRELOAD=/a.so" },
	  { "LD_PRELOAD=/p.so" },
	  "LD_PRELOAD",
	  "/s/preload.so:/p.so" },
	{ "switched off stays",
	  { "AUTOFIT_HOOK=0" },
	  { NULL },
	  "AUTOFIT_HOOK",
	  "0" },
	{ "no switch made up", { NULL }, { NULL }, "AUTOFIT_HOOK", NULL },
	{ "no port made up", { NULL }, { NULL }, "MASTER_PORT", NULL },
};

static void variables_are_as_the_probe_needs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist out = STRLIST_INIT;
		const char *value;

		make(&out, rows[i].user, rows[i].own, &usual);
		value = strlist_env_get(&out, rows[i].name);
		if (!value != !rows[i].value ||
		    (value && strcmp(value, rows[i].value) != 0))
			fail_msg("%s: %s is %s, not %s", rows[i].title,
				 rows[i].name, value ? value : "unset",
				 rows[i].value ? rows[i].value : "unset");
		strlist_release(&out);
	}
}

static void what_is_not_wanted_is_not_there(void **state)
{
	static const char *const user[] = {
		"PYTHONPATH=/a",        "AUTOFIT_CHANNEL=/old",
		"AUTOFIT_CHANNEL_FD=5", "LD_PRELOAD=/a.so",
		"MASTER_PORT=1",        NULL
	};
	static const char *const own[] = { NULL };
	struct probe_environment probe = usual;
	struct strlist out = STRLIST_INIT;

	(void)state;
	probe.hook = NULL;
	probe.channel = NULL;
	probe.channel_fd = -1;
	probe.preload = NULL;
	probe.port = 4321;
	make(&out, user, own, &probe);
	assert_string_equal(strlist_env_get(&out, "PYTHONPATH"), "/a");
	assert_null(strlist_env_get(&out, "AUTOFIT_CHANNEL"));
	assert_null(strlist_env_get(&out, "AUTOFIT_CHANNEL_FD"));
	assert_string_equal(strlist_env_get(&out, "LD_PRELOAD"), "/a.so");
	assert_string_equal(strlist_env_get(&out, "MASTER_PORT"), "4321");
	strlist_release(&out);
}

/* ld.so would take the pieces for libraries. */
static void a_preload_that_cannot_be_said_is_left_out(void **state)
{
	static const char *const user[] = { "LD_PRELOAD=/a.so", NULL };
	static const char *const own[] = { NULL };
	static const char *const paths[] = { "/my folder/x.so", "/a:b/x.so" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct probe_environment probe = usual;
		struct strlist out = STRLIST_INIT;

		probe.preload = paths[i];
		probe.channel_fd = 0;
		make(&out, user, own, &probe);
		assert_string_equal(strlist_env_get(&out, "LD_PRELOAD"),
				    "/a.so");
		assert_string_equal(strlist_env_get(&out, "AUTOFIT_CHANNEL_FD"),
				    "0");
		strlist_release(&out);
	}
}

static void order_is_kept_and_the_first_of_two_counts(void **state)
{
	static const char *const user[] = { "B=1",        "A=2", "COLUMNS=80",
					    "B=3",        "C=4", "COLUMNS=81",
					    "_no_equals", NULL };
	static const char *const expected[] = { "B=1", "A=2", "COLUMNS=200",
						"C=4", "_no_equals" };
	static const char *const own[] = { NULL };
	struct strlist out = STRLIST_INIT;

	(void)state;
	strlist_add(&out, "was there");
	make(&out, user, own, &usual);
	assert_string_equal(out.items[0], "was there");
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		assert_string_equal(out.items[i + 1], expected[i]);
	for (size_t i = 6; i < out.count; i++)
		assert_int_not_equal(strncmp(out.items[i], "COLUMNS=", 8), 0);
	strlist_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_as_the_probe_needs),
		cmocka_unit_test(what_is_not_wanted_is_not_there),
		cmocka_unit_test(a_preload_that_cannot_be_said_is_left_out),
		cmocka_unit_test(order_is_kept_and_the_first_of_two_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
