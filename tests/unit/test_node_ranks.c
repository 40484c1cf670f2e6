/* Ranks on several nodes: what their reports say together, and bad reports. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/nodes/node_ranks.h"

#include "base/clock.h"
#include "probes/channel/hook_files.h"
#include "probes/channel/last_errors.h"
#include "probes/nodes/node_report.h"
#include "tests/unit/scratch.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define RANKS 4

struct rank_case {
	const char *node; /* NULL: it says nothing */
	uint64_t peak_bytes;
	uint64_t steps;
	enum node_rank_state state;
	int wait_status;
	bool was_stopped;
	int foreign_kills;
	uint64_t available_bytes;
};

static const struct ranks_case {
	const char *name;
	struct rank_case ranks[RANKS];
	uint64_t own_bytes; /* of the processes here, which are on node "a" */
	uint64_t peak_bytes, steps, available_bytes;
	int lost, kills;
	bool have_told;
} cases[] = {
	{ .name = "the worst node is the sum of its ranks",
	  .ranks = { { .node = "a", .peak_bytes = 100, .steps = 5 },
		     { .node = "a", .peak_bytes = 100, .steps = 5 },
		     { .node = "b", .peak_bytes = 100, .steps = 4 },
		     { .node = "b", .peak_bytes = 300, .steps = 5 } },
	  .own_bytes = 50,
	  .peak_bytes = 400,
	  .steps = 4,
	  .lost = -1,
	  .have_told = true },
	{ .name = "autofit's own processes are on their node",
	  .ranks = { { .node = "a", .peak_bytes = 100 },
		     { .node = "a", .peak_bytes = 90 },
		     { .node = "b", .peak_bytes = 100 },
		     { .node = "b", .peak_bytes = 100 } },
	  .own_bytes = 50,
	  .peak_bytes = 240,
	  .lost = -1,
	  .have_told = true },
	{ .name = "one that has not reported yet",
	  .ranks = { { .node = "a", .peak_bytes = 100, .steps = 3 },
		     { .node = "a", .peak_bytes = 100, .steps = 3 },
		     { .node = "b", .peak_bytes = 100, .steps = 3 } },
	  .peak_bytes = 200,
	  .steps = 3,
	  .lost = -1 },
	{ .name = "one that failed while the others live",
	  .ranks = { { .node = "a", .available_bytes = 7000 },
		     { .node = "a", .available_bytes = 6000 },
		     { .node = "b",
		       .state = NODE_RANK_OVER,
		       .wait_status = 256,
		       .available_bytes = 9000 },
		     { .node = "b" } },
	  .available_bytes = 6000,
	  .lost = 2,
	  .have_told = true },
	{ .name = "one that was killed, and what it left lives",
	  .ranks = { { .node = "a" },
		     { .node = "a",
		       .state = NODE_RANK_EXITED,
		       .wait_status = 9,
		       .foreign_kills = 1 },
		     { .node = "b", .foreign_kills = 2 },
		     { .node = "b" } },
	  .lost = 1,
	  .kills = 3,
	  .have_told = true },
	{ .name = "those that were told to end have not failed",
	  .ranks = { { .node = "a",
		       .state = NODE_RANK_OVER,
		       .wait_status = 15,
		       .was_stopped = true },
		     { .node = "a" },
		     { .node = "b" },
		     { .node = "b" } },
	  .lost = -1,
	  .have_told = true },
	{ .name = "where all failed none is waited for",
	  .ranks = { { .node = "a",
		       .state = NODE_RANK_OVER,
		       .wait_status = 256 },
		     { .node = "a",
		       .state = NODE_RANK_OVER,
		       .wait_status = 256 },
		     { .node = "b",
		       .state = NODE_RANK_OVER,
		       .wait_status = 256 },
		     { .node = "b",
		       .state = NODE_RANK_OVER,
		       .wait_status = 256 } },
	  .lost = -1,
	  .have_told = true },
};

