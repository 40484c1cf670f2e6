/* Launchers are peeled until the program itself is found. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "tests/unit/command_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *at(const struct strlist *argv, size_t index)
{
	return index == NO_INDEX ? "" : argv->items[index];
}

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

struct row {
	const char *command;
	/* Words; "" where there is none. */
	const char *program, *script, *module, *code, *first_argument;
	int64_t world;
	const char *launcher; /* NULL: none */
};

static const struct row rows[] = {
	{ "python train.py --x 1", "python", "train.py", "", "", "--x", 1,
	  NULL },
	{ "python3 train.py", "python3", "train.py", "", "", "", 1, NULL },
	{ "/usr/bin/python3.11 -u -O a.py b", "/usr/bin/python3.11", "a.py", "",
	  "", "b", 1, NULL },
	{ "python -X dev -W ignore -Wdefault a.py b", "python", "a.py", "", "",
	  "b", 1, NULL },
	{ "python -uBO a.py b", "python", "a.py", "", "", "b", 1, NULL },
	{ "python -- a.py b", "python", "a.py", "", "", "b", 1, NULL },
	{ "python --check-hash-based-pycs always a.py b", "python", "a.py", "",
	  "", "b", 1, NULL },
	{ "python -m pkg.train --x 1", "python", "", "pkg.train", "", "--x", 1,
	  NULL },
	{ "python -um pkg.train --x", "python", "", "pkg.train", "", "--x", 1,
	  NULL },
	{ "python -c code --x", "python", "", "", "code", "--x", 1, NULL },
	{ "./trainer -b 8", "./trainer", "", "", "", "-b", 1, NULL },
	{ "/opt/pythonic a.py", "/opt/pythonic", "", "", "", "a.py", 1, NULL },
	{ "./train.py --x 1", "./train.py", "./train.py", "", "", "--x", 1,
	  NULL },
	{ "env python a.py b", "python", "a.py", "", "", "b", 1, NULL },
	{ "env -i -u HOME A=1 bs=8 python a.py b", "python", "a.py", "", "",
	  "b", 1, NULL },
	{ "env - --unset=X -uY A=1 python a.py b", "python", "a.py", "", "",
	  "b", 1, NULL },
	{ "env -- A=1 python a.py b", "python", "a.py", "", "", "b", 1, NULL },
	{ "nice python a.py b", "python", "a.py", "", "", "b", 1, NULL },
	{ "nice -n 5 python a.py b", "python", "a.py", "", "", "b", 1, NULL },
	{ "nice -n5 nohup python a.py b", "python", "a.py", "", "", "b", 1,
	  NULL },
	{ "nice -15 ./t b", "./t", "", "", "", "b", 1, NULL },
	{ "nice --adjustment=3 nice --adjustment 3 ./t b", "./t", "", "", "",
	  "b", 1, NULL },
	{ "nohup env A=1 nice nohup ./t b", "./t", "", "", "", "b", 1, NULL },
	{ "torchrun train.py b", "train.py", "train.py", "", "", "b", 1,
	  "torchrun" },
	{ "torchrun --standalone --nproc_per_node=4 train.py b", "train.py",
	  "train.py", "", "", "b", 4, "torchrun" },
	{ "torchrun --nproc-per-node 4 --nnodes 1 --rdzv-id 7 --master_port 0 "
	  "-r 3 -t3 --log_dir d train.py b",
	  "train.py", "train.py", "", "", "b", 4, "torchrun" },
	{ "torchrun --nproc 2 train.py b", "train.py", "train.py", "", "", "b",
	  2, "torchrun" },
	{ "torchrun --nproc_per_node gpu --nnodes=1:1 train.py b", "train.py",
	  "train.py", "", "", "b", 3, "torchrun" },
	{ "env CUDA_VISIBLE_DEVICES=0,2 torchrun --nproc_per_node gpu a.py b",
	  "a.py", "a.py", "", "", "b", 2, "torchrun" },
	{ "env -- CUDA_VISIBLE_DEVICES=0,1,2,3 torchrun --nproc_per_node gpu "
	  "a.py b",
	  "a.py", "a.py", "", "", "b", 3, "torchrun" },
	{ "torchrun --nproc_per_node=auto -m pkg.train b", "pkg.train", "",
	  "pkg.train", "", "b", 3, "torchrun" },
	{ "torchrun --nproc_per_node 2 --no_python ./t b", "./t", "", "", "",
	  "b", 2, "torchrun" },
	{ "torchrun --nproc_per_node 2 --no-python python -u a.py b", "python",
	  "a.py", "", "", "b", 2, "torchrun" },
	{ "/opt/bin/torchrun --nproc_per_node 2 -- train.py b", "train.py",
	  "train.py", "", "", "b", 2, "torchrun" },
	{ "python -m torch.distributed.run --nproc_per_node 2 train.py b",
	  "train.py", "train.py", "", "", "b", 2, "torchrun" },
	{ "env A=1 python3 -u -m torch.distributed.launch --use_env "
	  "--nproc_per_node=2 train.py b",
	  "train.py", "train.py", "", "", "b", 2, "torchrun" },
	{ "python /opt/bin/torchrun --nproc_per_node 2 train.py b", "train.py",
	  "train.py", "", "", "b", 2, "torchrun" },
	{ "accelerate launch --num_processes 4 train.py b", "train.py",
	  "train.py", "", "", "b", 4, "accelerate launch" },
	{ "accelerate launch --num-processes=4 --mixed_precision bf16 "
	  "--use_fsdp --num_machines 1 --gradient_accumulation_steps 9 -q "
	  "train.py b",
	  "train.py", "train.py", "", "", "b", 4, "accelerate launch" },
	{ "accelerate launch --multi_gpu train.py b", "train.py", "train.py",
	  "", "", "b", 3, "accelerate launch" },
	{ "accelerate launch --cpu train.py b", "train.py", "train.py", "", "",
	  "b", 1, "accelerate launch" },
	{ "accelerate launch --config_file c.yaml --num_processes 2 -m pkg b",
	  "pkg", "", "pkg", "", "b", 2, "accelerate launch" },
	{ "python -m accelerate.commands.launch --num_processes 2 a.py b",
	  "a.py", "a.py", "", "", "b", 2, "accelerate launch" },
};

