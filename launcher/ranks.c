/* How many data-parallel ranks a launcher starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launchers.h"

#include "base/units.h"
#include "launcher/command_internal.h"

#include <errno.h>
#include <string.h>

/* More ranks than any machine has: a slip of the pen. */
#define RANKS_MAX 65536

static bool is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

enum command_outcome launch_check_nodes(const struct peel *peel,
					const struct launch *launch)
{
	const char *colon = launch->nodes ? strchr(launch->nodes, ':') : NULL;
	char text[BRIEF_MAX];
	int64_t nodes = 1;

	if (!launch->nodes || strcmp(launch->nodes, "1:1") == 0)
		return COMMAND_OK;
	(void)brief(text, launch->nodes);
	if (colon) {
		(void)error_set(peel->err, -EINVAL,
				"%s: %s nodes is a range, so the number of "
				"ranks may change while probing: write 1",
				launch->row->name, text);
		return COMMAND_REFUSED;
	}
	if (integer_parse(launch->nodes, &nodes, NULL) < 0 || nodes < 1) {
		(void)error_set(peel->err, -EINVAL,
				"%s: %s is no number of nodes: write 1",
				launch->row->name, text);
		return COMMAND_NOT_RECOGNISED;
	}
	if (nodes == 1)
		return COMMAND_OK;
	(void)error_set(peel->err, -EINVAL,
			"%s: ranks on %s nodes cannot be probed from one of "
			"them: tune on one node, with the effective batch of "
			"one node",
			launch->row->name, text);
	return COMMAND_REFUSED;
}

static enum command_outcome ranks_unknown(const struct peel *peel,
					  const struct launch *launch,
					  const char *why)
{
	(void)error_set(peel->err, -EINVAL,
			"%s: %s: say how many ranks it starts with --%s=N",
			launch->row->name, why, launch->row->ranks);
	return COMMAND_NOT_RECOGNISED;
}

static enum command_outcome count_written(const struct peel *peel,
					  const struct launch *launch)
{
	struct command_view *view = peel->view;
	const char *ranks = launch->ranks;
	bool is_device_word =
		strcmp(ranks, "gpu") == 0 || strcmp(ranks, "auto") == 0;

	if (is_device_word && peel->view->visible_devices > 0) {
		view->world = peel->view->visible_devices;
		return COMMAND_OK;
	}
	if (is_device_word)
		return ranks_unknown(peel, launch,
				     "the number of visible devices is not "
				     "known");
	if (is_digits(ranks) && integer_parse(ranks, &view->world, NULL) == 0 &&
	    view->world >= 1 && view->world <= RANKS_MAX)
		return COMMAND_OK;
	view->world = 1;
	return ranks_unknown(peel, launch, "its ranks are not a plain number");
}

enum command_outcome launch_count_ranks(const struct peel *peel,
					const struct launch *launch)
{
	int64_t visible = peel->view->visible_devices;

	if (launch->foreign) {
		(void)error_set(peel->err, -EINVAL,
				"%s: with --%s not every rank has a batch of "
				"its own: write {micro} where the batch size "
				"belongs, and start it without the launcher",
				launch->row->name, launch->foreign);
		return COMMAND_NOT_RECOGNISED;
	}
	if (launch->ranks)
		return count_written(peel, launch);
	if (launch->file)
		return ranks_unknown(peel, launch,
				     "the number is in its config file");
	if (launch->all_devices && visible < 1)
		return ranks_unknown(peel, launch,
				     "the number of visible devices is not "
				     "known");
	if (launch->all_devices)
		peel->view->world = visible;
	else if (launch->row->many_by_default && !launch->one_rank &&
		 visible > 1)
		return ranks_unknown(peel, launch,
				     "its default config file or the visible "
				     "devices decide");
	return COMMAND_OK;
}
