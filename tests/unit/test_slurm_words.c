/* Slurm's states as a night takes them, batch scripts, and their GPUs. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/nightly/executor/slurm_queue.h"
#include "launcher/nightly/executor/slurm_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const struct state_case {
	const char *state;
	bool is_over, is_lost;
} states[] = {
	{ "PENDING", false, false },
	{ "RUNNING", false, false },
	{ "SUSPENDED", false, false },
	{ "COMPLETING", false, false },
	{ "CONFIGURING", false, false },
	{ "REQUEUED", false, false },
	{ "A_STATE_OF_TOMORROW", false, false },
	{ "", false, false },
	{ "COMPLETED", true, false },
	{ "COMPLETE", false, false },
	{ "FAILED", true, false },
	{ "CANCELLED", true, false },
	{ "CANCELLED by 1000", true, false },
	{ "CANCELLED+", true, false },
	{ "OUT_OF_MEMORY", true, false },
	{ "TIMEOUT", true, false },
	{ "DEADLINE", true, false },
	{ "NODE_FAIL", true, true },
	{ "BOOT_FAIL", true, true },
	{ "PREEMPTED", true, true },
};

static void each_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(states); i++) {
		bool is_lost = true;
		const char *why = slurm_state_over(states[i].state, &is_lost);

		if ((why != NULL) != states[i].is_over ||
		    is_lost != states[i].is_lost)
			fail_msg("%s: %s, lost %d", states[i].state,
				 why ? why : "goes on", is_lost);
	}
}

static void reasons(void **state)
{
	(void)state;
	assert_null(slurm_reason_stuck("Priority"));
	assert_null(slurm_reason_stuck("Resources"));
	assert_null(slurm_reason_stuck("BeginTime"));
	assert_non_null(slurm_reason_stuck("PartitionTimeLimit"));
	assert_non_null(slurm_reason_stuck("JobHeldUser"));
	assert_true(slurm_reason_lost("RaisedSignal:9(Killed)"));
	assert_true(slurm_reason_lost("JobLaunchFailure"));
	assert_false(slurm_reason_lost("NonZeroExitCode"));
	assert_false(slurm_reason_lost("None"));
}

/* Lines that are none are passed over: warnings, elements that Slurm counts
 * together, cut ones. */
static void queue_lines(void **state)
{
	static const char text[] = "slurm_load_jobs: warning\n"
				   "12|RUNNING|None|n1|autofit-a-1\n"
				   "12_3|RUNNING|None|n1|array\n"
				   "12_[4-9%2]|PENDING|None|n/a|array\n"
				   "_3|PENDING|None|n/a|array\n"
				   "12_|PENDING|None|n/a|array\n"
				   "\n"
				   "13|PENDING|A long reason, with words|n/a|"
				   "b|c\n"
				   "x|RUNNING|None|n1|d\n"
				   "14|RUNNING|None|n1\n"
				   "99999999999999999999|RUNNING|None|n1|e\n"
				   "15|RUNNING|None|n1|cut";
	struct slurm_queue_line line;
	const char *at = text;

	(void)state;
	assert_true(slurm_queue_next(&at, &line));
	assert_int_equal(line.id, 12);
	assert_string_equal(line.state, "RUNNING");
	assert_string_equal(line.name, "autofit-a-1");
	assert_string_equal(line.node, "n1");
	assert_int_equal(line.element, -1);
	assert_true(slurm_queue_next(&at, &line));
	assert_int_equal(line.id, 12);
	assert_int_equal(line.element, 3);
	assert_string_equal(line.name, "array");
	assert_true(slurm_queue_next(&at, &line));
	assert_int_equal(line.id, 13);
	assert_int_equal(line.element, -1);
	assert_string_equal(line.reason, "A long reason, with words");
	assert_string_equal(line.name, "b|c");
	assert_string_equal(line.node, "");
	assert_false(slurm_queue_next(&at, &line));
	assert_false(slurm_queue_next(&at, &line));
}

static void element_lines(void **state)
{
	static const char *const others[] = {
		"",
		"# Submitted as element 3 of a+2-1f",
		"# Submitted as element x of a+2-1f\n",
		"# Submitted as element -1 of a+2-1f\n",
		"# Submitted as element 3\n",
		"# Submitted as element 3 of \n",
		"# Submitted as element 3 of a+2-1f\nexec true\n",
		"# something else\n",
	};
	struct strbuf text = STRBUF_INIT;
	char *name = NULL;
	int64_t element;

	(void)state;
	slurm_add_element(&text, 7, "autofit-a+2-0000001f");
	assert_true(slurm_read_element(strbuf_text(&text), &element, &name));
	assert_int_equal(element, 7);
	assert_string_equal(name, "autofit-a+2-0000001f");
	free(name);
	strbuf_release(&text);
	for (size_t i = 0; i < COUNT(others); i++)
		if (slurm_read_element(others[i], &element, &name))
			fail_msg("taken for an element: %s", others[i]);
}

