/* Asks a phantom of the GPU where a tuning is to start. */
/* SPDX-License-Identifier: MIT */
/*
 * The answer comes from another autofit, for this process has loaded the real
 * driver: `autofit tune --device phantom:NAME`, with the options of this call
 * and its budget. Its home is a folder of its own, with the user's
 * configuration in it, that goes when it has answered: no record, no journal.
 */
#include "launcher/tuning/start/phantom_start.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/paths.h"
#include "launcher/request/exec_command.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

/*
 * A search takes about three probes. Of them a phantom saves all but the last:
 * twice what a probe spends in its steps, for three times a start. Where one
 * real probe has run already there is one to save: see docs/phantom.md.
 */
#define STEPS_PER_START 2
/* And whatever that takes, it is not worth a word below this. */
#define STEPS_SECONDS_MIN 10
#define LOOK_MS 20
#define GRACE_LOOKS 500
#define PROBES_SAVED 2
#define CMDLINE_MAX (4 << 20)

int64_t phantom_start_limit_ms(const struct trial *trials, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];
		double in_steps = trial->step_seconds * (double)trial->steps;

		/* One that was forked has saved its start. */
		if (trial_fits(trial) && !trial->is_forked &&
		    in_steps >= STEPS_SECONDS_MIN &&
		    in_steps >= STEPS_PER_START * (trial->seconds - in_steps) &&
		    trial->seconds > most)
			most = trial->seconds;
	}
	return (int64_t)(PROBES_SAVED * most * 1000);
}

/* All of one model that has a row; NULL: not. */
static const char *model_of(const struct request *request,
			    const struct memory_target *target)
{
	struct gpu_catalogue catalogue = { .items = NULL };
	const char *name = target->gpus[0].name;
	const struct gpu_model *model;
	bool is_known;

	for (size_t i = 1; i < target->gpu_count; i++)
		if (strcmp(target->gpus[i].name, name) != 0)
			return NULL;
	gpu_catalogue_of_user(&catalogue, &request->environment, NULL);
	model = gpu_catalogue_find(&catalogue, name, NULL);
	is_known = model && model->compute_major && model->multiprocessors;
	gpu_catalogue_release(&catalogue);
	return is_known ? name : NULL;
}

bool phantom_start_can(const struct request *request,
		       const struct memory_target *target)
{
	const struct options *options = request->options;

	return target->device == PROBE_CUDA && !target->is_phantom &&
	       !command_rows_are_open(&request->command) &&
	       !target->is_unified && target->gpus[0].vendor == GPU_NVIDIA &&
	       target->gpu_count <= OPTIONS_CARDS_MAX &&
	       !options->search.no_phantom && !options->search.fastest &&
	       !options->target.as && !options->probe.shared &&
	       model_of(request, target);
}

/* The options of this call as they were typed; false: they are not known. */
static bool typed_options(struct strlist *words, const struct request *request)
{
	const struct strlist *command = request->command.given;
	struct strbuf text = STRBUF_INIT;
	struct strlist all = STRLIST_INIT;
	size_t end;
	bool good = textfile_read("/proc/self/cmdline", CMDLINE_MAX, &text,
				  NULL) == 0;

	for (size_t at = 0; good && at < text.length;
	     at += strlen(text.data + at) + 1)
		strlist_add(&all, text.data + at);
	good = good && all.count > command->count;
	for (size_t i = 0; good && i < command->count; i++)
		good = strcmp(all.items[all.count - command->count + i],
			      command->items[i]) == 0;
	end = good ? all.count - command->count : 0;
	if (end > 1 && strcmp(all.items[end - 1], "--") == 0)
		end--;
	for (size_t i = 1; i < end; i++)
		if (i > 1 || strcmp(all.items[i], "tune") != 0)
			strlist_add(words, all.items[i]);
	strlist_release(&all);
	strbuf_release(&text);
	return good;
}

