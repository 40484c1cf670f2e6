/* How many data-parallel ranks a launcher starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/ranks.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"

#include "base/units.h"

#include <assert.h>
#include <string.h>

/* More ranks than any machine has: a slip of the pen. */
#define RANKS_MAX 65536

static bool is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool number_read(const char *text, int64_t *number)
{
	return is_digits(text) && integer_parse(text, number, NULL) == 0 &&
	       *number >= 1 && *number <= RANKS_MAX;
}

enum command_outcome ranks_unknown(const struct wrapper *wrapper,
				   const struct launch *launch, const char *why)
{
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s: %s: say how many ranks it starts with %s",
			   launch->row->names.items[0], why,
			   launch->row->ranks_option);
}

enum command_outcome ranks_foreign(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *what)
{
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s: with %s not every rank has a batch of its own: "
			   "write {micro} where the batch size belongs, and "
			   "start it without the launcher",
			   launch->row->names.items[0], what);
}

enum command_outcome ranks_several_nodes(const struct wrapper *wrapper,
					 const struct launch *launch,
					 const char *how_many)
{
	return launch_fail(wrapper, COMMAND_REFUSED,
			   "%s: ranks on %s nodes cannot be probed from one of "
			   "them: tune on one node, with the effective batch "
			   "of one node",
			   launch->row->names.items[0], how_many);
}

static enum command_outcome is_a_range(const struct wrapper *wrapper,
				       const struct launch *launch,
				       const char *text, const char *what)
{
	char shown[BRIEF_MAX];

	return launch_fail(wrapper, COMMAND_REFUSED,
			   "%s: %s %s is a range, so the number of ranks may "
			   "change while probing: write one number",
			   launch->row->names.items[0],
			   argument_brief(shown, text), what);
}

/* "2", "1:4" (torchrun), "1-4" (srun); "1:1" is 1. */
static enum command_outcome nodes_read(const struct wrapper *wrapper,
				       const struct launch *launch,
				       const char *text, int64_t *nodes)
{
	size_t length = strcspn(text, ":-");
	char shown[BRIEF_MAX];

	/* "--nodes --x": a variable of a script is empty. */
	if (length && text[length]) {
		const char *most = text + length + 1;

		if (strlen(most) != length || strncmp(text, most, length) != 0)
			return is_a_range(wrapper, launch, text, "nodes");
		text = most;
	}
	if (number_read(text, nodes))
		return COMMAND_OK;
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s: \"%s\" is no number of nodes: write 1",
			   launch->row->names.items[0],
			   argument_brief(shown, text));
}

enum command_outcome ranks_check_nodes(const struct wrapper *wrapper,
				       const struct launch *launch,
				       const char *text)
{
	enum command_outcome outcome;
	char shown[BRIEF_MAX];
	int64_t nodes = 1;

	if (!text)
		return COMMAND_OK;
	outcome = nodes_read(wrapper, launch, text, &nodes);
	if (outcome != COMMAND_OK || nodes == 1)
		return outcome;
	return ranks_several_nodes(wrapper, launch,
				   argument_brief(shown, text));
}

enum command_outcome ranks_written(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *text)
{
	char shown[BRIEF_MAX];

	if (strcmp(text, "gpu") == 0 || strcmp(text, "auto") == 0)
		return ranks_of_devices(wrapper, launch);
	if (strchr(text, ':') && text[strspn(text, "0123456789:")] == '\0')
		return is_a_range(wrapper, launch, text, "ranks");
	if (number_read(text, &wrapper->view->world))
		return COMMAND_OK;
	wrapper->view->world = 1;
	return launch_fail(
		wrapper, COMMAND_NOT_RECOGNISED,
		"%s: its ranks, \"%s\", are not a plain number: say how "
		"many it starts with %s",
		launch->row->names.items[0], argument_brief(shown, text),
		launch->row->ranks_option);
}

enum command_outcome ranks_of_devices(const struct wrapper *wrapper,
				      const struct launch *launch)
{
	if (wrapper->view->visible_devices < 1)
		return ranks_unknown(wrapper, launch,
				     "the number of visible devices is not "
				     "known");
	wrapper->view->world = wrapper->view->visible_devices;
	return COMMAND_OK;
}

static enum command_outcome ranks_counted(const struct wrapper *wrapper,
					  const struct launch *launch,
					  int64_t ranks, const char *why_not)
{
	assert(wrapper->view->world >= 1);
	if (ranks < 1 || ranks > RANKS_MAX)
		return ranks_unknown(wrapper, launch, why_not);
	wrapper->view->world = ranks;
	return COMMAND_OK;
}

enum command_outcome ranks_count_plain(const struct wrapper *wrapper,
				       struct launch *launch)
{
	const struct launch_said *said = launch->said;
	enum command_outcome outcome =
		ranks_check_nodes(wrapper, launch, said[SAYS_NODES].value);
	int64_t ranks = 1;

	if (outcome != COMMAND_OK)
		return outcome;
	if (said[SAYS_HOSTS].value && strchr(said[SAYS_HOSTS].value, ','))
		return ranks_several_nodes(wrapper, launch, "several");
	if (said[SAYS_RANKS].value)
		return ranks_written(wrapper, launch, said[SAYS_RANKS].value);
	if (said[SAYS_DEVICES].value) {
		for (const char *at = said[SAYS_DEVICES].value; *at; at++)
			ranks += *at == ',';
		return ranks_counted(wrapper, launch, ranks, "");
	}
	return launch->row->many_by_default ? ranks_of_devices(wrapper, launch)
					    : COMMAND_OK;
}

