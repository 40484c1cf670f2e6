/* Launchers are peeled until the program itself is found. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/files/named_files.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/unwrap.h"
#include "tests/unit/command_sample.h"

#include "launcher/command/wrappers/launchers.h"
#include "tests/launchers.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FILES_MAX 3

/* A command, and the world around it. */
struct case_ {
	const char *command;     /* "~" is a blank inside an argument */
	const char *environment; /* blanks between; NULL: not known */
	int64_t visible;
	/* path and text by turns; any other file is not there */
	const char *files[2 * FILES_MAX];
};

#define PLAIN(text)                                                            \
	{                                                                      \
		.command = (text)                                              \
	}
#define WITH(text, variables, gpus)                                            \
	{                                                                      \
		.command = (text), .environment = (variables),                 \
		.visible = (gpus)                                              \
	}
#define READING(text, variables, gpus, ...)                                    \
	{                                                                      \
		.command = (text), .environment = (variables),                 \
		.visible = (gpus), .files = {                                  \
			__VA_ARGS__                                            \
		}                                                              \
	}

struct outcome {
	enum command_outcome is;
	struct command_view view;
	struct error err;
	struct strlist argv; /* as given */
	struct named_files texts;
};

static struct strlist words_of(const char *line)
{
	struct strlist list = words(line);

	for (size_t i = 0; i < list.count; i++)
		for (char *at = list.items[i]; *at; at++)
			if (*at == '~')
				*at = ' ';
	return list;
}

/* Of type named_files_read. */
static int read_file(void *context, const char *path, struct strbuf *text)
{
	const struct case_ *c = context;
	int error = ENOENT;

	for (size_t i = 0; i < FILES_MAX && c->files[2 * i]; i++) {
		if (strcmp(c->files[2 * i], path) != 0)
			continue;
		strbuf_adds(text, c->files[2 * i + 1]);
		error = 0;
	}
	return error;
}

static void unwrap(struct outcome *o, const struct strlist *argv,
		   const struct case_ *c, const struct command_hints *hints)
{
	const struct command_sources sources = {
		.launchers = builtin_launchers(),
		.hints = hints,
		.texts = &o->texts,
	};

	o->texts = (struct named_files){ .read = read_file,
					 .context = (void *)(uintptr_t)c };
	o->err = (struct error)ERROR_INIT;
	o->is = command_unwrap(&o->view, argv, &sources, &o->err);
}

static void run(struct outcome *o, const struct case_ *c)
{
	struct strlist environment =
		words_of(c->environment ? c->environment : "");
	struct command_hints hints = {
		.environment = c->environment ? &environment : NULL,
		.visible_devices = c->visible,
	};

	o->argv = words_of(c->command);
	unwrap(o, &o->argv, c, &hints);
	strlist_release(&environment);
}

static void outcome_release(struct outcome *o)
{
	command_view_release(&o->view);
	strlist_release(&o->argv);
	named_files_release(&o->texts);
}

static const struct strlist *flat(const struct outcome *o)
{
	return o->view.expansion.argv.count ? &o->view.expansion.argv
					    : &o->argv;
}

static void add_word(struct strbuf *out, const struct outcome *o,
		     const char *what, size_t index)
{
	if (index < flat(o)->count && flat(o)->items)
		strbuf_addf(out, "%s%s", what, flat(o)->items[index]);
}

/*
 * "python script:a.py @2 x4 by torchrun port 3+0 port 1--master_port sees 2
 * outside srun A=1": what was found, in one line.
 */
static char *summary(const struct outcome *o, int64_t visible)
{
	const struct command_view *view = &o->view;
	struct strbuf out = STRBUF_INIT;

	add_word(&out, o, "", view->program);
	add_word(&out, o, " script:", view->script);
	add_word(&out, o, " module:", view->module);
	add_word(&out, o, " code:", view->code);
	strbuf_addf(&out, " @%zu x%lld", view->args, (long long)view->world);
	if (view->launcher)
		strbuf_addf(&out, " by %s", view->launcher);
	for (size_t i = 0; i < view->port_count; i++) {
		const struct launch_port *port = &view->ports[i];

		if (port->option)
			strbuf_addf(&out, " port %zu%s", port->index,
				    port->option);
		else
			strbuf_addf(&out, " port %zu+%zu", port->index,
				    port->offset);
	}
	if (view->visible_devices != visible)
		strbuf_addf(&out, " sees %lld",
			    (long long)view->visible_devices);
	if (view->outside)
		strbuf_addf(&out, " outside %s", view->outside);
	if (view->nodes > 1)
		strbuf_addf(&out, " on %lld nodes", (long long)view->nodes);
	if (view->sharding)
		strbuf_addf(&out, " shares by %s", view->sharding);
	if (view->offloads_optimizer)
		strbuf_addf(&out, " offloads states");
	if (view->offloads_weights)
		strbuf_addf(&out, " offloads weights");
	for (size_t i = 0; i < view->assignments.count; i++)
		strbuf_addf(&out, " %s", view->assignments.items[i]);
	return strbuf_detach(&out);
}

struct row {
	struct case_ in;
	const char *expected;
};

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct outcome o = { .is = COMMAND_USAGE };
		char *found;

		run(&o, &rows[i].in);
		if (o.is != COMMAND_OK)
			fail_msg("%s: outcome %d: %s", rows[i].in.command, o.is,
				 o.err.message);
		found = summary(&o, rows[i].in.visible);
		if (strcmp(found, rows[i].expected) != 0)
			fail_msg("%s:\n found    %s\n expected %s",
				 rows[i].in.command, found, rows[i].expected);
		free(found);
		outcome_release(&o);
	}
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(*(rows)))

struct refusal {
	struct case_ in;
	enum command_outcome outcome;
	const char *message; /* part of it */
};

static void check_refusals(const struct refusal *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct outcome o = { .is = COMMAND_USAGE };

		run(&o, &rows[i].in);
		if (o.is != rows[i].outcome ||
		    !strstr(o.err.message, rows[i].message))
			fail_msg("%s: outcome %d, not %d: %s",
				 rows[i].in.command, o.is, rows[i].outcome,
				 o.err.message);
		assert_int_not_equal(o.err.code, 0);
		outcome_release(&o);
	}
}

#define REFUSED(rows) check_refusals(rows, sizeof(rows) / sizeof(*(rows)))

static const struct row python_is_peeled_rows[] = {
	{ PLAIN("python train.py --x 1"), "python script:train.py @2 x1" },
	{ PLAIN("python3 train.py"), "python3 script:train.py @2 x1" },
	{ PLAIN("/usr/bin/python3.11 -u -O a.py b"),
	  "/usr/bin/python3.11 script:a.py @4 x1" },
	{ PLAIN("python -X dev -W ignore -Wdefault a.py b"),
	  "python script:a.py @7 x1" },
	{ PLAIN("python -Xfrozen_modules=off a.py"),
	  "python script:a.py @3 x1" },
	{ PLAIN("python -uBO a.py b"), "python script:a.py @3 x1" },
	{ PLAIN("python -- a.py b"), "python script:a.py @3 x1" },
	{ PLAIN("python --check-hash-based-pycs always a.py b"),
	  "python script:a.py @4 x1" },
	{ PLAIN("python -m pkg.train --x 1"), "python module:pkg.train @3 x1" },
	{ PLAIN("python -um pkg.train --x"), "python module:pkg.train @3 x1" },
	{ PLAIN("python -c code --x"), "python code:code @3 x1" },
	{ PLAIN("./trainer -b 8"), "./trainer @1 x1" },
	{ PLAIN("/opt/pythonic a.py"), "/opt/pythonic @1 x1" },
	{ PLAIN("./train.py --x 1"), "./train.py script:./train.py @1 x1" },
	{ PLAIN("python a.py --x~y~=~'z'"), "python script:a.py @2 x1" },
	{ PLAIN("tune run --nproc_per_node 2 full_finetune"), "tune @1 x1" },
};

static void python_is_peeled(void **state)
{
	(void)state;
	CHECK(python_is_peeled_rows);
}

