/* Who is a neighbour on a GPU: lists as NVML gives them, real processes. */
/* SPDX-License-Identifier: MIT */
/* USES base probes */
#include "probes/observers/gpu/gpu_neighbours.h"

#include "base/units.h"
#include "probes/observers/gpu/gpu_tenants.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MARK "AUTOFIT_PROBE=0123456789abcdef"
#define LISTED_MAX 5

/* Processes by the part they play. */
enum who {
	NOBODY,
	TREE,     /* of the probe, and in its list of pids */
	GRANDSON, /* of the probe, started since it was looked at */
	SERVED,   /* started by a server, with the probe's mark */
	STRANGER,
	OTHER,  /* another stranger */
	MPS,    /* MPS's server */
	ENDED,  /* no more there */
	HIDDEN, /* a number of another namespace */
	ROLES,
};

struct cast {
	pid_t pids[ROLES];
	pid_t keeper;
};

static pid_t start(const char *name, bool is_marked)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (name)
		(void)prctl(PR_SET_NAME, name);
	if (is_marked) {
		char *const argv[] = { strdup("sleep"), strdup("1000"), NULL };
		char *const environment[] = { strdup(MARK), NULL };

		(void)execve("/bin/sleep", argv, environment);
		_exit(1);
	}
	for (;;)
		(void)pause();
}

/* A keeper with a child; that child's number comes through the pipe. */
static pid_t start_keeper(pid_t *child)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		*child = start(NULL, false);
		(void)!write(ends[1], child, sizeof(*child));
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ends[0], child, sizeof(*child)), sizeof(*child));
	(void)close(ends[0]);
	(void)close(ends[1]);
	return pid;
}

static bool has_environment(pid_t pid)
{
	char path[64];
	char text[64] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	(void)!fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	return strcmp(text, MARK) == 0;
}

static bool is_named(pid_t pid, const char *wanted)
{
	char name[GPU_TENANT_NAME_MAX];

	gpu_tenant_name(pid, name);
	return strcmp(name, wanted) == 0;
}

static int make_cast(void **state)
{
	struct cast *cast = calloc(1, sizeof(*cast));
	pid_t *pids;

	assert_non_null(cast);
	pids = cast->pids;
	cast->keeper = start_keeper(&pids[GRANDSON]);
	pids[TREE] = start(NULL, false);
	pids[STRANGER] = start(NULL, false);
	pids[OTHER] = start(NULL, false);
	pids[SERVED] = start(NULL, true);
	/* The kernel keeps the first 15 bytes. */
	pids[MPS] = start("nvidia-cuda-mps-server", false);
	pids[ENDED] = start(NULL, false);
	pids[HIDDEN] = 5000000;
	assert_int_equal(kill(pids[ENDED], SIGKILL), 0);
	assert_int_equal(waitpid(pids[ENDED], NULL, 0), pids[ENDED]);
	for (int i = 0; i < 600000 && !(has_environment(pids[SERVED]) &&
					is_named(pids[MPS], "nvidia-cuda-mps"));
	     i++)
		(void)usleep(1000);
	*state = cast;
	return 0;
}

static int end_cast(void **state)
{
	struct cast *cast = *state;
	static const enum who started[] = { TREE, STRANGER, OTHER, SERVED,
					    MPS };

	for (size_t i = 0; i < sizeof(started) / sizeof(*started); i++) {
		(void)kill(cast->pids[started[i]], SIGKILL);
		(void)waitpid(cast->pids[started[i]], NULL, 0);
	}
	(void)kill(cast->keeper, SIGKILL);
	(void)waitpid(cast->keeper, NULL, 0);
	free(cast);
	return 0;
}

struct seen {
	enum who who;
	uint64_t mib;
	bool draws; /* graphics only */
};

