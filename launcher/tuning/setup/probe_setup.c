/* Sets up one probe of a tuning: folders, files, command. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/setup/probe_setup.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/request/config_copies.h"
#include "launcher/request/exec_command.h"
#include "launcher/request/step_ranks.h"
#include "probes/channel/channel.h"
#include "probes/channel/python_hook.h"
#include "probes/isolation/environment.h"
#include "probes/nodes/node_report.h"
#include "probes/observers/gpu/preload.h"
#include "probes/phantom/phantom.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* To those of a first verdict. */
#define SAME_STEPS_EXTRA 5

/* Without it the GPUs are watched from outside, and the result says so. */
static int write_preload(struct probe_setup *setup, struct probe_kit *kit,
			 struct error *err)
{
	struct error why = ERROR_INIT;
	int result =
		preload_library_write(setup->scratch, &setup->preload, &why);

	if (result != -ENOEXEC)
		return result < 0 ? error_set(err, result, "%s", why.message)
				  : 0;
	log_warning("device memory is only sampled: %s; --scratch DIR names "
		    "another",
		    why.message);
	kit->without_preload = true;
	return 0;
}

/* Of phantom cards no lock tells the next start what a killed one left. */
static void place_channel(struct probe_setup *setup,
			  const struct memory_target *target)
{
	if (target->device != PROBE_CUDA || target->is_phantom ||
	    !channel_memory_has_room(CHANNEL_MEMORY_FOLDER)) {
		setup->channel = xasprintf("%s/channel", setup->scratch);
		return;
	}
	setup->channel = channel_memory_path(setup->id);
	strlist_add(&setup->copies, setup->channel);
	strlist_add(&setup->shared, setup->channel);
}

/* The places of all probes, and its own. */
static void share_places(struct probe_setup *setup,
			 const struct probe_isolation *isolation)
{
	const struct strlist *shared = &isolation->shared;

	setup->isolation = probe_isolation_spec(isolation, setup->scratch);
	strlist_add_all(&setup->shared, (const char *const *)shared->items,
			shared->count);
	setup->isolation.shared = &setup->shared;
}

/* Some programs want a folder of results that is there, others none. */
static bool has_output(const struct request *request)
{
	const char *folder = request->command.knobs[KNOB_OUTPUT].text;

	return folder && access(folder, F_OK) == 0;
}

static int probe_setup_make_folders(struct probe_setup *setup,
				    struct probe_kit *kit,
				    const struct session_setup *session,
				    struct error *err)
{
	const struct request *request = session->request;
	const struct memory_target *target = session->target;
	const char *folders[3];
	int count = 0;
	int result = 0;

	setup->scratch =
		xasprintf("%s/%s", kit->isolation.space.folder, setup->id);
	share_places(setup, &kit->isolation);
	setup->tmp = xasprintf("%s/tmp", setup->scratch);
	setup->hook = xasprintf("%s/hook", setup->scratch);
	setup->out = xasprintf("%s/out", setup->scratch);
	place_channel(setup, target);
	if (target->device == PROBE_HOST && step_ranks_can_report(request))
		setup->ranks = xasprintf("%s/ranks", setup->scratch);
	folders[count++] = setup->scratch;
	folders[count++] = setup->tmp;
	if (has_output(request))
		folders[count++] = setup->out;
	for (int i = 0; i < count && result == 0; i++)
		result = paths_make(folders[i], err);
	if (result < 0)
		return result;
	if (result == 0)
		result =
			python_hook_write(&python_hook_steps, setup->hook, err);
	if (result == 0 && target->device == PROBE_CUDA &&
	    target->gpus[0].vendor == GPU_NVIDIA && !kit->without_preload)
		result = write_preload(setup, kit, err);
	return result;
}

/* A port that nobody listens on now; 0 when none can be had. */
static int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int port = 0;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0)
		port = ntohs(address.sin_port);
	(void)close(fd);
	return port;
}

