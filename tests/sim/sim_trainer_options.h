/* What the command line of the simulated trainer says. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_TRAINER_OPTIONS_H
#define AUTOFIT_TESTS_SIM_TRAINER_OPTIONS_H

enum access { ACCESS_DLSYM, ACCESS_LINK, ACCESS_GPA, ACCESS_GPA2 };
enum memory {
	MEMORY_LINEAR,
	MEMORY_PITCHED,
	MEMORY_VIRTUAL,
	MEMORY_ASYNC,
	MEMORY_POOL,
	MEMORY_ARRAY,
	MEMORY_GRAPH,
	MEMORY_MIXED, /* of those above, in turn */
	MEMORY_MANAGED,
	MEMORY_NODE,       /* of a graph, by the call for all kinds of them */
	MEMORY_EXPANDABLE, /* pieces side by side in one range of addresses */
};
enum allocator { ALLOCATOR_CACHING, ALLOCATOR_PLAIN };
enum retry { RETRY_PYTORCH, RETRY_NONE };
enum catch { CATCH_NONE, CATCH_HALVE, CATCH_QUIET };
enum curve { CURVE_LINEAR, CURVE_STEP, CURVE_QUADRATIC, CURVE_DIP };

/* The command line; see sim_trainer_options.c. */
struct options {
	long batch_size, grad_accum, steps, fixed_mib, per_sample_kib;
	long step_ms, sample_us; /* least duration of a step; of a sample */
	long context_ms;         /* and of a context that holds nothing */
	long empty_ms;           /* of giving back what is cached */
	long access, per_thread, memory, allocator, retry, catch, curve;
	long expandable, second_context, preallocate;
	long fork, misuse, ranks, one_device, no_exec, survive, zombie;
	long kill_rank, kill_step;
	long threads, thread_pairs, thread_kib, greedy;
	long launches, eval_every, eval_kib, save, leak_kib, vary_pct;
	long host_kib, host_mib, spike_mib, ignore_gpu;
	long exec_after, release, ask_nvml, report, print_need;
};
struct options options_parse(char **argv);

#endif
