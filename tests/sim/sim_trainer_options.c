/* The command line of the simulated trainer. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer_options.h"

#include "sim_trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * --batch-size --grad-accum --steps --step-ms --sample-us
 * --context-ms                   before the first allocation
 * --fixed-mib --per-sample-kib   memory = fixed + curve(batch size)
 * --curve                        linear: per sample x batch size
 *                                step: of the next multiple of 8
 *                                quadratic: more by batch size / 64
 *                                dip: a quarter less at multiples of 8
 * --access, --per-thread         how the driver is reached
 * --memory, --expandable         of which kind
 * --allocator, --retry           what an allocation that fails leads to
 * --empty-ms                     before it is tried again
 * --catch                        out of memory: half the batch size
 * --ranks, --one-device, --no-exec
 * --kill-rank R --kill-step K    by SIGKILL; --survive: the others go on;
 *                                --zombie: it is not reaped until the end
 * --fork N                       workers that touch no CUDA, or --misuse:
 *                                try to, as no child may
 * --threads --thread-pairs --thread-kib   allocations at once
 * --greedy                       one thread more, that is always refused
 * --launches --eval-every --eval-kib --save
 * --leak-kib --vary-pct --spike-mib       of device memory, per step
 * --host-kib                     pinned, within each step
 * --host-mib                     of the process, from the start
 * --preallocate PCT              of the device in one piece
 * --second-context --exec-after K
 * --ignore-gpu                   host memory instead
 * --release                      at the end, all of it
 * --report, --ask-nvml, --print-need      on standard output
 */
struct row {
	const char *name;
	size_t offset; /* in struct options */
	/* NULL: a number follows; "": nothing does; else one of these. */
	const char *choices;
};

#define ROW(name, field, choices)                                              \
	{                                                                      \
		name, offsetof(struct options, field), choices                 \
	}
static const struct row rows[] = {
	ROW("--batch-size", batch_size, NULL),
	ROW("--grad-accum", grad_accum, NULL),
	ROW("--steps", steps, NULL),
	ROW("--fixed-mib", fixed_mib, NULL),
	ROW("--per-sample-kib", per_sample_kib, NULL),
	ROW("--step-ms", step_ms, NULL),
	ROW("--sample-us", sample_us, NULL),
	ROW("--context-ms", context_ms, NULL),
	ROW("--access", access, "dlsym link gpa gpa2"),
	ROW("--per-thread", per_thread, ""),
	ROW("--memory", memory,
	    "linear pitched virtual async pool array graph mixed managed "
	    "node"),
	ROW("--expandable", expandable, ""),
	ROW("--allocator", allocator, "caching plain"),
	ROW("--retry", retry, "pytorch none"),
	ROW("--empty-ms", empty_ms, NULL),
	ROW("--catch", catch, "none halve quiet"),
	ROW("--curve", curve, "linear step quadratic dip"),
	ROW("--second-context", second_context, ""),
	ROW("--preallocate", preallocate, NULL),
	ROW("--fork", fork, NULL),
	ROW("--misuse", misuse, ""),
	ROW("--ranks", ranks, NULL),
	ROW("--one-device", one_device, ""),
	ROW("--no-exec", no_exec, ""),
	ROW("--kill-rank", kill_rank, NULL),
	ROW("--kill-step", kill_step, NULL),
	ROW("--survive", survive, ""),
	ROW("--zombie", zombie, ""),
	ROW("--threads", threads, NULL),
	ROW("--thread-pairs", thread_pairs, NULL),
	ROW("--thread-kib", thread_kib, NULL),
	ROW("--greedy", greedy, ""),
	ROW("--launches", launches, NULL),
	ROW("--eval-every", eval_every, NULL),
	ROW("--eval-kib", eval_kib, NULL),
	ROW("--save", save, ""),
	ROW("--leak-kib", leak_kib, NULL),
	ROW("--vary-pct", vary_pct, NULL),
	ROW("--spike-mib", spike_mib, NULL),
	ROW("--host-kib", host_kib, NULL),
	ROW("--host-mib", host_mib, NULL),
	ROW("--ignore-gpu", ignore_gpu, ""),
	ROW("--exec-after", exec_after, NULL),
	ROW("--release", release, ""),
	ROW("--report", report, ""),
	ROW("--ask-nvml", ask_nvml, ""),
	ROW("--print-need", print_need, ""),
};
#undef ROW

static long number_of(const char *option, const char *text)
{
	char *end = NULL;
	long number = text ? strtol(text, &end, 10) : -1;

	if (!text || end == text || *end || number < 0) {
		(void)fprintf(stderr, "error: %s needs a number\n", option);
		exit(BAD_USAGE);
	}
	return number;
}

/* The place of text among words that are separated by blanks. */
static long choice_of(const struct row *row, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	const char *word = row->choices;

	for (long place = 0; length && word; place++) {
		if (strncmp(word, text, length) == 0 &&
		    (word[length] == ' ' || !word[length]))
			return place;
		word = strchr(word, ' ');
		if (word)
			word++;
	}
	(void)fprintf(stderr, "error: %s is one of: %s\n", row->name,
		      row->choices);
	exit(BAD_USAGE);
}

static const struct row *row_of(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	(void)fprintf(stderr, "error: unrecognized arguments: %s\n", name);
	exit(BAD_USAGE);
}

struct options options_parse(char **argv)
{
	struct options options = {
		.batch_size = 8,
		.grad_accum = 1,
		.steps = 10,
		.fixed_mib = 512,
		.per_sample_kib = 1024,
		.thread_kib = 2048,
		.thread_pairs = 1,
#ifdef SIM_TRAINER_LINKED
		.access = ACCESS_LINK,
#endif
	};

	for (char **arg = argv + 1; *arg; arg++) {
		const struct row *row = row_of(*arg);
		long value = 1;

		if (!row->choices)
			value = number_of(row->name, *++arg);
		else if (*row->choices)
			value = choice_of(row, *++arg);
		memcpy((char *)&options + row->offset, &value, sizeof(value));
	}
	if (options.expandable)
		options.memory = MEMORY_EXPANDABLE;
	return options;
}