static const struct row wrappers_are_peeled_rows[] = {
	{ PLAIN("env python a.py b"), "python script:a.py @3 x1" },
	{ PLAIN("env -i -u HOME A=1 bs=8 python a.py b"),
	  "python script:a.py @8 x1 A=1 bs=8" },
	{ PLAIN("env - --unset=X -uY A=1 python a.py b"),
	  "python script:a.py @7 x1 A=1" },
	{ PLAIN("env -- A=1 python a.py b"), "python script:a.py @5 x1 A=1" },
	{ PLAIN("env A=1 A=2 B= C=x=y ./t"), "./t @6 x1 A=2 B= C=x=y" },
	{ PLAIN("env A=1 env -u A B=1 ./t"), "./t @7 x1 B=1" },
	{ PLAIN("env A=1 env -i B=1 ./t"), "./t @6 x1 B=1" },
	{ PLAIN("env -vi --unse X --ignore-signal=PIPE ./t"), "./t @6 x1" },
	{ PLAIN("env --argv0=x -a y ./t"), "./t @5 x1" },
	{ PLAIN("nice python a.py b"), "python script:a.py @3 x1" },
	{ PLAIN("nice -n 5 python a.py b"), "python script:a.py @5 x1" },
	{ PLAIN("nice -n5 nohup python a.py b"), "python script:a.py @5 x1" },
	{ PLAIN("nice -15 ./t b"), "./t @3 x1" },
	{ PLAIN("nice --5 ./t b"), "./t @3 x1" },
	{ PLAIN("nice --adjustment=3 nice --adjustment 3 ./t b"), "./t @6 x1" },
	{ PLAIN("nohup env A=1 nice nohup ./t b"), "./t @6 x1 A=1" },
	{ PLAIN("nohup -- ./t b"), "./t @3 x1" },
	{ PLAIN("/usr/bin/time -vo log -f %e~%M python a.py"),
	  "python script:a.py @7 x1" },
	{ PLAIN("time --output=log ./t"), "./t @3 x1" },
	{ PLAIN("timeout 60 python a.py"), "python script:a.py @4 x1" },
	{ PLAIN("timeout -s INT -k 5s 1h python a.py"),
	  "python script:a.py @8 x1" },
	{ PLAIN("timeout --signal=KILL --foreground -- 2d ./t"), "./t @6 x1" },
	{ PLAIN("stdbuf -oL -e 0 python a.py"), "python script:a.py @6 x1" },
	{ PLAIN("stdbuf --output=L ./t"), "./t @3 x1" },
	{ PLAIN("setsid -w python a.py"), "python script:a.py @4 x1" },
	{ PLAIN("setsid --wait --ctty ./t"), "./t @4 x1" },
	{ PLAIN("setsid -cfw ./t"), "./t @3 x1" },
	{ PLAIN("ionice -c2 -n 0 ./t"), "./t @5 x1" },
	{ PLAIN("ionice --class idle -t ./t"), "./t @5 x1" },
	{ PLAIN("taskset -c 0-3,8 python a.py"), "python script:a.py @5 x1" },
	{ PLAIN("taskset 0xff ./t"), "./t @3 x1" },
	{ PLAIN("taskset --cpu-list 0 ./t"), "./t @4 x1" },
	{ PLAIN("chrt -f 10 ./t"), "./t @4 x1" },
	{ PLAIN("chrt --deadline -T 1 --sched-period 2 -D3 0 ./t"),
	  "./t @9 x1" },
	{ PLAIN("numactl -N 0 -m0 python a.py"), "python script:a.py @6 x1" },
	{ PLAIN("numactl --cpunodebind=0 --localalloc -C 0-7 ./t"),
	  "./t @6 x1" },
	{ PLAIN("env A=1 nice -n 5 timeout 9 taskset -c 1 numactl -l "
		"stdbuf -oL nohup python -u a.py b"),
	  "python script:a.py @18 x1 A=1" },
};

static void wrappers_are_peeled(void **state)
{
	(void)state;
	CHECK(wrappers_are_peeled_rows);
}

static const struct row environments_are_peeled_rows[] = {
	{ PLAIN("uv run python a.py b"), "python script:a.py @4 x1" },
	{ PLAIN("uv run a.py b"), "a.py script:a.py @3 x1" },
	{ PLAIN("uv run --with torch --python 3.12 -- python a.py b"),
	  "python script:a.py @9 x1" },
	{ PLAIN("uv -q --project=p run -p3.11 --extra gpu --group=dev "
		"--frozen ./t b"),
	  "./t @10 x1" },
	{ PLAIN("uv run -m pkg.train b"), "pkg.train module:pkg.train @4 "
					  "x1" },
	{ PLAIN("uv run --script train b"), "train script:train @4 x1" },
	{ PLAIN("uv run -qvv --no-sync torchrun --nproc-per-node 2 "
		"a.py"),
	  "a.py script:a.py @8 x2 by torchrun port 5--master_port" },
	{ PLAIN("uv run -m torch.distributed.run --nproc_per_node=2 "
		"a.py"),
	  "a.py script:a.py @6 x2 by torchrun port 4--master_port" },
	{ PLAIN("python -m uv run python a.py"), "python script:a.py @6 x1" },
	{ PLAIN("poetry run python a.py"), "python script:a.py @4 x1" },
	{ PLAIN("poetry -vv -P p run ./t b"), "./t @6 x1" },
	{ PLAIN("pdm run -p . python a.py"), "python script:a.py @6 x1" },
	{ PLAIN("pdm run a.py"), "a.py script:a.py @3 x1" },
	{ PLAIN("hatch run python a.py"), "python script:a.py @4 x1" },
	{ PLAIN("hatch -e gpu run python a.py"), "python script:a.py @6 x1" },
	{ PLAIN("pixi run -e cuda python a.py"), "python script:a.py @6 x1" },
	{ PLAIN("pixi run --manifest-path p --frozen train"), "train @6 x1" },
	{ PLAIN("conda run -n env --no-capture-output python a.py"),
	  "python script:a.py @7 x1" },
	{ PLAIN("conda run -nenv --live-stream -v ./t"), "./t @6 x1" },
	{ PLAIN("conda run -p /opt/e -- python a.py"),
	  "python script:a.py @7 x1" },
	{ PLAIN("mamba run -n env ./t"), "./t @5 x1" },
	{ PLAIN("micromamba run -n env -e A=1 -a stdout ./t"),
	  "./t @9 x1 A=1" },
	{ PLAIN("micromamba run --clean-env --env A=1 ./t"), "./t @6 x1 A=1" },
	{ PLAIN("pipenv run python a.py"), "python script:a.py @4 x1" },
	{ PLAIN("rye run ./t b"), "./t @3 x1" },
	{ PLAIN("env A=1 uv run nice accelerate launch "
		"--num_processes 2 --multi_gpu a.py b"),
	  "a.py script:a.py @11 x2 by accelerate launch "
	  "port 7--main_process_port A=1" },
};

static void environments_are_peeled(void **state)
{
	(void)state;
	CHECK(environments_are_peeled_rows);
}