static const struct gres_case {
	const char *gres;
	int64_t nodes, gpus;
} gres_cases[] = {
	{ NULL, 0, 0 },
	{ "gpu", 0, 1 },
	{ "gpu:2", 0, 2 },
	{ "gpu:h100", 0, 1 },
	{ "gpu:h100:4", 0, 4 },
	{ "gpu:h100:4", 2, 8 },
	{ "gpu=4", 0, 4 },
	{ "gpu:h100=4", 0, 4 },
	{ "shard:8", 0, 0 },
	{ "gpus:8", 0, 0 },
	{ "lustre:1,gpu:a100:2,gpu:h100:1", 0, 3 },
	{ "gpu:a100:2(S:0-1)", 0, 2 },
	{ "gpu:99999999", 0, 1 },
	{ ",,gpu,", 0, 1 },
};

static void gpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(gres_cases); i++) {
		struct job_slurm slurm = {
			.gres = (char *)(uintptr_t)gres_cases[i].gres,
			.nodes = gres_cases[i].nodes
		};
		int64_t count = slurm_gpu_count(&slurm);

		if (count != gres_cases[i].gpus)
			fail_msg("%s: %lld", gres_cases[i].gres,
				 (long long)count);
	}
}

/* The same with another one: each has its own log. */
static void an_array(struct executor_task *task)
{
	char name[] = "plain", folder[] = "/";
	struct job job = { .name = name, .directory = folder };
	struct executor_task other = { .job = &job };
	struct executor_task *tasks[] = { task, &other };
	char array_name[] = "autofit-x";
	const struct slurm_array array = { .tasks = tasks,
					   .count = 2,
					   .at_once = 1,
					   .name = array_name,
					   .program = "autofit" };
	struct strbuf text = STRBUF_INIT;

	strlist_add(&other.arguments, "autofit");
	strlist_add(&other.arguments, "tune");
	slurm_script_array(&array, &text);
	assert_string_equal(strbuf_text(&text),
			    "#!/bin/sh\n"
			    "#SBATCH --job-name=autofit-x\n"
			    "#SBATCH --output=a@b+1.log\n"
			    "#SBATCH --open-mode=append\n"
			    "#SBATCH --requeue\n"
			    "#SBATCH --array=0-1%1\n"
			    "#SBATCH --gres=gpu:1\n"
			    "#SBATCH --time=90\n"
			    "#SBATCH --nodes=2\n"
			    "#SBATCH --ntasks=4\n"
			    "case $SLURM_ARRAY_TASK_ID in\n"
			    "0)\n"
			    "exec >>a@b.log 2>&1\n"
			    "cd '/a b/$(x)' || exit 125\n"
			    "export 'A=b '\\''c'\\''\n#SBATCH --x'\n"
			    "exec autofit tune -- x 'a b' '`id`'\n"
			    ";;\n"
			    "1)\n"
			    "exec >>plain.log 2>&1\n"
			    "cd / || exit 125\n"
			    "exec autofit tune\n"
			    ";;\n"
			    "esac\n");
	strbuf_release(&text);
	strlist_release(&other.arguments);
}

/* No word of a job ends a line or begins a command of the script. */
static void script(void **state)
{
	static const char *const words[] = { "autofit", "tune", "--",
					     "x",       "a b",  "`id`" };
	char name[] = "a@b", folder[] = "/a b/$(x)", gres[] = "gpu:1";
	struct job job = {
		.name = name,
		.directory = folder,
		.slurm = { .gres = gres, .minutes = 90, .nodes = 2, .ranks = 4 }
	};
	struct executor_task task = { .job = &job, .mark = 0x1234567890abcdef };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strlist_add(&job.environment, "A=b 'c'\n#SBATCH --x");
	for (size_t i = 0; i < COUNT(words); i++)
		strlist_add(&task.arguments, words[i]);
	slurm_script(&task, "/usr/bin/autofit", &text);
	assert_string_equal(strbuf_text(&text),
			    "#!/bin/sh\n"
			    "#SBATCH --job-name=autofit-a@b-90abcdef\n"
			    "#SBATCH --output=a@b.log\n"
			    "#SBATCH --open-mode=append\n"
			    "#SBATCH --requeue\n"
			    "#SBATCH --dependency=singleton\n"
			    "#SBATCH --gres=gpu:1\n"
			    "#SBATCH --time=90\n"
			    "#SBATCH --nodes=2\n"
			    "#SBATCH --ntasks=4\n"
			    "cd '/a b/$(x)' || exit 125\n"
			    "export 'A=b '\\''c'\\''\n#SBATCH --x'\n"
			    "exec /usr/bin/autofit tune -- x 'a b' '`id`'\n");
	strbuf_release(&text);
	an_array(&task);
	strlist_release(&job.environment);
	strlist_release(&task.arguments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_state),  cmocka_unit_test(reasons),
		cmocka_unit_test(queue_lines), cmocka_unit_test(element_lines),
		cmocka_unit_test(gpus),        cmocka_unit_test(script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