static void programs_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		struct strlist argv = words(row->command);
		struct command_view view;
		struct error err = ERROR_INIT;
		const char *first;

		if (command_unwrap(&view, &argv, 3, &err) != COMMAND_OK)
			fail_msg("%s: %s", row->command, err.message);
		first = view.args < argv.count ? argv.items[view.args] : "";
		if (!is(at(&argv, view.program), row->program) ||
		    !is(at(&argv, view.script), row->script) ||
		    !is(at(&argv, view.module), row->module) ||
		    !is(at(&argv, view.code), row->code) ||
		    !is(first, row->first_argument) ||
		    view.world != row->world || view.end != argv.count ||
		    !is(view.launcher ? view.launcher : "",
			row->launcher ? row->launcher : ""))
			fail_msg("%s: program %s script %s module %s code %s "
				 "then %s, %lld ranks by %s",
				 row->command, at(&argv, view.program),
				 at(&argv, view.script), at(&argv, view.module),
				 at(&argv, view.code), first,
				 (long long)view.world,
				 view.launcher ? view.launcher : "nothing");
		command_view_release(&view);
		strlist_release(&argv);
	}
}

static void one_process_without_devices(void **state)
{
	struct strlist argv = words("accelerate launch train.py");
	struct command_view view;

	(void)state;
	for (int64_t visible = 0; visible < 2; visible++) {
		assert_int_equal(command_unwrap(&view, &argv, visible, NULL),
				 COMMAND_OK);
		assert_int_equal(view.world, 1);
		command_view_release(&view);
	}
	strlist_release(&argv);
}

static void arguments_end_at_dashes(void **state)
{
	struct strlist argv = words("python a.py --x 1 -- --y 2 --");
	struct command_view view;

	(void)state;
	assert_int_equal(command_unwrap(&view, &argv, 0, NULL), COMMAND_OK);
	assert_int_equal(view.args, 2);
	assert_int_equal(view.end, 4);
	command_view_release(&view);
	strlist_release(&argv);
}

