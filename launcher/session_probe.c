/* One probe of a session: its command, its scratch, its course. */
/* SPDX-License-Identifier: MIT */
#include "launcher/session_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/builtin.h"
#include "configs/stamps.h"
#include "launcher/run.h"
#include "launcher/shared_memory.h"
#include "probes/environment.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOOK_FILE "probes/python/sitecustomize.py"
#define COMPILED_STEPS 5
#define CONFIRM_MS 30000
#define CONFIRM_STEPS_MIN 5
/* Default of --probe-timeout: so many times the first good probe, and more. */
#define TIMEOUT_FACTOR 3
#define TIMEOUT_EXTRA_MS 60000

/* Everything of one probe that lives until it is over. */
struct attempt {
	char id[PROBE_ID_MAX];
	char *scratch, *hook, *out, *tmp, *channel, *log;
	struct isolation_spec isolation;
	struct strlist argv, environment;
	struct host_cgroup cgroup;
	bool has_cgroup;
};

int session_make_id(char id[PROBE_ID_MAX], struct error *err)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set_errno(err, -errno, "no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int write_hook(const struct attempt *attempt, struct error *err)
{
	const struct builtin_file *file = builtin_find(HOOK_FILE);
	char *path;
	int result;

	if (!file)
		return error_set(err, -ENOENT, "%s is not built in", HOOK_FILE);
	path = xasprintf("%s/sitecustomize.py", attempt->hook);
	result = textfile_replace(path, 0600, file->data, file->size, err);
	free(path);
	return result;
}

static int make_folders(struct session *session, struct attempt *attempt,
			struct error *err)
{
	int result;

	session->probe_number++;
	attempt->scratch =
		xasprintf("%s/%s", session->shelter.space.folder, attempt->id);
	attempt->isolation = shelter_spec(&session->shelter, attempt->scratch);
	attempt->tmp = xasprintf("%s/tmp", attempt->scratch);
	attempt->hook = xasprintf("%s/hook", attempt->scratch);
	attempt->out = xasprintf("%s/out", attempt->scratch);
	attempt->channel = xasprintf("%s/channel", attempt->scratch);
	attempt->log = xasprintf("%s/probe-%lld.log", session->log_folder,
				 (long long)session->probe_number);
	result = paths_make(attempt->scratch, err);
	if (result == 0)
		result = paths_make(attempt->hook, err);
	if (result == 0)
		result = paths_make(attempt->out, err);
	if (result == 0)
		result = paths_make(attempt->tmp, err);
	if (result == 0)
		result = write_hook(attempt, err);
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
			   struct attempt *attempt)
{
	const struct command *command = &session->job->command;
	const struct strlist *args = &session->job->options->probe_args;
	size_t behind = command->argv.count - command->view.end;
	size_t at = attempt->argv.count - behind;

	for (size_t i = 0; i < args->count; i++)
		strlist_insert(&attempt->argv, at + i, args->items[i]);
}

static void make_command(const struct session *session,
			 const struct plan_step *step, struct attempt *attempt)
{
	const struct job *job = session->job;
	const struct command_values values = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		/* Room for a confirmation that is doubled. */
		.steps = 2 * job->options->confirm_steps + COMPILED_STEPS,
		.output = attempt->out,
		.is_probe = true,
	};
	const struct probe_environment additions = {
		.id = attempt->id,
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.scratch = attempt->scratch,
		.channel = attempt->channel,
		.hook = session->without_hook ? NULL : attempt->hook,
		.port = free_port(),
		.probe_env = &job->options->probe_env,
	};
	struct strlist user = STRLIST_INIT;
	struct strlist changes = STRLIST_INIT;
	struct command command = job->command;

	/* It refused one of them: then the preset is not that certain. */
	if (session->without_args)
		command.preset_is_certain = false;
	command_rewrite(&command, &values, &attempt->argv, &changes);
	add_probe_args(session, attempt);
	strlist_add_all(&user, (const char *const *)job->environment.items,
			job->environment.count);
	if (session->target->device == PROBE_CUDA &&
	    job->options->cuda_index >= 0)
		strlist_addf(&changes, "CUDA_VISIBLE_DEVICES=%s",
			     session->target->gpus[0].uuid);
	/* The user's own temporary folder is not to be written there. */
	if (attempt->isolation.kind == ISOLATION_LANDLOCK)
		strlist_addf(&changes, "TMPDIR=%s", attempt->tmp);
	run_change_environment(&user, &changes);
	probe_environment_make(&attempt->environment, &user, &additions);
	strlist_release(&changes);
	strlist_release(&user);
}