static const struct row torchrun_is_peeled_rows[] = {
	{ WITH("torchrun train.py b", NULL, 3),
	  "train.py script:train.py @2 x1 by torchrun port "
	  "1--master_port" },
	{ PLAIN("torchrun --standalone --nproc_per_node=4 a.py b"),
	  "a.py script:a.py @4 x4 by torchrun" },
	{ PLAIN("torchrun --nproc-per-node 4 --nnodes 1 --rdzv-id 7 "
		"--master_port 0 -r 3 -t3 --log_dir d a.py b"),
	  "a.py script:a.py @15 x4 by torchrun port 8+0" },
	{ PLAIN("torchrun --nproc 2 a.py b"),
	  "a.py script:a.py @4 x2 by torchrun port 1--master_port" },
	{ WITH("torchrun --nproc_per_node gpu --nnodes=1:1 a.py b", NULL, 3),
	  "a.py script:a.py @5 x3 by torchrun port 1--master_port" },
	{ WITH("env CUDA_VISIBLE_DEVICES=0,2 torchrun --nproc_per_node "
	       "gpu a.py b",
	       NULL, 3),
	  "a.py script:a.py @6 x2 by torchrun port 3--master_port "
	  "sees 2 CUDA_VISIBLE_DEVICES=0,2" },
	{ WITH("env -- CUDA_VISIBLE_DEVICES=0,1,2,3 torchrun "
	       "--nproc_per_node gpu a.py b",
	       NULL, 3),
	  "a.py script:a.py @7 x3 by torchrun port 4--master_port "
	  "CUDA_VISIBLE_DEVICES=0,1,2,3" },
	{ WITH("env CUDA_VISIBLE_DEVICES=1,-1,0 torchrun "
	       "--nproc_per_node gpu a.py b",
	       NULL, 3),
	  "a.py script:a.py @6 x1 by torchrun port 3--master_port "
	  "sees 1 CUDA_VISIBLE_DEVICES=1,-1,0" },
	{ WITH("torchrun --nproc_per_node=auto -m pkg.train b", NULL, 3),
	  "pkg.train module:pkg.train @4 x3 by torchrun port "
	  "1--master_port" },
	{ PLAIN("torchrun --nproc_per_node 2 --no_python ./t b"),
	  "./t @5 x2 by torchrun port 1--master_port" },
	{ PLAIN("torchrun --nproc_per_node 2 --no-python python -u "
		"a.py "
		"b"),
	  "python script:a.py @7 x2 by torchrun port 1--master_port" },
	{ PLAIN("/opt/bin/torchrun --nproc_per_node 2 -- a.py b"),
	  "a.py script:a.py @5 x2 by torchrun port 1--master_port" },
	{ PLAIN("python -m torch.distributed.run --nproc_per_node 2 "
		"a.py "
		"b"),
	  "a.py script:a.py @6 x2 by torchrun port 3--master_port" },
	{ PLAIN("env A=1 python3 -u -m torch.distributed.launch "
		"--use_env "
		"--nproc_per_node=2 a.py b"),
	  "a.py script:a.py @9 x2 by torchrun port 6--master_port "
	  "A=1" },
	{ PLAIN("python /opt/bin/torchrun --nproc_per_node 2 a.py b"),
	  "a.py script:a.py @5 x2 by torchrun port 2--master_port" },
	{ PLAIN("torchrun --master-port=29501 a.py"),
	  "a.py script:a.py @3 x1 by torchrun port 1+14" },
	{ PLAIN("torchrun --master_port 1 --master_port 2 a.py"),
	  "a.py script:a.py @6 x1 by torchrun port 4+0" },
	{ PLAIN("torchrun --rdzv_backend c10d --rdzv_endpoint "
		"localhost:29400 a.py"),
	  "a.py script:a.py @6 x1 by torchrun port 4+10" },
	{ PLAIN("torchrun --rdzv-endpoint=[::1]:29400 --master_port 3 "
		"a.py"),
	  "a.py script:a.py @5 x1 by torchrun port 1+22" },
	{ PLAIN("torchrun --rdzv_backend=c10d "
		"--rdzv_endpoint=localhost:0 a.py"),
	  "a.py script:a.py @4 x1 by torchrun" },
	{ PLAIN("torchrun --rdzv_backend=c10d --rdzv_endpoint=host "
		"a.py"),
	  "a.py script:a.py @4 x1 by torchrun" },
	{ PLAIN("torchrun --rdzv_backend=c10d a.py"),
	  "a.py script:a.py @3 x1 by torchrun" },
	{ PLAIN("torchrun --rdzv_backend=etcd-v2 "
		"--rdzv_endpoint=etcd:2379 a.py"),
	  "a.py script:a.py @4 x1 by torchrun" },
	{ WITH("torchrun a.py", "PET_NPROC_PER_NODE=4 PET_NNODES=1", 0),
	  "a.py script:a.py @2 x4 by torchrun port 1--master_port" },
	{ WITH("torchrun --nproc_per_node 2 a.py",
	       "PET_NPROC_PER_NODE=4 PET_STANDALONE=1", 0),
	  "a.py script:a.py @4 x2 by torchrun" },
	{ WITH("torchrun pkg", "PET_MODULE=1 PET_NO_PYTHON=0", 0),
	  "pkg module:pkg @2 x1 by torchrun port 1--master_port" },
	{ WITH("torchrun a.py", "PET_RDZV_ENDPOINT=host:29400", 0),
	  "a.py script:a.py @2 x1 by torchrun" },
	{ WITH("env PET_NPROC_PER_NODE=2 torchrun a.py", "", 0),
	  "a.py script:a.py @4 x2 by torchrun port 3--master_port "
	  "PET_NPROC_PER_NODE=2" },
	{ WITH("env -i torchrun a.py", "PET_NPROC_PER_NODE=4", 0),
	  "a.py script:a.py @4 x1 by torchrun port 3--master_port" },
	{ PLAIN("python -m paddle.distributed.launch --gpus 0,1,2 a.py "
		"b"),
	  "a.py script:a.py @6 x3 by paddle.distributed.launch" },
	{ PLAIN("fleetrun --log_dir=l --nproc_per_node=2 a.py"),
	  "a.py script:a.py @4 x2 by paddle.distributed.launch" },
	{ WITH("fleetrun a.py", NULL, 4),
	  "a.py script:a.py @2 x4 by paddle.distributed.launch" },
};

static void torchrun_is_peeled(void **state)
{
	(void)state;
	CHECK(torchrun_is_peeled_rows);
}

#define CONFIG "/h/.cache/huggingface/accelerate/default_config.yaml"

static const char gpus_text[] = "compute_environment: LOCAL_MACHINE\n"
				"distributed_type: MULTI_GPU\nnum_machines: 1\n"
				"num_processes: 8\nuse_cpu: false\n";
static const char cpu_text[] = "distributed_type: 'NO'\nnum_processes: 4\n"
			       "use_cpu: true\n";
static const char fsdp_text[] =
	"distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n"
	"  num_processes: 3\nnum_processes: 2\n"
	"parallelism_config:\n  parallelism_config_tp_size: 1\n";
#define OF_FSDP(lines)                                                         \
	"distributed_type: FSDP\nnum_processes: 2\nfsdp_config:\n" lines
#define OF_DEEPSPEED(lines)                                                    \
	"distributed_type: DEEPSPEED\nnum_processes: 2\n"                      \
	"deepspeed_config:\n" lines
#define SHARING(options, text, shares)                                         \
	{                                                                      \
		READING("accelerate launch --config_file=c.yaml " options      \
			"a.py",                                                \
			NULL, 0, "c.yaml", text),                              \
			shares                                                 \
	}
#define SHARES(words)                                                          \
	"a.py script:a.py @4 x2 by accelerate launch port "                    \
	"2--main_process_port" words
static const struct row accelerate_says_sharing_rows[] = {
	SHARING("", OF_FSDP("  fsdp_version: 1\n"), SHARES(" shares by fsdp")),
	SHARING("", OF_FSDP("  fsdp_sharding_strategy: FULL_SHARD\n"),
		SHARES(" shares by fsdp")),
	SHARING("", OF_FSDP("  fsdp_sharding_strategy: 2\n"),
		SHARES(" shares by fsdp-grad-op")),
	SHARING("", OF_FSDP("  fsdp_sharding_strategy: NO_SHARD\n"),
		SHARES(" shares by ddp")),
	SHARING("", OF_FSDP("  fsdp_sharding_strategy: NEW\n"), SHARES("")),
	SHARING("",
		OF_FSDP("  fsdp_reshard_after_forward: false\n"
			"  fsdp_offload_params: true\n"),
		SHARES(" shares by fsdp-grad-op offloads weights")),
	SHARING("", OF_DEEPSPEED("  deepspeed_config_file: ds.json\n"),
		SHARES("")),
	SHARING("", OF_DEEPSPEED("  zero_stage: 0\n"),
		SHARES(" shares by ddp")),
	SHARING("", OF_DEEPSPEED("  zero_stage: 1\n"),
		SHARES(" shares by zero1")),
	SHARING("",
		OF_DEEPSPEED("  zero_stage: 2\n"
			     "  offload_optimizer_device: cpu\n"
			     "  offload_param_device: none\n"),
		SHARES(" shares by zero2 offloads states")),
	SHARING("--zero_stage=3 ", OF_DEEPSPEED("  zero_stage: 2\n"),
		"a.py script:a.py @5 x2 by accelerate launch port "
		"2--main_process_port shares by zero3"),
	SHARING("--multi_gpu ", OF_DEEPSPEED("  zero_stage: 2\n"),
		"a.py script:a.py @5 x2 by accelerate launch port "
		"2--main_process_port"),
	SHARING("--use_fsdp ", OF_DEEPSPEED("  zero_stage: 2\n"),
		"a.py script:a.py @5 x2 by accelerate launch port "
		"2--main_process_port shares by fsdp"),
};

static void accelerate_says_sharing(void **state)
{
	(void)state;
	CHECK(accelerate_says_sharing_rows);
}