static const struct {
	const char *command;
	int64_t visible;
	enum command_outcome outcome;
	const char *message; /* part of it */
} refused[] = {
	{ "", 0, COMMAND_USAGE, "no command" },
	{ "python", 0, COMMAND_REFUSED, "standard input" },
	{ "python -", 0, COMMAND_REFUSED, "standard input" },
	{ "python -u", 0, COMMAND_REFUSED, "standard input" },
	{ "env A=1 python3 -u - --x", 0, COMMAND_REFUSED, "standard input" },
	{ "python /dev/stdin", 0, COMMAND_REFUSED, "standard input" },
	{ "python /dev/fd/63 --x", 0, COMMAND_REFUSED, "standard input" },
	{ "python a.py /dev/fd/63", 0, COMMAND_REFUSED, "/dev/fd/63" },
	{ "./t --config=/dev/fd/63", 0, COMMAND_REFUSED, "is a pipe" },
	{ "python -m", 0, COMMAND_UNREADABLE, "names no module" },
	{ "python -c", 0, COMMAND_UNREADABLE, "names no code" },
	{ "python -mpkg", 0, COMMAND_NOT_RECOGNISED, "argument of its own" },
	{ "python --version", 0, COMMAND_NOT_RECOGNISED, "--version" },
	{ "env", 0, COMMAND_NOT_RECOGNISED, "names no program" },
	{ "env A=1", 0, COMMAND_NOT_RECOGNISED, "names no program" },
	{ "env -S x ./t", 0, COMMAND_NOT_RECOGNISED, "-S" },
	{ "env -C /tmp ./t", 0, COMMAND_NOT_RECOGNISED, "-C" },
	{ "nice -n", 0, COMMAND_NOT_RECOGNISED, "no value" },
	{ "torchrun", 0, COMMAND_NOT_RECOGNISED, "names no program" },
	{ "torchrun --unknown 3 t.py", 0, COMMAND_NOT_RECOGNISED, "--unknown" },
	{ "torchrun --nnodes 1:4 t.py", 0, COMMAND_REFUSED, "range" },
	{ "torchrun --nnodes=2 t.py", 0, COMMAND_REFUSED, "one node" },
	{ "torchrun --nnodes=x t.py", 0, COMMAND_NOT_RECOGNISED, "write 1" },
	{ "torchrun --nproc_per_node=gpu t.py", 0, COMMAND_NOT_RECOGNISED,
	  "--nproc_per_node=N" },
	{ "torchrun --nproc_per_node=cpu t.py", 2, COMMAND_NOT_RECOGNISED,
	  "plain number" },
	{ "torchrun --nproc_per_node=0 t.py", 2, COMMAND_NOT_RECOGNISED,
	  "plain number" },
	{ "torchrun --nproc_per_node=99999999999999999999 t.py", 2,
	  COMMAND_NOT_RECOGNISED, "plain number" },
	{ "torchrun --no_python torchrun t.py", 2, COMMAND_NOT_RECOGNISED,
	  "torchrun inside torchrun" },
	{ "accelerate config", 0, COMMAND_NOT_RECOGNISED, "accelerate launch" },
	{ "accelerate", 0, COMMAND_NOT_RECOGNISED, "accelerate launch" },
	{ "accelerate launch --num_machines 2 t.py", 0, COMMAND_REFUSED,
	  "one node" },
	{ "accelerate launch --config_file c.yaml t.py", 0,
	  COMMAND_NOT_RECOGNISED, "--num_processes=N" },
	{ "accelerate launch t.py", 2, COMMAND_NOT_RECOGNISED,
	  "--num_processes=N" },
	{ "accelerate launch --multi_gpu t.py", 0, COMMAND_NOT_RECOGNISED,
	  "--num_processes=N" },
	{ "accelerate launch --use_megatron_lm --num_processes 4 t.py", 0,
	  COMMAND_NOT_RECOGNISED, "use_megatron_lm" },
	{ "timeout 60 python t.py", 0, COMMAND_NOT_RECOGNISED, "in front" },
	{ "srun -n 4 python t.py", 0, COMMAND_NOT_RECOGNISED, "--ntasks=1" },
	{ "nohup deepspeed t.py", 0, COMMAND_NOT_RECOGNISED, "torchrun" },
	{ "sbatch job.sh", 0, COMMAND_REFUSED, "job script" },
	{ "docker run x", 0, COMMAND_REFUSED, "inside" },
};

static void the_rest_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct strlist argv = words(refused[i].command);
		struct command_view view;
		struct error err = ERROR_INIT;

		if (command_unwrap(&view, &argv, refused[i].visible, &err) !=
		    refused[i].outcome)
			fail_msg("%s: %s", refused[i].command, err.message);
		assert_int_not_equal(err.code, 0);
		if (!strstr(err.message, refused[i].message))
			fail_msg("%s: %s", refused[i].command, err.message);
		command_view_release(&view);
		strlist_release(&argv);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(one_process_without_devices),
		cmocka_unit_test(arguments_end_at_dashes),
		cmocka_unit_test(the_rest_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