static void write_report(const char *folder, int rank,
			 const struct rank_case *in, uint64_t beats)
{
	struct node_page *page = calloc(1, sizeof(*page));

	assert_non_null(page);
	page->report = (struct node_report){
		.state = in->state,
		.rank = rank,
		.wait_status = in->wait_status,
		.was_stopped = in->was_stopped,
		.foreign_kills = in->foreign_kills,
		.beats = beats,
		.now_ns = 1000000,
		.available_bytes = in->available_bytes,
		.host = { .peak_bytes = in->peak_bytes, .processes = 1 },
	};
	(void)snprintf(page->report.node, NODE_NAME_MAX, "%s", in->node);
	/* The numbers of processes are the same on all nodes. */
	page->slots[3] = (struct channel_slot){ .pid = 4711,
						.flags = CHANNEL_TORCH,
						.steps = in->steps,
						.rank = -1 };
	assert_int_equal(node_report_write(folder, page, NULL), 0);
	free(page);
}

static void open_both(const char *scratch, struct node_ranks *ranks,
		      struct channel *channel)
{
	char path[SCRATCH_PATH_MAX];

	*ranks = (struct node_ranks){ .folder = NULL };
	scratch_path(path, scratch, "channel");
	assert_int_equal(channel_open(channel, path, NULL), 0);
	scratch_path(path, scratch, "ranks");
	assert_int_equal(node_ranks_open(ranks, path, RANKS, NULL), 0);
}