static const struct row accelerate_is_peeled_rows[] = {
	{ WITH("accelerate launch --num_processes 4 a.py b", NULL, 3),
	  "a.py script:a.py @5 x4 by accelerate launch port "
	  "2--main_process_port" },
	{ PLAIN("accelerate launch --num-processes=4 --mixed_precision "
		"bf16 --use_fsdp --num_machines 1 "
		"--gradient_accumulation_steps 9 -q a.py b"),
	  "a.py script:a.py @12 x4 by accelerate launch port "
	  "2--main_process_port shares by fsdp" },
	{ WITH("accelerate launch --multi_gpu a.py b", NULL, 3),
	  "a.py script:a.py @4 x3 by accelerate launch port "
	  "2--main_process_port" },
	{ WITH("accelerate launch --cpu --num_processes 4 a.py b", NULL, 3),
	  "a.py script:a.py @6 x1 by accelerate launch" },
	{ READING("accelerate launch --config_file c.yaml "
		  "--num_processes 2 "
		  "-m pkg b",
		  NULL, 0, "c.yaml", gpus_text),
	  "pkg module:pkg @8 x2 by accelerate launch port "
	  "2--main_process_port" },
	{ READING("accelerate launch --config_file c.yaml a.py", NULL, 0,
		  "c.yaml", gpus_text),
	  "a.py script:a.py @5 x8 by accelerate launch port "
	  "2--main_process_port" },
	{ READING("accelerate launch --config_file=c.json a.py", NULL, 0,
		  "c.json",
		  "{\"distributed_type\": \"MULTI_GPU\", "
		  "\"num_processes\": 6}"),
	  "a.py script:a.py @4 x6 by accelerate launch port "
	  "2--main_process_port" },
	{ READING("accelerate launch --config-file c.yaml "
		  "--num_processes 2 "
		  "a.py",
		  NULL, 0, "c.yaml", cpu_text),
	  "a.py script:a.py @7 x1 by accelerate launch" },
	{ READING("accelerate launch --config_file c.yaml --multi_gpu "
		  "a.py",
		  NULL, 0, "c.yaml", cpu_text),
	  "a.py script:a.py @6 x4 by accelerate launch port "
	  "2--main_process_port" },
	{ READING("accelerate launch a.py", "HOME=/h", 1, CONFIG, fsdp_text),
	  "a.py script:a.py @3 x2 by accelerate launch port "
	  "2--main_process_port shares by fsdp" },
	{ READING("accelerate launch a.py", "HOME=/h XDG_CACHE_HOME=/c", 0,
		  "/c/huggingface/accelerate/default_config.yaml", gpus_text),
	  "a.py script:a.py @3 x8 by accelerate launch port "
	  "2--main_process_port" },
	{ READING("env HF_HOME=~/x/ accelerate launch a.py",
		  "HOME=/h HF_HOME=/other", 0,
		  " /x//accelerate/default_config.yaml", gpus_text),
	  "a.py script:a.py @5 x8 by accelerate launch port "
	  "4--main_process_port HF_HOME= /x/" },
	{ READING("accelerate launch --cpu a.py", "HOME=/h", 4, CONFIG,
		  gpus_text),
	  "a.py script:a.py @4 x1 by accelerate launch" },
	{ WITH("accelerate launch a.py", "HOME=/h", 4),
	  "a.py script:a.py @3 x4 by accelerate launch port "
	  "2--main_process_port" },
	{ WITH("accelerate launch a.py", "HOME=/h", 1),
	  "a.py script:a.py @3 x1 by accelerate launch" },
	{ WITH("accelerate launch a.py", NULL, 1),
	  "a.py script:a.py @3 x1 by accelerate launch" },
	{ PLAIN("accelerate launch a.py"),
	  "a.py script:a.py @3 x1 by accelerate launch" },
	{ WITH("accelerate launch --num_processes 2 a.py", "HOME=/h", 0),
	  "a.py script:a.py @5 x2 by accelerate launch port "
	  "2--main_process_port" },
	{ PLAIN("accelerate launch --num_processes 2 --multi_gpu --debug "
		"--dynamo_backend no --dynamo_use_dynamic --same_network "
		"--machine_rank 0 --main_process_ip a --rdzv_backend static "
		"--num_cpu_threads_per_process 1 --tee 3 --gpu_ids all "
		"--max_restarts 0 --fsdp_offload_params false "
		"--zero_stage 2 --deepspeed_config_file c.json a.py 9"),
	  "a.py script:a.py @31 x2 by accelerate launch port "
	  "2--main_process_port" },
	{ PLAIN("accelerate-launch --num_processes=2 --multi_gpu a.py"),
	  "a.py script:a.py @4 x2 by accelerate launch port "
	  "1--main_process_port" },
	{ PLAIN("python -m accelerate.commands.launch --num_processes "
		"2 "
		"a.py b"),
	  "a.py script:a.py @6 x2 by accelerate launch port "
	  "3--main_process_port" },
	{ PLAIN("python -m accelerate.commands.accelerate_cli launch "
		"--num_processes 2 --main_process_port 1234 a.py b"),
	  "a.py script:a.py @9 x2 by accelerate launch port 7+0" },
	{ WITH("accelerate launch --multi_gpu "
	       "--main-process-port=29501 "
	       "--fp8_override_linear_precision 1,0,0 a.py",
	       NULL, 2),
	  "a.py script:a.py @7 x2 by accelerate launch port 3+20" },
};

static void accelerate_is_peeled(void **state)
{
	(void)state;
	CHECK(accelerate_is_peeled_rows);
}

static const struct row deepspeed_is_peeled_rows[] = {
	{ PLAIN("deepspeed --num_gpus 2 a.py b"),
	  "a.py script:a.py @4 x2 by deepspeed port 1--master_port" },
	{ WITH("deepspeed a.py", NULL, 4),
	  "a.py script:a.py @2 x4 by deepspeed port 1--master_port" },
	{ PLAIN("deepspeed --include localhost:0,1,1 a.py"),
	  "a.py script:a.py @4 x2 by deepspeed port 1--master_port" },
	{ WITH("deepspeed --include=localhost --master_port=29501 a.py", NULL,
	       4),
	  "a.py script:a.py @4 x4 by deepspeed port 2+14" },
	{ WITH("deepspeed -e localhost:3 --no_local_rank a.py", "", 4),
	  "a.py script:a.py @5 x3 by deepspeed port 1--master_port" },
	{ WITH("ds --num_nodes 1 --num_accel 3 --module pkg", NULL, 4),
	  "pkg module:pkg @7 x3 by deepspeed port 1--master_port" },
	{ PLAIN("deepspeed --num_gpus 2 --master_addr a --node_rank 0 "
		"--launcher pdsh --launcher_args x --no_ssh --no_ssh_check "
		"--save_pid --enable_each_rank_log d --bind_cores_to_rank "
		"--bind_core_list 0-3 --ssh_port 22 --venv_script v "
		"--log_level info -q a.py 9"),
	  "a.py script:a.py @27 x2 by deepspeed port 1--master_port" },
	{ PLAIN("deepspeed --num_gpus=2 --no_python ./t"),
	  "./t @4 x2 by deepspeed port 1--master_port" },
	{ PLAIN("python -m deepspeed.launcher.runner --num_gpus 2 "
		"a.py"),
	  "a.py script:a.py @6 x2 by deepspeed port 3--master_port" },
	{ PLAIN("python /opt/bin/deepspeed --num_gpus 2 a.py"),
	  "a.py script:a.py @5 x2 by deepspeed port 2--master_port" },
	{ READING("deepspeed --hostfile h a.py", NULL, 4, "h",
		  "# ours\n\nworker-0 slots=8\n"),
	  "a.py script:a.py @4 x8 by deepspeed port 1--master_port" },
	{ READING("deepspeed -H h --num_gpus 2 a.py", NULL, 4, "h",
		  "worker-0 slots=8"),
	  "a.py script:a.py @6 x2 by deepspeed port 1--master_port" },
	{ READING("deepspeed a.py", NULL, 4, "/job/hostfile", "a slots=2\n"),
	  "a.py script:a.py @2 x2 by deepspeed port 1--master_port" },
	{ READING("deepspeed --hostfile h --num_nodes 1 --num_gpus 4 "
		  "a.py",
		  NULL, 8, "h", "a slots=8\nb slots=8\n"),
	  "a.py script:a.py @8 x4 by deepspeed port 1--master_port" },
	{ READING("deepspeed --hostfile h --exclude a:0,1 a.py", NULL, 0, "h",
		  "a slots=8\n"),
	  "a.py script:a.py @6 x6 by deepspeed port 1--master_port" },
};

static void deepspeed_is_peeled(void **state)
{
	(void)state;
	CHECK(deepspeed_is_peeled_rows);
}