static void make_cgroup(const struct session *session, struct attempt *attempt)
{
	struct error err = ERROR_INIT;

	if (session->target->device != PROBE_HOST)
		return;
	attempt->has_cgroup =
		host_cgroup_make(&attempt->cgroup, attempt->id,
				 session->target->host.budget_bytes, &err) == 0;
	if (!attempt->has_cgroup)
		log_verbose("no hard limit of memory: %s", err.message);
}

/* A probe with more samples may take longer, in proportion. */
static int64_t timeout_of(const struct session *session,
			  const struct plan_step *step)
{
	int64_t asked = session->job->options->probe_timeout_ms;
	double work = (double)step->micro_batch * (double)step->probe_accum;
	double factor = 1;

	if (asked || session->first_good_seconds <= 0)
		return asked;
	if (work > session->first_good_work)
		factor = work / session->first_good_work;
	return (int64_t)(TIMEOUT_FACTOR * factor * session->first_good_seconds *
			 1000) +
	       TIMEOUT_EXTRA_MS;
}

static struct probe_spec make_spec(const struct session *session,
				   const struct plan_step *step,
				   const struct attempt *attempt)
{
	const struct options *options = session->job->options;
	const struct target *target = session->target;
	struct probe_spec spec = {
		.id = attempt->id,
		.argv = &attempt->argv,
		.environment = &attempt->environment,
		.scratch = attempt->scratch,
		.channel = attempt->channel,
		.log_path = attempt->log,
		.state = session->job->state,
		.lock_fds = session->guard->fds,
		.lock_count = session->guard->count,
		.cgroup = attempt->has_cgroup ? &attempt->cgroup : NULL,
		.isolation = &attempt->isolation,
		.scratch_reserve_bytes = session->scratch_reserve_bytes,
		.secrets = &session->secrets,
		.shared = options->shared,
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.device = target->device,
		.may_be_host = target->may_be_host,
		.nvml = target->nvml,
		.gpus = target->probe_gpus,
		.gpu_count = target->gpu_count,
		.limit_bytes = target->limit_bytes,
		.host_limit_bytes = target->host_limit_bytes,
		.steps_needed = options->probe_steps,
		.steps_needed_compiled = options->probe_steps,
		.startup_timeout_ms = options->startup_timeout_ms,
		.timeout_ms = timeout_of(session, step),
		.timeout_covers_start = options->probe_timeout_ms != 0,
		.grace_ms = options->grace_ms,
		.signatures = session->signatures,
		.patterns = session->patterns,
	};

	if (spec.steps_needed_compiled < COMPILED_STEPS)
		spec.steps_needed_compiled = COMPILED_STEPS;
	return spec;
}

/* A probe that fits so far: is it the answer, to be run on? */
static void decide(struct session *session, const struct plan_step *step)
{
	const int64_t steps = session->job->options->confirm_steps;
	const struct probe_confirmation confirmation = {
		.steps = steps,
		.steps_min =
			steps < CONFIRM_STEPS_MIN ? steps : CONFIRM_STEPS_MIN,
		.ms = session->job->options->has_confirm_steps ? INT64_MAX / 8
							       : CONFIRM_MS,
	};
	struct trial *trials = probe_notes_trials(session->notes);
	struct probe_view view;
	struct trial running;

	probe_look(session->probe, &view);
	running = (struct trial){
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.peak_bytes = view.peak_bytes,
		.steps = view.steps,
	};
	if (step->is_confirmation ||
	    plan_wants_confirmed(&session->plan, trials, session->notes->count,
				 &running)) {
		session->doing = "confirming";
		probe_confirm(session->probe, &confirmation);
	} else {
		probe_stop(session->probe);
	}
	free(trials);
}

