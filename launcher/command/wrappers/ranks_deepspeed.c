/* How many ranks deepspeed starts: hosts, devices of them, or all. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/named_files.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Devices are counted up to this number of one. */
#define DEVICES_MAX 1024

/* How many different numbers "0,1,1" names; 0: it is no such list. */
static int64_t slots_listed(const char *text)
{
	bool seen[DEVICES_MAX] = { false };
	int64_t count = 0;
	char *end;

	for (;; text = end + 1) {
		unsigned long slot;

		if (*text < '0' || *text > '9')
			return 0;
		slot = strtoul(text, &end, 10);
		if (slot >= DEVICES_MAX)
			return 0;
		count += !seen[slot];
		seen[slot] = true;
		if (*end != ',')
			return *end ? 0 : count;
	}
}

static enum command_outcome filter_unknown(const struct wrapper *wrapper,
					   const struct launch *launch,
					   const char *text)
{
	char shown[BRIEF_MAX];

	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s: which devices %s leaves cannot be told: write "
			   "--include localhost:0,1,... or %s",
			   launch->row->names.items[0],
			   argument_brief(shown, text),
			   launch->row->ranks_option);
}

/*
 * --include and --exclude of one host: hosts is what the host file lists,
 * count 0: there is none, so all visible devices of this one.
 */
static enum command_outcome count_filtered(const struct wrapper *wrapper,
					   const struct launch *launch,
					   const struct host_list *hosts)
{
	const char *include = launch->said[SAYS_INCLUDE].value;
	const char *filter =
		include ? include : launch->said[SAYS_EXCLUDE].value;
	const char *colon = strchr(filter, ':');
	int64_t all =
		hosts->count ? hosts->slots : wrapper->view->visible_devices;
	int64_t listed = colon ? slots_listed(colon + 1) : 0;
	/* Filters make deepspeed forget this variable. */
	bool is_hidden = !hosts->count &&
			 wrapper_variable(wrapper, "CUDA_VISIBLE_DEVICES");

	if (strchr(filter, '@') || (!include && hosts->count > 1))
		return ranks_several_nodes(wrapper, launch, "several");
	if (include && listed > 0) {
		wrapper->view->world = listed;
		return COMMAND_OK;
	}
	if (is_hidden || all < 1 || hosts->count > 1 || (colon && listed == 0))
		return filter_unknown(wrapper, launch, filter);
	if (!include && (!colon || listed >= all))
		return filter_unknown(wrapper, launch, filter);
	wrapper->view->world = include ? all : all - listed;
	return COMMAND_OK;
}

static enum command_outcome count_hosts(const struct wrapper *wrapper,
					const struct launch *launch,
					const struct host_list *hosts)
{
	const struct launch_said *said = launch->said;

	if (hosts->count > 1 && !said[SAYS_NODES].value)
		return ranks_several_nodes(wrapper, launch, "several");
	if (said[SAYS_RANKS].value)
		return ranks_written(wrapper, launch, said[SAYS_RANKS].value);
	if (hosts->count == 0)
		return ranks_of_devices(wrapper, launch);
	if (hosts->count > 1 || hosts->slots < 1)
		return ranks_unknown(wrapper, launch,
				     "its file of hosts does not say it for "
				     "one host");
	wrapper->view->world = hosts->slots;
	return COMMAND_OK;
}

enum command_outcome ranks_count_deepspeed(const struct wrapper *wrapper,
					   struct launch *launch)
{
	const struct launch_said *said = launch->said;
	const char *path = said[SAYS_HOSTFILE].value
				   ? said[SAYS_HOSTFILE].value
				   : launch->row->default_file;
	enum command_outcome outcome =
		ranks_check_nodes(wrapper, launch, said[SAYS_NODES].value);
	struct host_list hosts = { 0 };
	struct named_file *file;

	if (outcome == COMMAND_OK)
		outcome = launch_file(wrapper, launch, path, &file);
	if (outcome != COMMAND_OK)
		return outcome;
	if (file)
		hosts = host_list_read(strbuf_text(&file->text),
				       file->text.length, "\n");
	if (said[SAYS_INCLUDE].value || said[SAYS_EXCLUDE].value)
		return count_filtered(wrapper, launch, &hosts);
	return count_hosts(wrapper, launch, &hosts);
}