static const struct row tasks_are_peeled_rows[] = {
	{ PLAIN("mpirun -np 4 python a.py b"),
	  "python script:a.py @5 x4 by mpirun" },
	{ PLAIN("mpirun --allow-run-as-root -n 2 --bind-to none "
		"-map-by "
		"slot --mca btl ^openib -mca pml ob1 -x A=1 -x PATH "
		"--oversubscribe -H localhost:4 python -u a.py"),
	  "python script:a.py @24 x2 by mpirun A=1" },
	{ PLAIN("mpiexec --np=2 --host localhost,localhost ./t"),
	  "./t @5 x2 by mpirun" },
	{ PLAIN("mpiexec -H localhost:4 ./t"), "./t @4 x4 by mpirun" },
	{ READING("mpiexec -hostfile h ./t", NULL, 0, "h",
		  "here slots=3 max_slots=9\n"),
	  "./t @4 x3 by mpirun" },
	{ READING("mpiexec.hydra -genv A 1 -genv B=2 -env C 3 -n 2 "
		  "-ppn 2 "
		  "-f h ./t",
		  NULL, 0, "h", "here:2\n"),
	  "./t @16 x2 by mpirun A=1 B=2 C=3" },
	{ WITH("mpirun -np 2 ./t", "SLURM_JOB_NUM_NODES=1", 0),
	  "./t @4 x2 by mpirun" },
	{ PLAIN("mpirun -np 1 python a.py"), "python script:a.py @5 x1" },
	{ PLAIN("mpirun -np 1 torchrun --nproc_per_node 4 a.py"),
	  "a.py script:a.py @7 x4 by torchrun port 4--master_port" },
	{ PLAIN("horovodrun -np 4 -H localhost:4 python a.py"),
	  "python script:a.py @7 x4 by horovodrun" },
	{ PLAIN("horovodrun --num-proc 2 --gloo --log-l INFO ./t"),
	  "./t @7 x2 by horovodrun" },
	{ PLAIN("srun -n 4 python a.py"),
	  "python script:a.py @5 x4 by srun outside srun" },
	{ PLAIN("srun -n4 -N1 --ntasks-per-node=4 -K1 -lu --mpi pmix "
		"--exclusive --cpu-bind=none python a.py"),
	  "python script:a.py @12 x4 by srun outside srun" },
	{ PLAIN("srun --nodes=1-1 --ntasks 2 -J name -ppart ./t"),
	  "./t @8 x2 by srun outside srun" },
	{ PLAIN("srun -N 1 --ntasks-per-node 8 -- ./t"),
	  "./t @7 x8 by srun outside srun" },
	{ PLAIN("srun -p part -A acct -t 1:00 -c 8 --mem=0 -J n -o o -e e -i "
		"none --qos q --cpus-per-gpu 8 --hint nomultithread "
		"--distribution block --wait 0 --kill-on-bad-exit=1 "
		"--label --unbuffered -C a100 --time-min 1 --signal USR1 "
		"--reservation r --jobid 7 --overlap -Q --pty -n 2 ./t 9"),
	  "./t @47 x2 by srun outside srun" },
	{ PLAIN("srun -N2 -n1 ./t"), "./t @4 x1 outside srun" },
	{ PLAIN("srun ./t"), "./t @2 x1 outside srun" },
	{ WITH("srun ./t", "SLURM_NTASKS=4 SLURM_JOB_NUM_NODES=1", 0),
	  "./t @2 x4 by srun outside srun" },
	{ WITH("srun -n2 ./t", "SLURM_NTASKS=4 SLURM_NNODES=1", 0),
	  "./t @3 x2 by srun outside srun" },
	{ WITH("srun -n1 ./t", "SLURM_NTASKS=4 SLURM_NNODES=2", 0),
	  "./t @3 x1 outside srun" },
	{ WITH("srun -N2 --ntasks-per-node=2 ./t", "SLURM_JOB_ID=7", 0),
	  "./t @4 x4 by srun outside srun on 2 nodes" },
	{ WITH("srun -N 2 ./t", "SLURM_JOB_ID=7", 0),
	  "./t @4 x2 by srun outside srun on 2 nodes" },
	{ WITH("srun ./t",
	       "SLURM_JOB_ID=7 SLURM_NTASKS=8 SLURM_JOB_NUM_NODES=2", 0),
	  "./t @2 x8 by srun outside srun on 2 nodes" },
	{ WITH("srun -n1 ./t",
	       "SLURM_JOB_ID=7 SLURM_NTASKS=8 SLURM_JOB_NUM_NODES=2", 0),
	  "./t @3 x1 outside srun" },
	{ WITH("srun -N1 --ntasks-per-node=2 ./t", "SLURM_NTASKS=4", 0),
	  "./t @4 x2 by srun outside srun" },
	{ WITH("srun --ntasks-per-node=2 ./t", "SLURM_NTASKS=4 SLURM_NNODES=1",
	       0),
	  "./t @3 x4 by srun outside srun" },
	{ WITH("python a.py", "SLURM_NTASKS=4", 0),
	  "python script:a.py @2 x1" },
	{ WITH("srun --gres=gpu:4 -n1 torchrun --nproc_per_node 4 a.py", NULL,
	       1),
	  "a.py script:a.py @7 x4 by torchrun port 4--master_port "
	  "sees 0 outside srun" },
	{ WITH("srun -n1 --export=ALL,A=1,B,HOME=/x ./t", "HOME=/h", 0),
	  "./t @4 x1 outside srun A=1" },
	{ PLAIN("srun -n1 bash~x"), "bash x @3 x1 outside srun" },
	{ PLAIN("srun -n 1 mpirun -np 2 ./t"),
	  "./t @7 x2 by mpirun outside srun" },
	{ PLAIN("env A=1 srun -n1 uv run accelerate launch --multi_gpu "
		"--num_processes=2 a.py"),
	  "a.py script:a.py @11 x2 by accelerate launch port "
	  "8--main_process_port outside srun A=1" },
};

static void tasks_are_peeled(void **state)
{
	(void)state;
	CHECK(tasks_are_peeled_rows);
}

static const char script_text[] = "#!/bin/bash\nset -e\n"
				  "export CUDA_VISIBLE_DEVICES=0,1\n"
				  "torchrun --nproc_per_node gpu a.py "
				  "\"$@\"\n";
static const char forwards_text[] = "torchrun \"$@\"\n";
static const char moves_text[] =
	"cd sub\naccelerate launch --config_file c.yaml a.py\n";
static const struct row shells_are_taken_apart_rows[] = {
	{ PLAIN("bash -c python~a.py~--x~1"), "python script:a.py @4 x1" },
	{ PLAIN("env A=1 sh -c B=2~exec~torchrun~--nproc_per_node~2~"
		"a.py~b"),
	  "a.py script:a.py @10 x2 by torchrun port "
	  "7--master_port A=1 B=2" },
	{ WITH("bash -c CUDA_VISIBLE_DEVICES=1~torchrun~--master_port~"
	       "9~--nproc_per_node=gpu~a.py",
	       "", 4),
	  "a.py script:a.py @8 x1 by torchrun port 5+0 sees 1 "
	  "CUDA_VISIBLE_DEVICES=1" },
	{ READING("bash train.sh --x 1", "", 4, "train.sh", script_text),
	  "a.py script:a.py @7 x2 by torchrun sees 2 "
	  "CUDA_VISIBLE_DEVICES=0,1" },
	{ READING("./train.sh --x 1", "", 4, "./train.sh", script_text),
	  "a.py script:a.py @6 x2 by torchrun sees 2 "
	  "CUDA_VISIBLE_DEVICES=0,1" },
	{ READING("./train.sh --master_port 5 a.py", "", 4, "./train.sh",
		  forwards_text),
	  "a.py script:a.py @5 x1 by torchrun port 3+0" },
	{ READING("./train.sh a.py", "", 4, "./train.sh", forwards_text),
	  "a.py script:a.py @3 x1 by torchrun" },
	{ READING("bash train.sh", "", 0, "train.sh", moves_text, "sub/c.yaml",
		  "distributed_type: MULTI_GPU\nnum_processes: 2\n"),
	  "a.py script:a.py @7 x2 by accelerate launch" },
	{ PLAIN("uv run bash -c ./t~b"), "./t @5 x1" },
	{ PLAIN("bash -c torchrun~--rdzv_id=$A~--master_port=$((1+RANDOM))~"
		"--nproc_per_node~2~a.py"),
	  "a.py script:a.py @8 x2 by torchrun port 4+14" },
	{ PLAIN("bash -c torchrun~--rdzv_endpoint=$H:29400~a.py"),
	  "a.py script:a.py @5 x1 by torchrun" },
	{ WITH("bash -c torchrun~--nproc_per_node=$N~a.py", "N=3", 0),
	  "a.py script:a.py @5 x3 by torchrun port 3--master_port" },
};
static const struct refusal shells_are_taken_apart_refused[] = {
	{ PLAIN("bash -c bash~-c~./t"), COMMAND_NOT_RECOGNISED,
	  "shell inside a shell" },
	{ PLAIN("bash -c ./train.sh"), COMMAND_NOT_RECOGNISED,
	  "shell inside a shell" },
	{ WITH("bash -c torchrun~--nproc_per_node=$N~a.py", "", 0),
	  COMMAND_NOT_RECOGNISED, "plain number" },
	{ WITH("bash -c torchrun~$OPTIONS~a.py", NULL, 0),
	  COMMAND_NOT_RECOGNISED, "$OPTIONS" },
	{ WITH("bash -c CUDA_VISIBLE_DEVICES=$G~torchrun~"
	       "--nproc_per_node~gpu~a.py",
	       NULL, 4),
	  COMMAND_NOT_RECOGNISED, "--nproc_per_node=N" },
	{ PLAIN("bash gone.sh"), COMMAND_UNREADABLE, "gone.sh" },
};

static void shells_are_taken_apart(void **state)
{
	(void)state;
	CHECK(shells_are_taken_apart_rows);
	REFUSED(shells_are_taken_apart_refused);
}

static const struct row placeholders_open_what_is_hidden_rows[] = {
	{ PLAIN("docker run --gpus all img python a.py --bs {micro}"),
	  "docker @9 x1 outside docker" },
	{ PLAIN("env A=1 /usr/bin/podman run img torchrun "
		"--nproc_per_node 4 a.py --bs={micro:8}"),
	  "/usr/bin/podman @10 x1 outside podman A=1" },
	{ PLAIN("apptainer exec --nv x.sif python a.py -b {micro} -- "
		"y"),
	  "apptainer @10 x1 outside apptainer" },
	{ PLAIN("make train BS={micro}"), "make @3 x1" },
	{ PLAIN("srun -n1 singularity exec x.sif ./t {micro}"),
	  "singularity @7 x1 outside srun" },
};

static void placeholders_open_what_is_hidden(void **state)
{
	(void)state;
	CHECK(placeholders_open_what_is_hidden_rows);
}