/* Of every probe: what one imports late, another may not reach. */
static void note_modules(struct session *session, const struct strlist *modules)
{
	struct strlist *stamps = &session->result->record.stamps;

	for (size_t i = 0; modules && i < modules->count; i++) {
		struct strlist one = STRLIST_INIT;

		stamps_add(&one, modules->items[i]);
		if (strlist_find(stamps, one.items[0]) == stamps->count)
			strlist_add(stamps, one.items[0]);
		strlist_release(&one);
	}
}

static void fill_report(struct session *session, const struct attempt *attempt,
			struct probe_report *report)
{
	struct probe_outcome outcome;

	probe_outcome(session->probe, &outcome);
	report->trial = outcome.trial;
	report->why = outcome.memory_text ? xasprintf("%s: %s", outcome.why,
						      outcome.memory_text)
					  : xstrdup(outcome.why);
	report->log = xstrdup(attempt->log);
	report->first_error = xstrdup(outcome.first_error);
	report->hint = outcome.hint ? xstrdup(outcome.hint) : NULL;
	report->refused =
		outcome.refused_path ? xstrdup(outcome.refused_path) : NULL;
	report->exec_errno = outcome.exec_errno;
	report->isolation_errno = outcome.isolation_errno;
	note_modules(session, outcome.modules);
	report->host_used =
		session->target->may_be_host &&
		outcome.evidence.device == PROBE_HOST &&
		(trial_fits(&outcome.trial) || trial_is_misfit(&outcome.trial));
	if (outcome.unhooked)
		log_warning("%zu Python processes with torch run without the "
			    "step hook (python -I, -S or -E?)",
			    outcome.unhooked);
}

static void run_to_its_end(struct session *session,
			   const struct plan_step *step)
{
	session->doing = step->is_confirmation ? "confirming" : "probing";
	while (probe_wait(session->probe) != PROBE_OVER)
		decide(session, step);
}

static void release_attempt(struct attempt *attempt)
{
	if (attempt->has_cgroup)
		host_cgroup_remove(&attempt->cgroup);
	/* The keeper did, unless it was killed. */
	if (attempt->scratch)
		paths_remove_tree(attempt->scratch);
	free(attempt->scratch);
	free(attempt->hook);
	free(attempt->out);
	free(attempt->tmp);
	free(attempt->channel);
	free(attempt->log);
	strlist_release(&attempt->argv);
	strlist_release(&attempt->environment);
}

int session_probe(struct session *session, const struct plan_step *step,
		  struct probe_report *report, struct error *err)
{
	bool is_watched = shelter_shares_memory(&session->shelter);
	struct strlist memory = STRLIST_INIT;
	struct attempt attempt = { .has_cgroup = false };
	struct probe_spec spec;
	int result = session_make_id(attempt.id, err);

	if (is_watched)
		shared_memory_list(&memory);

	/* First of all: by the note the next start cleans up after a killed
	 * one, so it stands from before the folders until after them. */
	if (result == 0)
		result = guard_note_probe(session->guard, attempt.id,
					  session->shelter.space.folder, err);
	if (result == 0)
		result = make_folders(session, &attempt, err);
	if (result < 0)
		goto out;
	make_command(session, step, &attempt);
	make_cgroup(session, &attempt);
	spec = make_spec(session, step, &attempt);
	session->step = *step;
	result = probe_start(&session->probe, &spec, &session->loop, err);
	if (result < 0)
		goto out;
	/* A signal may have come before there was a probe to cancel. */
	if (session_must_end(session))
		probe_cancel(session->probe);
	run_to_its_end(session, step);
	fill_report(session, &attempt, report);
	probe_free(session->probe);
	session->probe = NULL;
out:
	release_attempt(&attempt);
	if (is_watched)
		shared_memory_warn(&memory);
	strlist_release(&memory);
	if (result == 0)
		result = guard_note_probe(session->guard, "", "", err);
	return result;
}

void probe_report_release(struct probe_report *report)
{
	free(report->why);
	free(report->log);
	free(report->first_error);
	free(report->hint);
	free(report->refused);
}