static const struct {
	const char *name;
	bool shared;
	struct seen before[LISTED_MAX], now[LISTED_MAX];
	const char *words; /* NULL: nothing to say; PID is the stranger's */
} rows[] = {
	{ "nobody", false, { { 0 } }, { { 0 } }, NULL },
	{ "the probe alone", false, { { 0 } }, { { TREE, 500, false } }, NULL },
	{ "a stranger beside it",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { STRANGER, 3174, false } },
	  "another process came onto the GPU: pid PID, 3.10 GiB" },
	{ "its bytes are not known",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { STRANGER, 0, false } },
	  "another process came onto the GPU: pid PID" },
	{ "a stranger alone: the probe's pids may be hidden",
	  false,
	  { { 0 } },
	  { { STRANGER, 500, false } },
	  NULL },
	{ "a display",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { STRANGER, 500, true } },
	  NULL },
	{ "a new process of the probe's own",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { GRANDSON, 500, false } },
	  NULL },
	{ "only a new process of the probe's own, and a stranger",
	  false,
	  { { 0 } },
	  { { STRANGER, 1024, false }, { GRANDSON, 500, false } },
	  "another process came onto the GPU: pid PID, 1.00 GiB" },
	{ "started by a server with the probe's mark",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { SERVED, 500, false } },
	  NULL },
	{ "MPS's server",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { MPS, 30, false } },
	  NULL },
	{ "one that is gone",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { ENDED, 500, false } },
	  NULL },
	{ "a pid of another namespace",
	  false,
	  { { 0 } },
	  { { TREE, 500, false }, { HIDDEN, 500, false } },
	  NULL },
	{ "one that was there: not in this mode",
	  false,
	  { { STRANGER, 1024, false } },
	  { { TREE, 500, false }, { STRANGER, 1024, false } },
	  "another process came onto the GPU: pid PID, 1.00 GiB" },
	{ "a small one that was there is base load",
	  false,
	  { { STRANGER, 200, false } },
	  { { TREE, 500, false }, { STRANGER, 210, false } },
	  NULL },
	{ "base load that grew is none",
	  false,
	  { { STRANGER, 200, false } },
	  { { TREE, 500, false }, { STRANGER, 2048, false } },
	  "the memory of others on the GPU moved from 200 MiB to 2.00 GiB" },
	{ "another came beside base load",
	  false,
	  { { OTHER, 200, false } },
	  { { TREE, 500, false },
	    { OTHER, 200, false },
	    { STRANGER, 100, false } },
	  "another process came onto the GPU: pid PID, 100 MiB" },
	{ "shared: one that was there",
	  true,
	  { { STRANGER, 1000, false } },
	  { { TREE, 500, false }, { STRANGER, 1064, false } },
	  NULL },
	{ "shared: it grew",
	  true,
	  { { STRANGER, 1024, false } },
	  { { TREE, 500, false }, { STRANGER, 2048, false } },
	  "the memory of others on the GPU moved from 1.00 GiB to 2.00 GiB" },
	{ "shared: it shrank",
	  true,
	  { { STRANGER, 2048, false } },
	  { { TREE, 500, false }, { STRANGER, 1024, false } },
	  "the memory of others on the GPU moved from 2.00 GiB to 1.00 GiB" },
	{ "shared: it left",
	  true,
	  { { STRANGER, 2048, false } },
	  { { TREE, 500, false } },
	  "the memory of others on the GPU moved from 2.00 GiB to 0 B" },
	{ "shared: one grew as much as another shrank",
	  true,
	  { { STRANGER, 2048, false }, { OTHER, 1024, false } },
	  { { TREE, 500, false },
	    { STRANGER, 1024, false },
	    { OTHER, 2048, false } },
	  NULL },
	{ "shared: another came",
	  true,
	  { { OTHER, 1024, false } },
	  { { TREE, 500, false },
	    { OTHER, 1024, false },
	    { STRANGER, 1, false } },
	  "another process came onto the GPU: pid PID, 1.00 MiB" },
	{ "shared: it moved, but the probe is not listed",
	  true,
	  { { STRANGER, 1024, false } },
	  { { STRANGER, 4096, false } },
	  NULL },
	{ "shared: a display moved",
	  true,
	  { { STRANGER, 1024, true } },
	  { { TREE, 500, false }, { STRANGER, 4096, true } },
	  NULL },
};