static void placeholders_may_stand_elsewhere(void **state)
{
	struct strlist argv = words("make train"), micro = words("BS={micro}");
	struct strlist other = words("BS=8"), files = words("c.yaml");
	const struct {
		struct command_hints hints;
		enum command_outcome outcome;
	} rows[] = {
		{ { .env_templates = &micro }, COMMAND_OK },
		{ { .templates = &files }, COMMAND_OK },
		{ { .env_templates = &other }, COMMAND_NOT_RECOGNISED },
	};
	const struct case_ none = { .command = "" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct outcome o = { .is = COMMAND_USAGE };

		unwrap(&o, &argv, &none, &rows[i].hints);
		assert_int_equal(o.is, rows[i].outcome);
		command_view_release(&o.view);
		named_files_release(&o.texts);
	}
	strlist_release(&argv);
	strlist_release(&micro);
	strlist_release(&other);
	strlist_release(&files);
}

static void arguments_end_at_dashes(void **state)
{
	const struct case_ c = { .command = "python a.py --x 1 -- --y 2 --" };
	struct outcome o = { .is = COMMAND_USAGE };

	(void)state;
	run(&o, &c);
	assert_int_equal(o.is, COMMAND_OK);
	assert_int_equal(o.view.args, 2);
	assert_int_equal(o.view.end, 4);
	outcome_release(&o);
}