static void close_both(struct node_ranks *ranks, struct channel *channel)
{
	char command[SCRATCH_PATH_MAX];

	(void)snprintf(command, sizeof(command), "%s", ranks->folder);
	(void)nftw(command, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
	node_ranks_close(ranks);
	node_ranks_close(ranks);
	channel_close(channel);
}

static void check_case(const char *scratch, const struct ranks_case *row)
{
	const struct host_reading own = { .peak_bytes = row->own_bytes,
					  .processes = 1 };
	struct channel_reading python;
	struct host_reading host;
	struct node_ranks ranks;
	struct channel channel;
	uint64_t oom_kills = 0;
	size_t told = 0;

	open_both(scratch, &ranks, &channel);
	for (int i = 0; i < RANKS; i++) {
		if (!row->ranks[i].node)
			continue;
		write_report(ranks.folder, i, &row->ranks[i], 1);
		told++;
	}
	node_ranks_look(&ranks, &channel);
	node_ranks_join(&ranks, &own, &host);
	python = channel_read(&channel);
	if (host.peak_bytes != row->peak_bytes || host.processes != 1 + told ||
	    python.steps != row->steps ||
	    node_ranks_lost(&ranks) != row->lost ||
	    node_ranks_have_told(&ranks, 0) != row->have_told ||
	    node_ranks_unseen(&ranks) != (int64_t)(RANKS - told) ||
	    node_ranks_available(&ranks) != row->available_bytes ||
	    node_ranks_kills(&ranks, &oom_kills) != row->kills)
		fail_msg("%s: peak %llu, steps %llu, lost %d, kills %d",
			 row->name, (unsigned long long)host.peak_bytes,
			 (unsigned long long)python.steps,
			 node_ranks_lost(&ranks),
			 (int)node_ranks_kills(&ranks, &oom_kills));
	close_both(&ranks, &channel);
}

static void what_they_say_together(void **state)
{
	(void)setenv("SLURMD_NODENAME", "a", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(*state, &cases[i]);
}

/* Each rank has a slot of its own, with the rank that Slurm gave it. */
static void slots_of_all(void **state)
{
	static const struct rank_case rank = { .node = "n", .steps = 1 };
	struct channel_rank found[CHANNEL_SLOTS];
	struct node_ranks ranks;
	struct channel channel;

	open_both(*state, &ranks, &channel);
	for (int i = 0; i < RANKS; i++)
		write_report(ranks.folder, i, &rank, 1);
	node_ranks_look(&ranks, &channel);
	assert_int_equal(channel_ranks(&channel, found), RANKS);
	for (int i = 0; i < RANKS; i++)
		assert_int_equal(found[i].rank, i);
	close_both(&ranks, &channel);
}

/* What was read before is not told again. */
static void reports_grow_old(void **state)
{
	static const struct rank_case rank = { .node = "n" };
	struct node_ranks ranks;
	struct channel channel;
	int64_t now;

	open_both(*state, &ranks, &channel);
	for (int i = 0; i < RANKS; i++)
		write_report(ranks.folder, i, &rank, 2);
	node_ranks_look(&ranks, &channel);
	now = clock_ms() + 1;
	while (clock_ms() < now)
		;
	node_ranks_look(&ranks, &channel);
	assert_false(node_ranks_have_told(&ranks, now));
	for (int i = 0; i < RANKS; i++)
		write_report(ranks.folder, i, &rank, 3);
	node_ranks_look(&ranks, &channel);
	assert_true(node_ranks_have_told(&ranks, now));
	close_both(&ranks, &channel);
}

/* Of another rank, another size, cut, not there, absurd, a folder. */
static void bad_reports(void **state)
{
	struct node_page *page = calloc(1, sizeof(*page));
	const struct rank_case rank = { .node = "n",
					.peak_bytes = UINT64_MAX,
					.available_bytes = UINT64_MAX };
	char path[SCRATCH_PATH_MAX];
	char old[SCRATCH_PATH_MAX];

	assert_non_null(page);
	write_report(*state, 1, &rank, 1);
	assert_true(node_report_read(*state, 1, page));
	assert_int_equal(page->report.host.peak_bytes, 0);
	assert_int_equal(page->report.available_bytes, 0);
	assert_false(node_report_read(*state, 2, page));
	scratch_path(old, *state, "rank.1");
	scratch_path(path, *state, "rank.2");
	assert_int_equal(link(old, path), 0);
	assert_false(node_report_read(*state, 2, page));
	assert_int_equal(truncate(old, (off_t)sizeof(*page) - 1), 0);
	assert_false(node_report_read(*state, 1, page));
	assert_int_equal(truncate(old, (off_t)sizeof(*page) + 1), 0);
	assert_false(node_report_read(*state, 1, page));
	scratch_path(path, *state, "rank.3");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(node_report_read(*state, 3, page));
	free(page);
}

static void too_many(void **state)
{
	struct node_ranks ranks = { .folder = NULL };
	struct error err = ERROR_INIT;
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "ranks");
	assert_true(node_ranks_open(&ranks, path, NODE_RANKS_MAX + 1, &err) <
		    0);
	assert_non_null(strstr(err.message, "4097 ranks are more than"));
}

/* Two ranks whose process has one number: both exceptions arrive. */
static void files_of_the_hook(void **state)
{
	struct last_errors errors = LAST_ERRORS_INIT;
	static const char text[] = "1 %d X\nX: a\n";
	char path[SCRATCH_PATH_MAX];
	char line[64];

	for (int rank = 0; rank < 2; rank++) {
		char from[SCRATCH_PATH_MAX];
		int length = snprintf(line, sizeof(line), text, rank);

		scratch_path(from, *state, rank ? "b" : "a");
		assert_int_equal(mkdir(from, 0700), 0);
		scratch_path(path, from, "error.4194304");
		assert_int_equal(scratch_write(path, line, (size_t)length), 0);
		scratch_path(path, from, "channel");
		assert_int_equal(scratch_write(path, "", 0), 0);
		hook_files_copy(from, *state, rank);
		hook_files_copy(from, *state, rank);
	}
	last_errors_read(&errors, *state);
	assert_int_equal(errors.count, 2);
	scratch_path(path, *state, "channel");
	assert_int_not_equal(access(path, F_OK), 0);
	last_errors_release(&errors);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_they_say_together),
		TEST(slots_of_all),
		TEST(reports_grow_old),
		TEST(bad_reports),
		TEST(too_many),
		TEST(files_of_the_hook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