static struct gpu_listing list(const struct cast *cast, const struct seen *seen,
			       struct gpu_process *processes)
{
	struct gpu_listing listing = { .gpu = 1, .processes = processes };

	for (int i = 0; i < LISTED_MAX && seen[i].who != NOBODY; i++) {
		processes[i] = (struct gpu_process){
			.pid = cast->pids[seen[i].who],
			.used_bytes = seen[i].mib * MIB,
			.is_compute = !seen[i].draws,
		};
		listing.count++;
	}
	return listing;
}

/* "pid PID" with the number of the stranger. */
static void spell(char text[GPU_NEIGHBOUR_TEXT_MAX], const char *words,
		  pid_t pid)
{
	const char *mark = strstr(words, "PID");

	if (mark)
		(void)snprintf(text, GPU_NEIGHBOUR_TEXT_MAX, "%.*s%d%s",
			       (int)(mark - words), words, (int)pid, mark + 3);
	else
		(void)snprintf(text, GPU_NEIGHBOUR_TEXT_MAX, "%s", words);
}

static void neighbours_are_told_apart(void **state)
{
	const struct cast *cast = *state;
	const struct gpu_tree tree = { &cast->pids[TREE], 1, cast->keeper,
				       MARK };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gpu_neighbours neighbours = { .shared = rows[i].shared };
		struct gpu_process processes[LISTED_MAX];
		struct gpu_listing listing;
		char text[GPU_NEIGHBOUR_TEXT_MAX] = "";
		char expected[GPU_NEIGHBOUR_TEXT_MAX] = "";

		listing = list(cast, rows[i].before, processes);
		gpu_neighbours_begin(&neighbours, &listing);
		listing = list(cast, rows[i].now, processes);
		if (gpu_neighbours_look(&neighbours, &listing, &tree, text) !=
		    (rows[i].words != NULL))
			fail_msg("%s: '%s'", rows[i].name, text);
		if (rows[i].words)
			spell(expected, rows[i].words, cast->pids[STRANGER]);
		if (strcmp(text, expected) != 0)
			fail_msg("%s: '%s'", rows[i].name, text);
		gpu_neighbours_release(&neighbours);
	}
}

/* A process of the probe stays its own when it has left the tree's list, and
 * what was seen on one GPU counts for the other. */
static void what_was_own_stays_own(void **state)
{
	static const struct seen both[LISTED_MAX] = { { TREE, 500, false },
						      { OTHER, 9, true } };
	static const struct seen stranger[LISTED_MAX] = {
		{ TREE, 500, false }, { STRANGER, 500, false }
	};
	const struct cast *cast = *state;
	const struct gpu_tree tree = { &cast->pids[TREE], 1, cast->keeper,
				       MARK };
	const struct gpu_tree empty = { NULL, 0, cast->keeper, MARK };
	struct gpu_neighbours neighbours = { .shared = false };
	struct gpu_process processes[LISTED_MAX];
	struct gpu_listing listing = list(cast, both, processes);
	char text[GPU_NEIGHBOUR_TEXT_MAX];

	assert_false(gpu_neighbours_look(&neighbours, &listing, &tree, text));
	assert_false(gpu_neighbours_look(&neighbours, &listing, &empty, text));
	listing = list(cast, stranger, processes);
	listing.gpu = 0;
	assert_true(gpu_neighbours_look(&neighbours, &listing, &empty, text));
	/* A list that could not be had says nothing. */
	listing.count = -1;
	assert_false(gpu_neighbours_look(&neighbours, &listing, &empty, text));
	gpu_neighbours_release(&neighbours);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(neighbours_are_told_apart,
						make_cast, end_cast),
		cmocka_unit_test_setup_teardown(what_was_own_stays_own,
						make_cast, end_cast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
