/* What bounds host memory: options, cgroups old and new, free memory. */
/* SPDX-License-Identifier: MIT */
/* USES base probes */
#include "base/textfile.h"
#include "base/units.h"
#include "probes/observers/host/host.h"
#include "probes/observers/host/host_available.h"
#include "probes/observers/host/host_cgroup_place.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FILES_MAX 12
#define MEMINFO                                                                \
	{                                                                      \
		"proc/meminfo", "MemTotal:       16777216 kB\n"                \
				"MemFree:          102400 kB\n"                \
				"MemAvailable:    8388608 kB\n"                \
	}
#define V1 "cgroup/memory/"
#define V1_NO_LIMIT "9223372036854771712\n"

struct fake_file {
	const char *path, *text;
};

struct budget_row {
	const char *name;
	uint64_t memory_bytes;
	struct fake_file files[FILES_MAX];
	int result;
	uint64_t budget_bytes;
	enum host_budget_source source;
	const char *cgroup; /* below the fake root */
	uint64_t cgroup_limit_bytes;
};

static const struct budget_row rows[] = {
	{
		.name = "no cgroups at all",
		.files = { MEMINFO },
		.budget_bytes = 8 * GIB,
		.source = HOST_BUDGET_AVAILABLE,
	},
	{
		.name = "the option is smallest",
		.memory_bytes = 2 * GIB,
		.files = { MEMINFO },
		.budget_bytes = 2 * GIB,
		.source = HOST_BUDGET_OPTION,
	},
	{
		.name = "the option is no promise",
		.memory_bytes = 64 * GIB,
		.files = { MEMINFO },
		.budget_bytes = 8 * GIB,
		.source = HOST_BUDGET_AVAILABLE,
	},
	{
		.name = "v2: limit less what cannot be freed",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "0::/user/job\n" },
			   { "cgroup/cgroup.controllers", "cpu memory\n" },
			   { "cgroup/user/job/cgroup.controllers", "memory\n" },
			   { "cgroup/user/job/memory.max", "4294967296\n" },
			   { "cgroup/user/job/memory.current", "2147483648\n" },
			   { "cgroup/user/job/memory.stat",
			     "anon 1073741824\nfile 900\n"
			     "active_file 536870912\n"
			     "inactive_file 268435456\n"
			     "slab_reclaimable 268435456\n" } },
		.budget_bytes = 3 * GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/user/job",
		.cgroup_limit_bytes = 4 * GIB,
	},
	{
		.name = "v2: a parent binds though its child allows more",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "0::/user/job\n" },
			   { "cgroup/cgroup.controllers", "memory\n" },
			   { "cgroup/user/job/memory.max", "4294967296\n" },
			   { "cgroup/user/job/memory.current", "0\n" },
			   { "cgroup/user/memory.max", "6442450944\n" },
			   { "cgroup/user/memory.current", "5368709120\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/user",
		.cgroup_limit_bytes = 4 * GIB,
	},
	{
		.name = "v2: max is no limit, high is one",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "0::/job\n" },
			   { "cgroup/cgroup.controllers", "memory\n" },
			   { "cgroup/job/memory.max", "max\n" },
			   { "cgroup/job/memory.high", "1073741824\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/job",
		.cgroup_limit_bytes = GIB,
	},
	{
		.name = "v2: max everywhere",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "0::/job\n" },
			   { "cgroup/cgroup.controllers", "memory\n" },
			   { "cgroup/job/memory.max", "max\n" },
			   { "cgroup/job/memory.high", "max\n" } },
		.budget_bytes = 8 * GIB,
		.source = HOST_BUDGET_AVAILABLE,
	},
	{
		.name = "v2: a container sees its own cgroup as the root",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "0::/../../pod/box\n" },
			   { "cgroup/cgroup.controllers", "memory\n" },
			   { "cgroup/memory.max", "3221225472\n" },
			   { "cgroup/memory.current", "1073741824\n" } },
		.budget_bytes = 2 * GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup",
		.cgroup_limit_bytes = 3 * GIB,
	},
	{
		.name = "v1: limit less what is held, page cache is not",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/"
						 "slurm/job_7\n0::/\n" },
			   { V1 "slurm/job_7/memory.limit_in_bytes",
			     "4294967296\n" },
			   { V1 "slurm/job_7/memory.usage_in_bytes",
			     "3221225472\n" },
			   { V1 "slurm/job_7/memory.stat",
			     "cache 2147483648\nactive_file 1\n"
			     "total_active_file 1073741824\n"
			     "total_inactive_file 1073741824\n" },
			   { V1 "slurm/memory.limit_in_bytes", V1_NO_LIMIT } },
		.budget_bytes = 3 * GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory/slurm/job_7",
		.cgroup_limit_bytes = 4 * GIB,
	},
	{
		.name = "v1: memory among other controllers, a colon in the "
			"path",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "3:cpu,memory:/a:b\n" },
			   { V1 "a:b/memory.limit_in_bytes", "1073741824\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory/a:b",
		.cgroup_limit_bytes = GIB,
	},
	{
		.name = "v1: the path of the host is not there: nearest folder",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "4:memory:/docker/1f/x\n" },
			   { V1 "memory.limit_in_bytes", "2147483648\n" },
			   { V1 "memory.usage_in_bytes", "1073741824\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory",
		.cgroup_limit_bytes = 2 * GIB,
	},
	{
		.name = "v1: an ancestor outside of the container binds",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "4:memory:/\n" },
			   { V1 "memory.limit_in_bytes", V1_NO_LIMIT },
			   { V1 "memory.usage_in_bytes", "0\n" },
			   { V1 "memory.stat",
			     "hierarchical_memory_limit 1073741824\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory",
		.cgroup_limit_bytes = GIB,
	},
	{
		.name = "hybrid: memory is v1's, unified has no limits",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "4:memory:/j\n0::/j\n" },
			   { "cgroup/unified/cgroup.controllers", "\n" },
			   { "cgroup/unified/j/cgroup.procs", "1\n" },
			   { V1 "j/memory.limit_in_bytes", "1073741824\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory/j",
		.cgroup_limit_bytes = GIB,
	},
	{
		.name = "more is held than allowed: nothing, not a huge number",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "4:memory:/j\n" },
			   { V1 "j/memory.limit_in_bytes", "1073741824\n" },
			   { V1 "j/memory.usage_in_bytes", "2147483648\n" } },
		.budget_bytes = 0,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory/j",
		.cgroup_limit_bytes = GIB,
	},
	{
		.name = "more cache than use: the limit",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "4:memory:/j\n" },
			   { V1 "j/memory.limit_in_bytes", "1073741824\n" },
			   { V1 "j/memory.usage_in_bytes", "1000\n" },
			   { V1 "j/memory.stat", "total_active_file 5000\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory/j",
		.cgroup_limit_bytes = GIB,
	},
	{
		.name = "garbage limits are none",
		.files = { MEMINFO,
			   { "proc/self/cgroup",
			     "no colons\n::\n4:memory\n4:memory:j\n0:\n" },
			   { V1 "memory.limit_in_bytes", "-1\n" },
			   { V1 "memory.usage_in_bytes", "lots\n" },
			   { V1 "memory.stat",
			     "hierarchical_memory_limit\n\n 7\n" } },
		.budget_bytes = 8 * GIB,
		.source = HOST_BUDGET_AVAILABLE,
	},
	{
		.name = "a limit, but its use is garbage: the limit",
		.files = { MEMINFO,
			   { "proc/self/cgroup", "4:memory:/j\n" },
			   { V1 "j/memory.limit_in_bytes", "1073741824\n" },
			   { V1 "j/memory.usage_in_bytes", "" },
			   { V1 "j/memory.stat", "\n\n" } },
		.budget_bytes = GIB,
		.source = HOST_BUDGET_CGROUP,
		.cgroup = "cgroup/memory/j",
		.cgroup_limit_bytes = GIB,
	},
	{
		.name = "no meminfo",
		.files = { { "proc/self/cgroup", "0::/\n" } },
		.result = -ENOENT,
	},
	{
		.name = "meminfo without what counts",
		.files = { { "proc/meminfo", "MemTotal: many kB\n"
					     "XMemAvailable: 7 kB\n" } },
		.result = -EINVAL,
	},
};