/* Arguments for probes go before a bare "--" of the program. */
static void add_probe_args(struct strlist *argv, const struct request *request)
{
	const struct command *command = &request->command;
	const struct strlist *args = &request->options->probe.args;
	size_t behind = command_argv(command)->count - command->view.end;
	size_t at = behind < argv->count ? argv->count - behind : argv->count;

	assert(command->view.end <= command_argv(command)->count);
	for (size_t i = 0; i < args->count; i++)
		strlist_insert(argv, at + i, args->items[i]);
}

/* The user's environment with what changes for this probe, and its own. */
static void make_environment(struct probe_setup *setup,
			     const struct session_setup *session,
			     struct probe_environment additions)
{
	const struct request *request = session->request;
	struct strlist *changes = &setup->run.environment;
	struct strlist user = STRLIST_INIT;

	additions.id = setup->id;
	additions.scratch = setup->scratch;
	additions.channel = setup->channel;
	additions.channel_fd = CHANNEL_COMMAND_FD;
	additions.preload = setup->preload;
	additions.probe_env = &request->options->probe.env;
	strlist_add_all(&user, (const char *const *)request->environment.items,
			request->environment.count);
	if (session->target->is_phantom)
		phantom_environment(request->options->target.phantom_folder,
				    &user);
	if (setup->only_gpu)
		strlist_add(changes, setup->only_gpu);
	else if (session->target->device == PROBE_CUDA &&
		 request->options->target.cuda_index >= 0)
		strlist_take(
			changes,
			visible_gpus_only(request->gpus,
					  request->options->target.cuda_index,
					  session->target->gpus[0].uuid));
	/* With Landlock nothing may be written to the user's own TMPDIR. */
	if (setup->isolation.kind == ISOLATION_LANDLOCK)
		strlist_addf(changes, "TMPDIR=%s", setup->tmp);
	strlist_env_change(&user, changes);
	probe_environment_make(&setup->environment, &user, &additions);
	strlist_release(&user);
}

int64_t probe_setup_same_steps(const struct options *options)
{
	int64_t steps = options->search.probe_steps + SAME_STEPS_EXTRA;

	return options->search.has_confirm_steps ||
			       options->search.confirm_steps < steps
		       ? options->search.confirm_steps
		       : steps;
}

struct command_values probe_setup_values(const struct options *options,
					 const struct plan_step *step)
{
	int64_t before = options->search.probe_steps > COMPILED_STEPS
				 ? options->search.probe_steps
				 : COMPILED_STEPS;

	assert(step->probe_accum >= 1 &&
	       step->probe_accum <= step->final_accum);
	return (struct command_values){
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		/* No probe comes to its own end before it is confirmed. */
		.steps = 2 * options->search.confirm_steps + before,
		.is_probe = true,
		.confirm_steps = step->probe_accum == step->final_accum
					 ? probe_setup_same_steps(options)
					 : 0,
	};
}

static int make_command(struct probe_setup *setup, const struct probe_kit *kit,
			const struct session_setup *session,
			const struct plan_step *step, struct error *err)
{
	const struct request *request = session->request;
	const struct strlist *made = &kit->isolation.caches.made;
	struct command_values values =
		probe_setup_values(request->options, step);
	const struct probe_environment additions = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.hook = kit->without_hook ? NULL : setup->hook,
		.shims = setup->shims.folder,
		.port = free_port(),
	};
	struct command command = request->command;
	int result;

	values.output = kit->without_output ? NULL : setup->out;
	values.port = additions.port;
	values.copies = setup->scratch;
	/* It refused an addition: then the preset is not that certain. */
	if (kit->without_args)
		command.preset_is_certain = false;
	result = request_rewrite(request, &command, &values, &setup->run, err);
	if (result < 0)
		return result;
	add_probe_args(&setup->run.argv, request);
	make_environment(setup, session, additions);
	if (setup->ranks) {
		strlist_env_set(&setup->environment, NODE_VARIABLE,
				setup->ranks);
		result = step_ranks_insert(request, &setup->run.argv, err);
		if (result < 0)
			return result;
	}
	config_copies_paths(&setup->run, &setup->copies);
	config_copies_covers(&setup->run, &setup->covers);
	setup->isolation.covers = &setup->covers;
	for (size_t i = made->count; i-- > 0;)
		strlist_add(&setup->copies, made->items[i]);
	return config_copies_write(&setup->run, true, err);
}