/* Hosts of the option or of the host file; count 0: neither names any. */
static enum command_outcome hosts_read(const struct wrapper *wrapper,
				       const struct launch *launch,
				       struct host_list *hosts)
{
	const struct launch_said *said = launch->said;
	struct named_file *file;
	enum command_outcome outcome;

	*hosts = (struct host_list){ 0 };
	if (said[SAYS_HOSTS].value) {
		*hosts = host_list_read(said[SAYS_HOSTS].value,
					strlen(said[SAYS_HOSTS].value), ",");
		return COMMAND_OK;
	}
	if (!said[SAYS_HOSTFILE].value)
		return COMMAND_OK;
	outcome =
		launch_file(wrapper, launch, said[SAYS_HOSTFILE].value, &file);
	if (outcome != COMMAND_OK)
		return outcome;
	if (!file)
		return ranks_unknown(wrapper, launch,
				     "its file of hosts cannot be read: name "
				     "localhost instead, and");
	*hosts = host_list_read(strbuf_text(&file->text), file->text.length,
				"\n");
	return COMMAND_OK;
}

/* More ranks than one node has. */
static bool spreads(const struct launch_said *said)
{
	const char *all = said[SAYS_RANKS].value;
	const char *each = said[SAYS_RANKS_PER_NODE].value;
	int64_t ranks, per_node;

	return all && each && number_read(all, &ranks) &&
	       number_read(each, &per_node) && ranks > per_node;
}

enum command_outcome ranks_count_hosts(const struct wrapper *wrapper,
				       struct launch *launch)
{
	const struct launch_said *said = launch->said;
	struct host_list hosts;
	enum command_outcome outcome = hosts_read(wrapper, launch, &hosts);

	if (outcome == COMMAND_OK && hosts.count == 0)
		outcome = ranks_check_nodes(wrapper, launch,
					    said[SAYS_NODES].value);
	if (outcome != COMMAND_OK)
		return outcome;
	if (hosts.count > 1 || spreads(said))
		return ranks_several_nodes(wrapper, launch, "several");
	if (said[SAYS_RANKS].value)
		return ranks_written(wrapper, launch, said[SAYS_RANKS].value);
	if (said[SAYS_RANKS_PER_NODE].value)
		return ranks_written(wrapper, launch,
				     said[SAYS_RANKS_PER_NODE].value);
	return ranks_counted(wrapper, launch, hosts.slots,
			     "its ranks depend on the machine");
}

/*
 * srun/opt.c: with both, --ntasks counts; but what the variable says yields to
 * --ntasks-per-node where --nodes is given as an option.
 */
static const char *srun_tasks(const struct launch *launch)
{
	const struct launch_said *tasks = &launch->said[SAYS_RANKS];
	const struct launch_said *each = &launch->said[SAYS_RANKS_PER_NODE];
	const struct launch_said *nodes = &launch->said[SAYS_NODES];

	if (!tasks->value)
		return each->value;
	if (tasks->index == NO_INDEX && each->value && nodes->value &&
	    nodes->index != NO_INDEX)
		return each->value;
	return tasks->value;
}

/*
 * Inside an allocation, ranks on other nodes of it report for themselves; with
 * nothing said of tasks there is one on each node.
 */
static enum command_outcome srun_nodes(const struct wrapper *wrapper,
				       const struct launch *launch,
				       bool is_each)
{
	const char *text = launch->said[SAYS_NODES].value;
	struct command_view *view = wrapper->view;
	enum command_outcome outcome;
	int64_t nodes = 1;

	if (!text)
		return COMMAND_OK;
	outcome = nodes_read(wrapper, launch, text, &nodes);
	if (outcome != COMMAND_OK)
		return outcome;
	if (nodes > 1 && !wrapper_variable(wrapper, "SLURM_JOB_ID"))
		return launch_fail(
			wrapper, COMMAND_REFUSED,
			"srun: ranks on %lld nodes are probed inside "
			"of their job: start autofit in it (sbatch, "
			"salloc), or tune on one node, with the "
			"effective batch of one node",
			(long long)nodes);
	assert(nodes >= 1);
	view->nodes = nodes;
	return ranks_counted(wrapper, launch,
			     is_each ? view->world * nodes : view->world,
			     "its tasks on all nodes are too many");
}

enum command_outcome ranks_count_srun(const struct wrapper *wrapper,
				      struct launch *launch)
{
	const struct launch_said *said = launch->said;
	const char *tasks = srun_tasks(launch);
	const char *hosts = said[SAYS_HOSTS].value;
	bool is_each = tasks && tasks == said[SAYS_RANKS_PER_NODE].value;
	enum command_outcome outcome = COMMAND_OK;

	if (tasks)
		outcome = ranks_written(wrapper, launch, tasks);
	if (outcome != COMMAND_OK)
		return outcome;
	/* One task needs no more than one node, whatever --nodes asks for. */
	if (tasks && !is_each && wrapper->view->world == 1)
		return COMMAND_OK;
	if (!said[SAYS_NODES].value && hosts && strpbrk(hosts, ",["))
		return ranks_several_nodes(wrapper, launch, "several");
	return srun_nodes(wrapper, launch, is_each || !tasks);
}