static int remove_one(const char *path, const struct stat *info, int type,
		      struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	return remove(path);
}

static void fake_write(const char *root, const struct fake_file *file)
{
	char path[512];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", root, file->path);
	*strrchr(path, '/') = '\0';
	assert_int_equal(folder_make(path, 0700, NULL), 0);
	(void)snprintf(path, sizeof(path), "%s/%s", root, file->path);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(file->text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static void row_check(const struct budget_row *row)
{
	char root[] = "/tmp/autofit-budget-XXXXXX";
	char proc[64], cgroup[64], folder[256] = "";
	struct host_roots roots = { proc, cgroup };
	struct error err = ERROR_INIT;
	struct host_budget budget;
	int result;

	assert_non_null(mkdtemp(root));
	(void)snprintf(proc, sizeof(proc), "%s/proc", root);
	(void)snprintf(cgroup, sizeof(cgroup), "%s/cgroup", root);
	for (const struct fake_file *file = row->files; file->path; file++)
		fake_write(root, file);
	if (row->cgroup)
		(void)snprintf(folder, sizeof(folder), "%s/%s", root,
			       row->cgroup);
	result = host_budget_read(&budget, row->memory_bytes, &roots, &err);
	(void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	assert_int_equal(result, row->result);
	assert_int_equal(err.code, row->result);
	if (result < 0)
		return;
	assert_int_equal(budget.budget_bytes, row->budget_bytes);
	assert_int_equal(budget.source, row->source);
	assert_string_equal(budget.cgroup, folder);
	assert_int_equal(budget.cgroup_limit_bytes, row->cgroup_limit_bytes);
	assert_int_equal(budget.total_bytes, 16 * GIB);
	assert_int_equal(budget.available_bytes, 8 * GIB);
}

static void the_smallest_bound_is_the_budget(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("  %s\n", rows[i].name);
		row_check(&rows[i]);
	}
}

static void this_machine_has_a_budget(void **state)
{
	struct host_budget budget;
	struct host_budget capped;

	(void)state;
	assert_int_equal(host_budget_read(&budget, 0, &host_roots_here, NULL),
			 0);
	assert_in_range(budget.budget_bytes, MIB, budget.total_bytes);
	assert_true(budget.source != HOST_BUDGET_OPTION);
	assert_int_equal(
		host_budget_read(&capped, 7 * MIB, &host_roots_here, NULL), 0);
	assert_int_equal(capped.budget_bytes, 7 * MIB);
	assert_int_equal(capped.source, HOST_BUDGET_OPTION);
}

static void own_limits_are_reported(void **state)
{
	struct rlimit before;
	struct rlimit limited;
	struct host_budget budget;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
	limited = before;
	/* So much that a sanitizer's shadow is no part of it. */
	limited.rlim_cur = (rlim_t)1 << 46;
	assert_int_equal(setrlimit(RLIMIT_DATA, &limited), 0);
	assert_int_equal(host_budget_read(&budget, 0, &host_roots_here, NULL),
			 0);
	assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
	assert_int_equal(budget.data_bytes, UINT64_C(1) << 46);
	assert_int_equal(budget.address_space_bytes, 0);
}

static void the_floor_follows_the_machine(void **state)
{
	static const struct {
		uint64_t total_bytes, available_bytes, floor_bytes;
	} machines[] = {
		{ 100 * GIB, 100 * GIB, 2 * GIB },
		{ 1 * GIB, 1 * GIB, 64 * MIB },
		/* A probe that takes 95% of what there is leaves more. */
		{ 1000 * GIB, 100 * GIB, 100 * GIB / 40 },
		{ 0, 0, 64 * MIB },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		const struct host_available start = {
			machines[i].total_bytes, machines[i].available_bytes
		};

		assert_int_equal(host_available_floor(&start),
				 machines[i].floor_bytes);
	}
}

static void sources_have_names(void **state)
{
	(void)state;
	assert_string_equal(host_budget_source_name(HOST_BUDGET_OPTION),
			    "--memory");
	assert_string_equal(host_budget_source_name(HOST_BUDGET_CGROUP),
			    "cgroup");
	assert_string_equal(host_budget_source_name(HOST_BUDGET_AVAILABLE),
			    "MemAvailable");
}

/* A cgroup's files before, and what must stand in them then. */
static const struct {
	const char *name;
	bool version2;
	struct fake_file before[4], after[4];
	int result;
} limits[] = {
	{ "v2",
	  true,
	  { { "g/cgroup.controllers", "cpu memory\n" },
	    { "g/memory.max", "max\n" },
	    { "g/memory.swap.max", "max\n" } },
	  { { "g/memory.max", "1048576" }, { "g/memory.swap.max", "0" } },
	  0 },
	{ "v2 without swap accounting",
	  true,
	  { { "g/cgroup.controllers", "memory\n" },
	    { "g/memory.max", "max\n" } },
	  { { "g/memory.max", "1048576" } },
	  0 },
	{ "v2 without the controller",
	  true,
	  { { "g/cgroup.controllers", "cpu memory_recursiveprot\n" },
	    { "g/memory.max", "max\n" },
	    { "g/memory.swap.max", "max\n" } },
	  { { "g/memory.max", "max\n" }, { "g/memory.swap.max", "max\n" } },
	  -ENOENT },
	{ "v1",
	  false,
	  { { "g/memory.limit_in_bytes", "-1\n" },
	    { "g/memory.memsw.limit_in_bytes", "-1\n" },
	    { "g/memory.swappiness", "60\n" } },
	  { { "g/memory.limit_in_bytes", "1048576" },
	    { "g/memory.memsw.limit_in_bytes", "1048576" },
	    { "g/memory.swappiness", "0" } },
	  0 },
	{ "v1 without swap accounting",
	  false,
	  { { "g/memory.limit_in_bytes", "-1\n" },
	    { "g/memory.swappiness", "60\n" } },
	  { { "g/memory.limit_in_bytes", "1048576" },
	    { "g/memory.swappiness", "0" } },
	  0 },
	{ "v1: the limit comes first, or nothing",
	  false,
	  { { "g/memory.memsw.limit_in_bytes", "-1\n" },
	    { "g/memory.swappiness", "60\n" } },
	  { { "g/memory.memsw.limit_in_bytes", "-1\n" },
	    { "g/memory.swappiness", "60\n" } },
	  -ENOENT },
};

/* What a write leaves of a file that had more in it is cut by cgroupfs. */
static void assert_begins(const char *root, const struct fake_file *file,
			  const char *name)
{
	struct strbuf text = STRBUF_INIT;
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", root, file->path);
	assert_int_equal(textfile_read(path, 100, &text, NULL), 0);
	if (strncmp(strbuf_text(&text), file->text, strlen(file->text)) != 0)
		fail_msg("%s: %s is %s", name, file->path, strbuf_text(&text));
	strbuf_release(&text);
}

static void a_cgroup_gets_no_swap(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct host_cgroup cgroup = { .version2 = limits[i].version2 };
		char root[] = "/tmp/autofit-budget-XXXXXX";
		const struct fake_file *file;

		assert_non_null(mkdtemp(root));
		for (file = limits[i].before; file->path; file++)
			fake_write(root, file);
		(void)snprintf(cgroup.folder, sizeof(cgroup.folder), "%s/g",
			       root);
		if (host_cgroup_limit(&cgroup, MIB) != limits[i].result)
			fail_msg("%s: not %d", limits[i].name,
				 limits[i].result);
		for (file = limits[i].after; file->path; file++)
			assert_begins(root, file, limits[i].name);
		(void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	}
}

/* Where none may be made there is nothing to test: the normal case. */
static void cgroup_or_skip(struct host_cgroup *cgroup, uint64_t limit_bytes)
{
	struct error err = ERROR_INIT;
	char id[24];
	int result;

	(void)snprintf(id, sizeof(id), "test-%d", (int)getpid());
	result = host_cgroup_make(cgroup, id, limit_bytes, &err);
	if (result == 0)
		return;
	assert_string_equal(cgroup->folder, "");
	print_message("skipped: %s\n", err.message);
	assert_true(result == -EACCES || result == -EROFS || result == -ENOENT);
	skip();
}

static pid_t allocate_in(const struct host_cgroup *cgroup, size_t bytes)
{
	pid_t pid = fork();

	if (pid == 0) {
		volatile char *memory;

		if (host_cgroup_enter(cgroup) < 0)
			_exit(3);
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			_exit(4);
		for (size_t i = 0; i < bytes; i += 4096)
			memory[i] = 1;
		_exit(0);
	}
	return pid;
}

static void a_cgroup_kills_what_passes_its_limit(void **state)
{
	struct host_cgroup cgroup;
	uint64_t before;
	char folder[sizeof(cgroup.folder)];
	int status;
	pid_t pid;

	(void)state;
	cgroup_or_skip(&cgroup, 64 * MIB);
	memcpy(folder, cgroup.folder, sizeof(folder));
	before = host_cgroup_oom_kills(&cgroup);
	assert_int_equal(before, 0);

	pid = allocate_in(&cgroup, 16 * MIB);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(host_cgroup_oom_kills(&cgroup), before);

	pid = allocate_in(&cgroup, 256 * MIB);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(host_cgroup_oom_kills(&cgroup) >= before + 1);

	host_cgroup_remove(&cgroup);
	assert_string_equal(cgroup.folder, "");
	assert_int_equal(access(folder, F_OK), -1);
}

static void a_cgroup_goes_once_its_processes_are_gone(void **state)
{
	struct host_cgroup cgroup;
	char folder[sizeof(cgroup.folder)];
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	cgroup_or_skip(&cgroup, 64 * MIB);
	memcpy(folder, cgroup.folder, sizeof(folder));
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		byte = host_cgroup_enter(&cgroup) == 0 ? 'y' : 'n';
		(void)!write(ready[1], &byte, 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	/* On its way out while the folder is being removed. */
	assert_int_equal(kill(pid, SIGKILL), 0);
	host_cgroup_remove(&cgroup);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(access(folder, F_OK), -1);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

/* Whatever it did to its environment: it is in there still. */
static void what_is_left_in_a_cgroup_is_killed(void **state)
{
	struct host_cgroup cgroup;
	char id[24];
	int ready[2];
	int status;
	char byte;
	pid_t pid;

	(void)state;
	cgroup_or_skip(&cgroup, 64 * MIB);
	(void)snprintf(id, sizeof(id), "test-%d", (int)getpid());
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		byte = host_cgroup_enter(&cgroup) == 0 ? 'y' : 'n';
		(void)setsid();
		(void)!write(ready[1], &byte, 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	assert_int_equal(host_cgroup_remove_left(id), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(access(cgroup.folder, F_OK), -1);
	assert_int_equal(host_cgroup_remove_left(id), 0);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void no_cgroup_is_no_harm(void **state)
{
	static const char *const bad_ids[] = { "", "../up", "a/b" };
	struct host_cgroup none = { 0 };

	(void)state;
	assert_int_equal(host_cgroup_enter(&none), -ENOENT);
	assert_int_equal(host_cgroup_enter(NULL), -ENOENT);
	assert_int_equal(host_cgroup_oom_kills(&none),
			 host_cgroup_oom_kills(NULL));
	host_cgroup_remove(&none);
	for (size_t i = 0; i < sizeof(bad_ids) / sizeof(*bad_ids); i++)
		assert_int_equal(host_cgroup_make(&none, bad_ids[i], MIB, NULL),
				 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_bound_is_the_budget),
		cmocka_unit_test(this_machine_has_a_budget),
		cmocka_unit_test(own_limits_are_reported),
		cmocka_unit_test(the_floor_follows_the_machine),
		cmocka_unit_test(sources_have_names),
		cmocka_unit_test(a_cgroup_gets_no_swap),
		cmocka_unit_test(a_cgroup_kills_what_passes_its_limit),
		cmocka_unit_test(a_cgroup_goes_once_its_processes_are_gone),
		cmocka_unit_test(what_is_left_in_a_cgroup_is_killed),
		cmocka_unit_test(no_cgroup_is_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
