/* What one probe of a session has of its own: folders, files, command. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/probe_setup.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/request/config_copies.h"
#include "launcher/request/exec_command.h"
#include "probes/channel/channel.h"
#include "probes/isolation/environment.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define HOOK_FILE "probes/python/sitecustomize.py"
#define PRELOAD_FILE "probes/preload/libautofit_preload.so"

int session_make_id(char id[PROBE_ID_MAX], struct error *err)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set_errno(err, -errno, "no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int write_builtin(const char *name, const char *path, struct error *err)
{
	const struct builtin_file *file = builtin_find(name);

	if (!file)
		return error_set(err, -ENOENT, "%s is not built in", name);
	return textfile_replace(path, 0600, file->data, file->size, err);
}

static int write_hook(const struct probe_setup *setup, struct error *err)
{
	char *path = xasprintf("%s/sitecustomize.py", setup->hook);
	int result = write_builtin(HOOK_FILE, path, err);

	free(path);
	return result;
}

/* Why the library cannot be loaded from there; NULL: it can. */
static const char *preload_obstacle(const char *path)
{
	struct statvfs info;

	if (strpbrk(path, " \t\n:;"))
		return "LD_PRELOAD can name no path with a space or colon";
	if (statvfs(path, &info) == 0 && (info.f_flag & ST_NOEXEC))
		return "its file system is mounted noexec";
	return NULL;
}

/* Without it the GPUs are watched from outside, and the result says so. */
static int write_preload(struct session *session, struct probe_setup *setup,
			 struct error *err)
{
	const char *obstacle;

	if (session->target->device != PROBE_CUDA || session->without_preload)
		return 0;
	obstacle = preload_obstacle(setup->scratch);
	if (obstacle) {
		log_warning("device memory is only sampled: the scratch folder "
			    "%s holds no library to load, for %s; --scratch "
			    "DIR names another",
			    setup->scratch, obstacle);
		session->without_preload = true;
		return 0;
	}
	setup->preload = xasprintf("%s/libautofit_preload.so", setup->scratch);
	return write_builtin(PRELOAD_FILE, setup->preload, err);
}

int probe_setup_folders(struct session *session, struct probe_setup *setup,
			struct error *err)
{
	int result;

	session->probe_number++;
	setup->scratch =
		xasprintf("%s/%s", session->shelter.space.folder, setup->id);
	setup->isolation =
		probe_isolation_spec(&session->shelter, setup->scratch);
	setup->tmp = xasprintf("%s/tmp", setup->scratch);
	setup->hook = xasprintf("%s/hook", setup->scratch);
	setup->out = xasprintf("%s/out", setup->scratch);
	setup->channel = xasprintf("%s/channel", setup->scratch);
	setup->log = xasprintf("%s/probe-%lld.log", session->log_folder,
			       (long long)session->probe_number);
	result = paths_make(setup->scratch, err);
	if (result == 0)
		result = paths_make(setup->hook, err);
	if (result == 0)
		result = paths_make(setup->out, err);
	if (result == 0)
		result = paths_make(setup->tmp, err);
	if (result == 0)
		result = write_hook(setup, err);
	if (result == 0)
		result = write_preload(session, setup, err);
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

/* Where arguments for probes go: before a bare "--" of the program. */
static void add_probe_args(const struct session *session,
			   struct probe_setup *setup)
{
	const struct command *command = &session->request->command;
	const struct strlist *args = &session->request->options->probe_args;
	size_t behind = command->argv.count - command->view.end;
	struct strlist *argv = &setup->run.argv;
	size_t at = behind < argv->count ? argv->count - behind : argv->count;

	for (size_t i = 0; i < args->count; i++)
		strlist_insert(argv, at + i, args->items[i]);
}

/* The user's environment with what changes for this probe, and its own. */
static void make_environment(const struct session *session,
			     const struct plan_step *step,
			     struct probe_setup *setup, int port)
{
	const struct request *request = session->request;
	const struct probe_environment additions = {
		.id = setup->id,
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.scratch = setup->scratch,
		.channel = setup->channel,
		.channel_fd = CHANNEL_COMMAND_FD,
		.hook = session->without_hook ? NULL : setup->hook,
		.preload = setup->preload,
		.port = port,
		.probe_env = &request->options->probe_env,
	};
	struct strlist *changes = &setup->run.environment;
	struct strlist user = STRLIST_INIT;

	strlist_add_all(&user, (const char *const *)request->environment.items,
			request->environment.count);
	if (session->target->device == PROBE_CUDA &&
	    request->options->cuda_index >= 0)
		strlist_addf(changes, "CUDA_VISIBLE_DEVICES=%s",
			     session->target->gpus[0].uuid);
	/* The user's own temporary folder is not to be written there. */
	if (setup->isolation.kind == ISOLATION_LANDLOCK)
		strlist_addf(changes, "TMPDIR=%s", setup->tmp);
	strlist_env_change(&user, changes);
	probe_environment_make(&setup->environment, &user, &additions);
	strlist_release(&user);
}

int probe_setup_command(const struct session *session,
			const struct plan_step *step, struct probe_setup *setup,
			struct error *err)
{
	const struct request *request = session->request;
	const struct command_values values = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		/* Room for a confirmation that is doubled. */
		.steps = 2 * request->options->confirm_steps + COMPILED_STEPS,
		.output = setup->out,
		.is_probe = true,
		.confirm_steps = step->probe_accum == step->final_accum
					 ? request->options->confirm_steps
					 : 0,
		.port = free_port(),
		.copies = setup->scratch,
	};
	struct command command = request->command;
	int result;

	/* It refused one of them: then the preset is not that certain. */
	if (session->without_args)
		command.preset_is_certain = false;
	result = request_rewrite(request, &command, &values, &setup->run, err);
	if (result < 0)
		return result;
	add_probe_args(session, setup);
	make_environment(session, step, setup, values.port);
	config_copies_paths(&setup->run, &setup->copies);
	return config_copies_write(&setup->run, err);
}

void probe_setup_cgroup(const struct session *session,
			struct probe_setup *setup)
{
	struct error err = ERROR_INIT;

	if (session->target->device != PROBE_HOST)
		return;
	setup->has_cgroup =
		host_cgroup_make(&setup->cgroup, setup->id,
				 session->target->host.budget_bytes, &err) == 0;
	if (!setup->has_cgroup)
		log_verbose("no hard limit of memory: %s", err.message);
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
	free(setup->log);
	config_copies_remove(&setup->copies);
	strlist_release(&setup->copies);
	rewrite_release(&setup->run);
	strlist_release(&setup->environment);
}