static const struct refusal programs_that_are_missing_rows[] = {
	{ PLAIN(""), COMMAND_USAGE, "no command" },
	{ PLAIN("python"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("python -"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("python -u"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("env A=1 python3 -u - --x"), COMMAND_REFUSED,
	  "standard input" },
	{ PLAIN("uv run -"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("uv run -s /dev/stdin"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("torchrun /dev/fd/5"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("python /dev/stdin"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("python /dev/fd/63 --x"), COMMAND_REFUSED, "standard input" },
	{ PLAIN("python a.py /dev/fd/63"), COMMAND_REFUSED, "/dev/fd/63" },
	{ PLAIN("./t --config=/dev/fd/63"), COMMAND_REFUSED, "is a pipe" },
	{ PLAIN("python -m"), COMMAND_UNREADABLE, "names no module" },
	{ PLAIN("python -c"), COMMAND_UNREADABLE, "names no code" },
	{ PLAIN("python -mpkg"), COMMAND_NOT_RECOGNISED,
	  "argument of its own" },
	{ PLAIN("python --version"), COMMAND_NOT_RECOGNISED, "--version" },
	{ PLAIN("python -3 a.py"), COMMAND_NOT_RECOGNISED, "-3" },
	{ PLAIN("env"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("env A=1"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("timeout 60"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("timeout"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("taskset -c 0"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("torchrun"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("srun -n 4"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("uv run"), COMMAND_NOT_RECOGNISED, "names no program" },
	{ PLAIN("torchrun --no_python --nproc_per_node 1"),
	  COMMAND_NOT_RECOGNISED, "names no program" },
};

static void programs_that_are_missing(void **state)
{
	(void)state;
	REFUSED(programs_that_are_missing_rows);
}

static const struct refusal options_that_are_not_understood_rows[] = {
	{ PLAIN("env -S x ./t"), COMMAND_NOT_RECOGNISED, "-S" },
	{ PLAIN("env -C /tmp ./t"), COMMAND_NOT_RECOGNISED, "-C" },
	{ PLAIN("env --chdir=/tmp ./t"), COMMAND_NOT_RECOGNISED,
	  "start autofit there" },
	{ PLAIN("env --what ./t"), COMMAND_NOT_RECOGNISED, "--what" },
	{ PLAIN("nice -n"), COMMAND_NOT_RECOGNISED, "no value" },
	{ PLAIN("nohup --x ./t"), COMMAND_NOT_RECOGNISED,
	  "in front of autofit" },
	{ PLAIN("setsid ./t"), COMMAND_REFUSED, "setsid --wait" },
	{ PLAIN("setsid -f ./t"), COMMAND_REFUSED, "setsid --wait" },
	{ PLAIN("taskset -p 1 2"), COMMAND_REFUSED, "starts none" },
	{ PLAIN("ionice -c2 -p 9"), COMMAND_REFUSED, "with -p cannot" },
	{ PLAIN("ionice -p9 ./t"), COMMAND_REFUSED, "starts none" },
	{ PLAIN("uv --quiet=1 run ./t"), COMMAND_NOT_RECOGNISED, "--quiet=1" },
	{ PLAIN("uv run --directory d python a.py"), COMMAND_NOT_RECOGNISED,
	  "start autofit there" },
	{ PLAIN("uv pip install x"), COMMAND_NOT_RECOGNISED, "uv run" },
	{ PLAIN("poetry -C d run ./t"), COMMAND_NOT_RECOGNISED, "-C" },
	{ PLAIN("hatch run gpu:train"), COMMAND_NOT_RECOGNISED,
	  "in front of run" },
	{ PLAIN("hatch run +py=3.12 ./t"), COMMAND_NOT_RECOGNISED,
	  "in front of run" },
	{ PLAIN("pixi run -n ./t"), COMMAND_REFUSED, "only shows" },
	{ PLAIN("conda run --cwd d ./t"), COMMAND_NOT_RECOGNISED, "--cwd" },
	{ PLAIN("micromamba run -d -n e ./t"), COMMAND_REFUSED,
	  "before anything has run" },
	{ PLAIN("conda activate x"), COMMAND_NOT_RECOGNISED, "conda run" },
	{ PLAIN("torchrun --unknown 3 t.py"), COMMAND_NOT_RECOGNISED,
	  "--unknown" },
	{ PLAIN("torchrun --n 3 t.py"), COMMAND_NOT_RECOGNISED, "--n" },
	{ PLAIN("torchrun --nproc_per_node"), COMMAND_NOT_RECOGNISED,
	  "no value" },
	{ PLAIN("mpirun --mca btl"), COMMAND_NOT_RECOGNISED, "no value" },
	{ PLAIN("mpirun -npx 4 ./t"), COMMAND_NOT_RECOGNISED, "-npx" },
	{ PLAIN("mpirun -np 2 --wdir /x ./t"), COMMAND_NOT_RECOGNISED,
	  "start autofit there" },
	{ PLAIN("mpirun -np 2 --app f"), COMMAND_NOT_RECOGNISED, "in a file" },
	{ PLAIN("srun -n4 --multi-prog f"), COMMAND_NOT_RECOGNISED,
	  "in a file" },
	{ PLAIN("srun -n1 --container-image=img ./t"), COMMAND_NOT_RECOGNISED,
	  "start autofit inside" },
	{ PLAIN("srun -n1 --export=A=1 ./t"), COMMAND_REFUSED, "ALL" },
	{ WITH("srun -n1 ./t", "SLURM_EXPORT_ENV=NONE", 0), COMMAND_REFUSED,
	  "SLURM_EXPORT_ENV" },
	{ PLAIN("accelerate config"), COMMAND_NOT_RECOGNISED,
	  "accelerate launch" },
	{ PLAIN("accelerate"), COMMAND_NOT_RECOGNISED, "accelerate launch" },
};

static void options_that_are_not_understood(void **state)
{
	(void)state;
	REFUSED(options_that_are_not_understood_rows);
}

static const char several_text[] = "a slots=4\nb slots=4\n";
static const char tpu_text[] = "distributed_type: XLA\nnum_processes: 8\n";
static const char nodes_text[] = "distributed_type: MULTI_GPU\n"
				 "num_processes: 8\nnum_machines: 2\n";
static const struct refusal ranks_that_cannot_be_told_rows[] = {
	{ PLAIN("torchrun --nnodes 1:4 t.py"), COMMAND_REFUSED, "range" },
	{ PLAIN("torchrun --nproc_per_node 1:4 t.py"), COMMAND_REFUSED,
	  "range" },
	{ PLAIN("torchrun --nnodes=2 t.py"), COMMAND_REFUSED, "one node" },
	{ PLAIN("torchrun --nnodes=2:2 t.py"), COMMAND_REFUSED, "one node" },
	{ WITH("torchrun t.py", "PET_NNODES=2", 0), COMMAND_REFUSED,
	  "one node" },
	{ PLAIN("torchrun --nnodes=x t.py"), COMMAND_NOT_RECOGNISED,
	  "write 1" },
	{ PLAIN("torchrun --nproc_per_node=gpu t.py"), COMMAND_NOT_RECOGNISED,
	  "--nproc_per_node=N" },
	{ WITH("torchrun --nproc_per_node=cpu t.py", NULL, 2),
	  COMMAND_NOT_RECOGNISED, "plain number" },
	{ WITH("torchrun --nproc_per_node=0 t.py", NULL, 2),
	  COMMAND_NOT_RECOGNISED, "plain number" },
	{ WITH("torchrun --nproc_per_node=99999999999999999999 t.py", NULL, 2),
	  COMMAND_NOT_RECOGNISED, "plain number" },
	{ WITH("env CUDA_VISIBLE_DEVICES=0,1 torchrun "
	       "--nproc_per_node=gpu t.py",
	       "CUDA_VISIBLE_DEVICES=0", 1),
	  COMMAND_NOT_RECOGNISED, "--nproc_per_node=N" },
	{ WITH("env -u CUDA_VISIBLE_DEVICES torchrun "
	       "--nproc_per_node=gpu t.py",
	       "CUDA_VISIBLE_DEVICES=0", 1),
	  COMMAND_NOT_RECOGNISED, "--nproc_per_node=N" },
	{ WITH("torchrun --no_python torchrun t.py", NULL, 2),
	  COMMAND_NOT_RECOGNISED, "torchrun inside torchrun" },
	{ PLAIN("mpirun -np 2 torchrun t.py"), COMMAND_NOT_RECOGNISED,
	  "at most one task" },
	{ PLAIN("srun -n 2 accelerate launch --cpu t.py"),
	  COMMAND_NOT_RECOGNISED, "accelerate inside srun" },
	{ PLAIN("accelerate launch --num_machines 2 t.py"), COMMAND_REFUSED,
	  "one node" },
	{ PLAIN("accelerate launch --config_file c.yaml t.py"),
	  COMMAND_NOT_RECOGNISED, "c.yaml cannot be read" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml", nodes_text),
	  COMMAND_REFUSED, "one node" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml", tpu_text),
	  COMMAND_NOT_RECOGNISED, "a batch of its own" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml", "distributed_type: NEW\n"),
	  COMMAND_NOT_RECOGNISED, "distributed_type NEW" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml", "distributed_type: MULTI_GPU\n"),
	  COMMAND_NOT_RECOGNISED, "num_processes" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml",
		  "distributed_type: MULTI_GPU\n"
		  "num_processes: -1\n"),
	  COMMAND_NOT_RECOGNISED, "plain number" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml", "a: [\n"),
	  COMMAND_NOT_RECOGNISED, "accelerate: c.yaml" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml", "compute_environment: AMAZON_SAGEMAKER\n"),
	  COMMAND_REFUSED, "AMAZON_SAGEMAKER" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml",
		  "distributed_type: FSDP\nnum_processes: 8\n"
		  "parallelism_config:\n"
		  "  parallelism_config_tp_size: 2\n"),
	  COMMAND_NOT_RECOGNISED, "a batch of its own" },
	{ READING("accelerate launch --config_file c.yaml t.py", NULL, 0,
		  "c.yaml",
		  "distributed_type: MULTI_CPU\n"
		  "mpirun_config:\n  mpirun_hostfile: h\n"),
	  COMMAND_NOT_RECOGNISED, "write mpirun itself" },
	{ WITH("accelerate launch t.py", NULL, 2), COMMAND_NOT_RECOGNISED,
	  "--num_processes=N" },
	{ WITH("accelerate launch --num_processes 4 t.py", NULL, 1),
	  COMMAND_NOT_RECOGNISED, "--multi_gpu" },
	{ PLAIN("accelerate launch --multi_gpu t.py"), COMMAND_NOT_RECOGNISED,
	  "--num_processes=N" },
	{ PLAIN("accelerate launch --use_megatron_lm --num_processes 4 "
		"t.py"),
	  COMMAND_NOT_RECOGNISED, "use_megatron_lm" },
	{ PLAIN("nohup deepspeed t.py"), COMMAND_NOT_RECOGNISED,
	  "--num_gpus=N" },
	{ PLAIN("deepspeed --num_nodes 2 t.py"), COMMAND_REFUSED, "one node" },
	{ READING("deepspeed --hostfile h t.py", NULL, 4, "h", several_text),
	  COMMAND_REFUSED, "several nodes" },
	{ READING("deepspeed --hostfile h --num_nodes 1 t.py", NULL, 4, "h",
		  several_text),
	  COMMAND_NOT_RECOGNISED, "--num_gpus=N" },
	{ PLAIN("deepspeed --include a:0@b:1 t.py"), COMMAND_REFUSED,
	  "several nodes" },
	{ PLAIN("deepspeed --exclude localhost:0 t.py"), COMMAND_NOT_RECOGNISED,
	  "localhost:0" },
	{ WITH("deepspeed --exclude localhost:0 t.py",
	       "CUDA_VISIBLE_DEVICES=0,1", 2),
	  COMMAND_NOT_RECOGNISED, "--include localhost:0,1" },
	{ WITH("deepspeed --exclude localhost t.py", NULL, 2),
	  COMMAND_NOT_RECOGNISED, "cannot be told" },
	{ WITH("deepspeed --include localhost:0-3 t.py", NULL, 4),
	  COMMAND_NOT_RECOGNISED, "localhost:0-3" },
	{ WITH("deepspeed --elastic_training t.py", NULL, 2), COMMAND_REFUSED,
	  "elastic_training" },
	{ WITH("deepspeed --autotuning tune t.py", NULL, 2), COMMAND_REFUSED,
	  "leave it out" },
	{ PLAIN("python -m deepspeed.launcher.launch --world_info=x "
		"t.py"),
	  COMMAND_NOT_RECOGNISED, "torchrun" },
	{ PLAIN("mpirun ./t"), COMMAND_NOT_RECOGNISED, "-np N" },
	{ PLAIN("mpirun -H a,b -np 2 ./t"), COMMAND_REFUSED, "several nodes" },
	{ READING("mpirun -hostfile h -np 2 ./t", NULL, 0, "h", several_text),
	  COMMAND_REFUSED, "several nodes" },
	{ PLAIN("mpirun -hostfile h -np 2 ./t"), COMMAND_NOT_RECOGNISED,
	  "cannot be read" },
	{ WITH("mpirun -np 2 ./t", "SLURM_JOB_NUM_NODES=2", 0), COMMAND_REFUSED,
	  "one node" },
	{ PLAIN("mpirun -np 2 ./a : -np 2 ./b"), COMMAND_NOT_RECOGNISED,
	  "more than one program" },
	{ PLAIN("horovodrun -np 2 --min-np 1 ./t"), COMMAND_REFUSED, "min_np" },
	{ PLAIN("srun -N2 ./t"), COMMAND_REFUSED, "one node" },
	{ PLAIN("srun -N1-2 -n4 ./t"), COMMAND_REFUSED, "range" },
	{ WITH("srun -N1-2 -n4 ./t", "SLURM_JOB_ID=7", 0), COMMAND_REFUSED,
	  "range" },
	{ WITH("srun -N60000 --ntasks-per-node=2 ./t", "SLURM_JOB_ID=7", 0),
	  COMMAND_NOT_RECOGNISED, "too many" },
	{ PLAIN("srun -n 4 -w a,b ./t"), COMMAND_REFUSED, "several nodes" },
	{ WITH("srun ./t", "SLURM_NTASKS=8 SLURM_JOB_NUM_NODES=2", 0),
	  COMMAND_REFUSED, "one node" },
	{ WITH("srun --ntasks-per-node=1 ./t", "SLURM_NNODES=2", 0),
	  COMMAND_REFUSED, "one node" },
	{ PLAIN("srun -n x ./t"), COMMAND_NOT_RECOGNISED, "plain number" },
	{ WITH("srun -n1 --gpus 4 torchrun --nproc_per_node gpu t.py", NULL, 4),
	  COMMAND_NOT_RECOGNISED, "--nproc_per_node=N" },
	{ WITH("python -m paddle.distributed.launch --ips a,b t.py", NULL, 4),
	  COMMAND_REFUSED, "several nodes" },
	{ PLAIN("python -m paddle.distributed.launch t.py"),
	  COMMAND_NOT_RECOGNISED, "--nproc_per_node=N" },
};

static void ranks_that_cannot_be_told(void **state)
{
	(void)state;
	REFUSED(ranks_that_cannot_be_told_rows);
}

static const struct refusal programs_that_hide_it_rows[] = {
	{ PLAIN("docker run x python a.py"), COMMAND_NOT_RECOGNISED,
	  "{micro}" },
	{ PLAIN("podman exec c ./t"), COMMAND_NOT_RECOGNISED,
	  "inside the container" },
	{ PLAIN("srun -n1 apptainer exec x.sif ./t"), COMMAND_NOT_RECOGNISED,
	  "{micro}" },
	{ PLAIN("make train"), COMMAND_NOT_RECOGNISED, "{micro}" },
	{ PLAIN("just train BS={out}"), COMMAND_NOT_RECOGNISED,
	  "training command itself" },
	{ PLAIN("npm run train"), COMMAND_NOT_RECOGNISED, "{micro}" },
	{ PLAIN("tox -e train"), COMMAND_NOT_RECOGNISED, "{micro}" },
	{ PLAIN("sbatch job.sh"), COMMAND_REFUSED, "job script" },
	{ PLAIN("qsub job.sh {micro}"), COMMAND_REFUSED, "job script" },
	{ PLAIN("bsub ./t"), COMMAND_REFUSED, "job script" },
	{ PLAIN("sudo -E python t.py"), COMMAND_REFUSED, "in front" },
	{ PLAIN("ssh host python t.py"), COMMAND_REFUSED, "inside" },
	{ PLAIN("kubectl exec pod -- ./t"), COMMAND_REFUSED, "inside" },
	{ PLAIN("ray job submit -- python t.py"), COMMAND_REFUSED, "inside" },
	{ PLAIN("aws sagemaker x"), COMMAND_REFUSED, "inside" },
	{ PLAIN("gcloud ai x"), COMMAND_REFUSED, "inside" },
	{ PLAIN("tmux new -d ./t"), COMMAND_REFUSED, "inside" },
	{ PLAIN("nsys profile python t.py"), COMMAND_NOT_RECOGNISED,
	  "leave it out" },
	{ PLAIN("python -m cProfile t.py"), COMMAND_NOT_RECOGNISED,
	  "leave it out" },
	{ PLAIN("parallel ./t ::: 1 2"), COMMAND_NOT_RECOGNISED, "itself" },
};

static void programs_that_hide_it(void **state)
{
	(void)state;
	REFUSED(programs_that_hide_it_rows);
}

/* The word of an option list, without its marks. */
static size_t option_length(const char *at)
{
	return strcspn(at, " =?");
}

static bool has_option(const struct launcher *row, const char *name)
{
	const char *at = row->options ? row->options : "";

	for (; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (option_length(at) == strlen(name) &&
		    strncmp(at, name, strlen(name)) == 0)
			return true;
	return false;
}

static void check_option_list(const struct launcher *row)
{
	struct strlist seen = STRLIST_INIT;
	const char *at = row->options ? row->options : "";

	for (; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		char *name = strndup(at, option_length(at));
		size_t marks = strcspn(at + strlen(name), " ");

		if (strlen(name) == 0 || strpbrk(name, "-=?") || marks > 2 ||
		    strlist_find(&seen, name) < seen.count)
			fail_msg("%s: option %s", row->file, name);
		strlist_take(&seen, name);
	}
	strlist_release(&seen);
}

static void check_meanings(const struct launcher *row)
{
	for (size_t i = 0; i < row->says.count; i++) {
		const struct launch_meaning *says = &row->says.items[i];

		if (!has_option(row, says->name) ||
		    (says->word >= SAYS_UNKNOWN && !says->why))
			fail_msg("%s: %s", row->file, says->name);
	}
}

/* What a slip of the pen in a file would break. */
static void rows_are_well_formed(void **state)
{
	const struct launchers *launchers = builtin_launchers();

	(void)state;
	assert_true(launchers->count > 30);
	for (size_t i = 0; i < launchers->count; i++) {
		const struct launcher *row = &launchers->items[i];

		check_option_list(row);
		check_meanings(row);
		for (size_t j = 0; j < row->names.count; j++)
			assert_ptr_equal(
				launcher_find(launchers, row->names.items[j]),
				row);
		assert_true((row->count != COUNT_NOTHING) ==
			    (row->kind == LAUNCHER_RANKS ||
			     row->kind == LAUNCHER_TASKS));
		assert_true(!row->count || row->ranks_option);
		assert_true(row->kind == LAUNCHER_PYTHON ||
			    row->kind == LAUNCHER_SHELL || row->advice);
	}
}

static uint32_t chance_next(uint32_t *seed, uint32_t limit)
{
	*seed = *seed * 1664525U + 1013904223U;
	return limit ? (*seed >> 8) % limit : 0;
}

static const char *const oddities[] = {
	"",      "-",      "--",        "=",        "-=",   "--=x",    "4",
	"a.py",  "x=1",    "a:0,1@b",   "1:4",      "-n4",  "-xyz",    ":",
	"--np",  "-m",     "--a-b_c=d", "h",        "\xff", "{micro}", "run",
	"host:", "launch", "python",    "torchrun", "srun", "env",     "mpirun",
	"uv",    "nice",   "gpu",       "-c",       "$X",   "é'\"",    "-1",
};

/* One of the row's options, in one of its spellings. */
static void add_option(struct strlist *argv, const struct launcher *row,
		       uint32_t *seed)
{
	const char *list = row->options ? row->options : "x";
	const char *at = list + chance_next(seed, (uint32_t)strlen(list));
	const char *value = oddities[chance_next(seed, COUNT(oddities))];
	char *name;

	while (at > list && (*at == ' ' || at[-1] != ' '))
		at--;
	name = strndup(at,
		       option_length(at) - (chance_next(seed, 8) == 0 ? 1 : 0));
	strlist_addf(argv, "%s%s%s%s", chance_next(seed, 3) ? "--" : "-", name,
		     chance_next(seed, 2) ? "=" : "",
		     chance_next(seed, 2) ? value : "");
	if (chance_next(seed, 2))
		strlist_add(argv, value);
	free(name);
}

static void add_launcher(struct strlist *argv, uint32_t *seed)
{
	const struct launchers *launchers = builtin_launchers();
	const struct launcher *row =
		&launchers
			 ->items[chance_next(seed, (uint32_t)launchers->count)];

	/* Those that start nothing end the command: they come rarely. */
	if (row->kind >= LAUNCHER_OPAQUE && chance_next(seed, 8))
		return;
	/* Shells have a test, and a reader, of their own. */
	if (row->kind == LAUNCHER_SHELL)
		return;
	strlist_add(argv, row->names.items[0]);
	if (row->subcommand && chance_next(seed, 8))
		strlist_add(argv, row->subcommand);
	for (uint32_t i = chance_next(seed, 4); i > 0; i--)
		add_option(argv, row, seed);
	if (chance_next(seed, 4) == 0)
		strlist_add(argv, oddities[chance_next(seed, COUNT(oddities))]);
}

static void check_index(size_t index, size_t count)
{
	assert_true(index == NO_INDEX || index < count);
}

static void check_bounds(const struct outcome *o, const struct strlist *argv)
{
	const struct command_view *view = &o->view;

	check_index(view->program, argv->count);
	check_index(view->script, argv->count);
	check_index(view->module, argv->count);
	check_index(view->code, argv->count);
	assert_true(view->program != NO_INDEX);
	assert_true(view->args <= view->end && view->end <= argv->count);
	assert_true(view->program < view->args);
	assert_true(view->world >= 1 && view->world <= 65536);
	assert_true(view->port_count <= LAUNCH_PORTS_MAX);
	for (size_t i = 0; i < view->port_count; i++) {
		const struct launch_port *port = &view->ports[i];

		assert_true(port->index < view->args);
		if (!port->option && argv->items)
			assert_true(port->offset <=
				    strlen(argv->items[port->index]));
	}
}

/* Random options of every row: an end, an answer, and nothing out of bounds. */
static void any_command_has_an_outcome(void **state)
{
	const struct case_ files = {
		.files = { "h", "a slots=2\nb:3", "4",
			   "distributed_type: FSDP\nnum_processes: 2\n" },
	};
	struct strlist environment = words("HOME=/h SLURM_NTASKS=2 "
					   "CUDA_VISIBLE_DEVICES=0,1");
	unsigned understood = 0;
	uint32_t seed = 5;

	(void)state;
	for (unsigned turn = 0; turn < 20000; turn++) {
		struct strlist argv = STRLIST_INIT;
		struct command_hints hints = {
			.environment = turn % 2 ? &environment : NULL,
			.visible_devices = chance_next(&seed, 4),
		};
		struct outcome o = { .is = COMMAND_USAGE };

		for (uint32_t i = 1 + chance_next(&seed, 3); i > 0; i--)
			add_launcher(&argv, &seed);
		if (chance_next(&seed, 4)) {
			strlist_add(&argv, "python");
			strlist_add(&argv, "a.py");
		}
		unwrap(&o, &argv, &files, &hints);
		understood += o.is == COMMAND_OK;
		if (o.is == COMMAND_OK)
			check_bounds(&o, &argv);
		else
			assert_true(o.err.code != 0 && o.err.message[0]);
		command_view_release(&o.view);
		named_files_release(&o.texts);
		strlist_release(&argv);
	}
	assert_in_range(understood, 1000, 19000);
	strlist_release(&environment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_is_peeled),
		cmocka_unit_test(wrappers_are_peeled),
		cmocka_unit_test(environments_are_peeled),
		cmocka_unit_test(torchrun_is_peeled),
		cmocka_unit_test(accelerate_is_peeled),
		cmocka_unit_test(accelerate_says_sharing),
		cmocka_unit_test(deepspeed_is_peeled),
		cmocka_unit_test(tasks_are_peeled),
		cmocka_unit_test(shells_are_taken_apart),
		cmocka_unit_test(placeholders_open_what_is_hidden),
		cmocka_unit_test(placeholders_may_stand_elsewhere),
		cmocka_unit_test(arguments_end_at_dashes),
		cmocka_unit_test(programs_that_are_missing),
		cmocka_unit_test(options_that_are_not_understood),
		cmocka_unit_test(ranks_that_cannot_be_told),
		cmocka_unit_test(programs_that_hide_it),
		cmocka_unit_test(rows_are_well_formed),
		cmocka_unit_test(any_command_has_an_outcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