static void add_unless_own(struct strlist *programs, const char *name,
			   const struct strlist *own)
{
	if (strlist_find(own, name) == own->count)
		strlist_add(programs, name);
}

/* Launchers whose work is not below them and not told by them, and srun, which
 * may start it here. */
static void add_outside(struct strlist *programs,
			const struct launchers *launchers,
			const struct strlist *own)
{
	add_unless_own(programs, "srun", own);
	for (size_t i = 0; i < launchers->count; i++) {
		const struct launcher *launcher =
			launchers_whole(launchers, &launchers->items[i]);

		if (!launcher->outside || launcher->subcommand ||
		    (launcher->kind != LAUNCHER_REFUSED &&
		     launcher->kind != LAUNCHER_OPAQUE))
			continue;
		for (size_t k = 0; k < launcher->names.count; k++)
			add_unless_own(programs, launcher->names.items[k], own);
	}
}

/* What the user's own command is started with has its place there. */
static int make_shims(struct probe_setup *setup, const struct request *request,
		      struct error *err)
{
	const struct command_view *view = &request->command.view;
	const struct strlist *words = command_argv(&request->command);
	struct strlist programs = STRLIST_INIT, own = STRLIST_INIT;
	int result;

	for (size_t i = 0; i < words->count && i <= view->program; i++)
		strlist_add(&own, basename(words->items[i]));
	if (view->outside)
		strlist_add(&own, view->outside);
	add_outside(&programs, &request->launchers, &own);
	result = shims_make(&setup->shims, setup->scratch, &programs,
			    &request->environment, err);
	setup->isolation.shims = &setup->shims;
	strlist_release(&programs);
	strlist_release(&own);
	return result;
}

int probe_setup_make(struct probe_setup *setup, struct probe_kit *kit,
		     const struct session_setup *session,
		     const struct plan_step *step, struct error *err)
{
	const struct memory_target *target = session->target;
	struct error why = ERROR_INIT;
	int result = probe_setup_make_folders(setup, kit, session, err);

	if (result < 0)
		return result;
	result = make_shims(setup, session->request, err);
	if (result < 0)
		return result;
	result = make_command(setup, kit, session, step, err);
	setup->isolation.path = strlist_env_get(&setup->environment, "PATH");
	if (result < 0 || target->device != PROBE_HOST)
		return result;
	setup->has_cgroup =
		host_cgroup_make(&setup->cgroup, setup->id,
				 target->host.budget_bytes, &why) == 0;
	if (!setup->has_cgroup)
		log_verbose("no hard limit of memory: %s", why.message);
	return 0;
}

void probe_setup_release(struct probe_setup *setup)
{
	if (setup->has_cgroup)
		host_cgroup_remove(&setup->cgroup);
	/* The keeper did, unless it was killed. */
	if (setup->scratch)
		paths_remove_tree(setup->scratch);
	free(setup->scratch);
	free(setup->hook);
	free(setup->preload);
	free(setup->out);
	free(setup->tmp);
	free(setup->channel);
	free(setup->ranks);
	config_copies_remove(&setup->copies);
	strlist_release(&setup->copies);
	strlist_release(&setup->shared);
	strlist_release(&setup->covers);
	shims_release(&setup->shims);
	rewrite_release(&setup->run);
	strlist_release(&setup->environment);
}