/* A later option wins. */
static bool make_question(struct strlist *argv,
			  const struct phantom_question *question,
			  const char *answer)
{
	const struct request *request = question->request;
	const struct memory_target *target = question->target;
	const struct strlist *command = request->command.given;
	char *self = exec_command_self();

	strlist_take(argv, self ? self : xstrdup("autofit"));
	strlist_add(argv, "tune");
	if (!typed_options(argv, request))
		return false;
	assert(target->gpu_count >= 1 && !target->is_phantom);
	strlist_addf(argv, "--device=phantom:%sx%zu", target->gpus[0].name,
		     target->gpu_count);
	strlist_addf(argv, "--memory=%" PRIu64, target->budget_bytes);
	strlist_addf(argv, "--headroom=%" PRIu64, target->headroom_bytes);
	strlist_addf(argv, "--json=%s", answer);
	if (question->limit_ms)
		strlist_addf(argv, "--time-limit=%" PRId64,
			     (question->limit_ms + 999) / 1000);
	strlist_add(argv, "--no-phantom");
	strlist_add(argv, "--fresh");
	strlist_add(argv, "--quiet");
	strlist_add(argv, "--");
	strlist_add_all(argv, (const char *const *)command->items,
			command->count);
	return true;
}

/* The child's own end. */
static void become_autofit(pid_t parent, const struct request *request,
			   const struct strlist *argv, const char *home)
{
	struct strlist changes = STRLIST_INIT;
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent)
		_exit(128 + SIGTERM);
	(void)setpgid(0, 0);
	for (int fd = 0; nothing >= 0 && fd < 3; fd++)
		(void)dup2(nothing, fd);
	strlist_addf(&changes, "AUTOFIT_HOME=%s", home);
	_exit(exec_command(request->state, argv, &changes));
}

/* It cleans up after itself when it is asked to end. */
static void end_asked(pid_t pid)
{
	int looks = 0;

	assert(pid > 0);
	(void)kill(pid, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0)
		if (++looks > GRACE_LOOKS)
			(void)kill(pid, SIGKILL);
		else
			(void)poll(NULL, 0, LOOK_MS);
}

static int run_child(const struct phantom_question *question,
		     const struct strlist *argv, const char *home)
{
	pid_t parent = getpid();
	pid_t ended = 0;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_autofit(parent, question->request, argv, home);
	while (pid > 0 && ended == 0) {
		ended = waitpid(pid, NULL, WNOHANG);
		if (ended == 0 && question->must_end(question->context)) {
			end_asked(pid);
			return -EINTR;
		}
		if (ended == 0)
			(void)poll(NULL, 0, LOOK_MS);
	}
	return 0;
}

static void read_said(const char *path, struct phantom_said *said)
{
	json_t *root = json_load_file(path, 0, NULL);
	json_int_t micro = 0, misfit = 0, peak = 0;
	const char *outcome = "";

	if (root &&
	    json_unpack(root, "{s:s, s:{s:I}, s:{s:I}}", "outcome", &outcome,
			"recommended", "micro_batch", &micro, "evidence",
			"peak_bytes", &peak) == 0 &&
	    strcmp(outcome, "tuned") == 0 && micro > 0 && peak > 0) {
		said->micro_batch = micro;
		said->peak_bytes = (uint64_t)peak;
		if (json_unpack(root, "{s:{s:I}}", "evidence",
				"smallest_misfit", &misfit) == 0 &&
		    misfit > micro)
			said->smallest_misfit = misfit;
		(void)json_unpack(root, "{s:I, s:F}", "probe_count", &micro,
				  "seconds", &said->seconds);
		said->probes = micro;
	} else if (root) {
		log_verbose("the phantom came to no answer: %s", outcome);
	}
	json_decref(root);
}

/* Where probes' folders are, and what killed starts left there is removed. */
static int make_home(const struct request *request, char **home,
		     struct error *err)
{
	char *config;
	int result;

	*home = xasprintf("%s/phantom-%d", request->paths.scratch,
			  (int)getpid());
	result = paths_make(*home, err);
	if (result < 0)
		return result;
	config = xasprintf("%s/config", *home);
	if (symlink(request->paths.config, config) < 0 && errno != EEXIST)
		result = error_set_errno(err, -errno, "%s", config);
	free(config);
	return result;
}

int phantom_start_ask(const struct phantom_question *question,
		      struct phantom_said *said, struct error *err)
{
	struct strlist argv = STRLIST_INIT;
	char *home = NULL;
	char *answer = NULL;
	int result = make_home(question->request, &home, err);

	*said = (struct phantom_said){ .micro_batch = 0 };
	if (result == 0) {
		answer = xasprintf("%s/answer.json", home);
		if (make_question(&argv, question, answer))
			result = run_child(question, &argv, home);
	}
	if (result == 0)
		read_said(answer, said);
	paths_remove_tree(home);
	free(answer);
	free(home);
	strlist_release(&argv);
	return result;
}
