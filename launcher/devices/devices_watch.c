/* `autofit devices --watch`: the devices again and again, until stopped. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/textfile.h"
#include "launcher/devices/devices.h"
#include "launcher/devices/devices_need.h"
#include "launcher/devices/devices_sample.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/report_style.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The driver answers within milliseconds, after a pause within seconds. */
#define PATIENCE_MS 3000

/* What is kept of a GPU from look to look. */
struct watched_gpu {
	uint64_t peak_bytes;
	pid_t pid; /* whose user is known */
	char *user;
};

struct watch {
	const struct options *options;
	struct devices devices;
	struct devices_needs needs;
	struct nvml *nvml;    /* NULL: no GPU */
	bool is_asked;        /* and has not answered yet */
	int64_t asked_ms;     /* when */
	bool has_readings;    /* of this look */
	struct error trouble; /* with NVML itself */
	struct watched_gpu gpus[GPU_MAX];
	uint64_t host_peak_bytes;
	struct devices_sample sample;
	char machine[256];
	int json_fd;  /* -1: no file */
	bool is_json; /* on standard output */
	bool is_live; /* a terminal to draw on */
	size_t drawn; /* lines of the last table; 0: draw anew */
	int signals;  /* the terminal was resized, or is ours again */
	bool is_over; /* nobody reads on */
	struct report_style style;
};

/* What was drawn may lie elsewhere now. */
static void take_signals(struct watch *watch)
{
	struct signalfd_siginfo info;

	while (read(watch->signals, &info, sizeof(info)) == sizeof(info))
		watch->drawn = 0;
}

/*
 * Until the deadline, or the answer if one is wanted, or the end of whoever
 * reads standard output. True: the answer has come.
 */
static bool wait_until(struct watch *watch, int64_t deadline_ms,
		       bool for_answer)
{
	struct pollfd fds[] = {
		{ .fd = STDOUT_FILENO, .events = 0 },
		{ .fd = watch->signals, .events = POLLIN },
		{ .fd = for_answer ? nvml_fd(watch->nvml) : -1,
		  .events = POLLIN },
	};

	while (!watch->is_over) {
		int64_t left = deadline_ms - clock_ms();
		int ready = poll(fds, 3, left > 0 ? (int)left : 0);

		if (ready < 0 && errno != EINTR)
			break;
		if (ready <= 0 && left <= 0)
			break;
		if (ready <= 0)
			continue;
		watch->is_over = fds[0].revents != 0;
		if (fds[1].revents)
			take_signals(watch);
		if (fds[2].revents)
			return true;
	}
	return false;
}

static void devices_watch_take_answer(struct watch *watch)
{
	assert(watch->is_asked);
	watch->is_asked = false;
	(void)nvml_take(watch->nvml, &watch->trouble);
	/* Then each device says what is missing. */
	watch->has_readings =
		nvml_seen(watch->nvml, watch->devices.gpus[0].gpu.uuid) != NULL;
	if (watch->has_readings)
		watch->trouble = (struct error)ERROR_INIT;
}

/* A late answer is of the past: it only shows that the driver is back. */
static void read_gpus(struct watch *watch)
{
	watch->has_readings = false;
	watch->trouble = (struct error)ERROR_INIT;
	if (watch->is_asked && wait_until(watch, 0, true))
		devices_watch_take_answer(watch);
	if (!watch->is_asked) {
		watch->has_readings = false;
		watch->trouble = (struct error)ERROR_INIT;
		watch->asked_ms = clock_ms();
		watch->is_asked = nvml_ask(watch->nvml, &watch->trouble) == 0;
	}
	if (watch->is_asked &&
	    wait_until(watch, watch->asked_ms + PATIENCE_MS, true))
		devices_watch_take_answer(watch);
	if (watch->is_asked)
		(void)error_set(&watch->trouble, -ETIMEDOUT,
				"the NVIDIA driver has not answered for %lld s",
				(long long)(clock_ms() - watch->asked_ms) /
					1000);
}

static const char *user_of(struct watched_gpu *kept, pid_t pid)
{
	if (kept->pid != pid) {
		free(kept->user);
		kept->user = pid ? devices_user_of("/proc", pid) : NULL;
		kept->pid = pid;
	}
	return kept->user;
}

/* pid 0: there is none. */
static struct gpu_process devices_largest(const struct gpu_look *look)
{
	struct gpu_process largest = { .pid = 0 };

	for (int i = 0; i < look->process_count; i++)
		if (i == 0 ||
		    look->processes[i].used_bytes > largest.used_bytes)
			largest = look->processes[i];
	return largest;
}

static void fill_gpu(struct watch *watch, size_t index)
{
	const struct gpu_device *gpu = &watch->devices.gpus[index].gpu;
	const struct gpu_look *look =
		watch->has_readings ? nvml_seen(watch->nvml, gpu->uuid) : NULL;
	struct watched_gpu *kept = &watch->gpus[index];
	struct sample_gpu *row = &watch->sample.gpus[index];

	assert(index < watch->devices.gpu_count);
	*row = (struct sample_gpu){
		.gpu = gpu,
		.total_bytes = gpu->total_bytes,
		.process_count = -1,
		.need = &watch->needs.gpus[index],
	};
	if (look) {
		row->has_memory = look->has_memory;
		row->process_count = look->process_count;
		row->largest = devices_largest(look);
		row->user = user_of(kept, row->largest.pid);
		row->problem = look->problem[0] ? look->problem : NULL;
	}
	if (row->has_memory) {
		row->total_bytes = look->memory.total_bytes;
		row->free_bytes = look->memory.free_bytes;
		row->used_bytes = row->total_bytes - row->free_bytes;
		if (row->used_bytes > kept->peak_bytes)
			kept->peak_bytes = row->used_bytes;
	}
	row->peak_bytes = kept->peak_bytes;
}

static void fill_host(struct watch *watch)
{
	/* --memory bounds the GPU where there is one, else the host. */
	uint64_t memory_bytes = watch->devices.gpu_count
					? 0
					: watch->options->target.memory_bytes;
	struct host_budget *budget = &watch->devices.host;
	struct sample_host *row = &watch->sample.host;
	struct error err = ERROR_INIT;

	free(watch->devices.host_problem);
	watch->devices.host_problem = NULL;
	if (host_budget_read(budget, memory_bytes, &host_roots_here, &err) <
	    0) {
		memset(budget, 0, sizeof(*budget));
		watch->devices.host_problem = xstrdup(err.message);
	}
	*row = (struct sample_host){ .budget = budget,
				     .need = &watch->needs.host,
				     .problem = watch->devices.host_problem };
	if (budget->total_bytes > budget->available_bytes)
		row->used_bytes = budget->total_bytes - budget->available_bytes;
	if (row->used_bytes > watch->host_peak_bytes)
		watch->host_peak_bytes = row->used_bytes;
	row->peak_bytes = watch->host_peak_bytes;
}

static void devices_watch_look(struct watch *watch)
{
	struct devices_sample *sample = &watch->sample;

	if (watch->nvml)
		read_gpus(watch);
	(void)clock_gettime(CLOCK_REALTIME, &sample->time);
	sample->machine = watch->machine;
	sample->interval_seconds = (double)watch->options->times.watch_ms / 1e3;
	sample->gpu_count = watch->devices.gpu_count;
	sample->problem = watch->trouble.code ? watch->trouble.message
					      : watch->devices.gpu_problem;
	for (size_t i = 0; i < sample->gpu_count; i++)
		fill_gpu(watch, i);
	fill_host(watch);
}

/* Over the last table: up, then every line to its end, then what is below. */
static void draw(struct watch *watch, struct strbuf *out)
{
	struct strbuf table = STRBUF_INIT;
	struct winsize size = { 0 };
	const char *line;
	size_t most = SIZE_MAX;
	size_t count = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
		if (size.ws_col > 0)
			watch->style.columns = size.ws_col;
		/* The last line of the terminal is for the cursor. */
		if (size.ws_row > 1)
			most = size.ws_row - 1u;
	}
	sample_table(&watch->sample, &watch->style, &table);
	if (watch->drawn)
		strbuf_addf(out, "\x1b[%zuA", watch->drawn);
	for (line = strbuf_text(&table); *line && count < most; count++) {
		size_t length = strcspn(line, "\n");

		strbuf_addch(out, '\r');
		strbuf_add(out, line, length);
		strbuf_adds(out, "\x1b[K\n");
		line += length + 1;
	}
	strbuf_adds(out, "\x1b[J");
	watch->drawn = count;
	strbuf_release(&table);
}

static int write_to(struct watch *watch, int fd, const char *what,
		    const struct strbuf *text)
{
	int result = file_write_all(fd, strbuf_text(text), text->length);

	if (result == -EPIPE && fd == STDOUT_FILENO)
		watch->is_over = true;
	else if (result < 0)
		log_error("cannot write to %s: %s", what, strerror(-result));
	return result;
}

static int devices_watch_show(struct watch *watch)
{
	struct strbuf json = STRBUF_INIT;
	struct strbuf text = STRBUF_INIT;
	int result = 0;

	sample_json(&watch->sample, &json);
	if (watch->json_fd >= 0)
		result = write_to(watch, watch->json_fd,
				  watch->options->output.json, &json);
	if (watch->is_live)
		draw(watch, &text);
	else if (!watch->is_json)
		sample_lines(&watch->sample, &text);
	if (result == 0)
		result = write_to(watch, STDOUT_FILENO, "standard output",
				  watch->is_json ? &json : &text);
	strbuf_release(&text);
	strbuf_release(&json);
	return result;
}

/* Looks that a slow driver or a stopped terminal has cost are not made up. */
static int devices_watch_run(struct watch *watch)
{
	int64_t interval_ms = watch->options->times.watch_ms;
	int64_t next_ms = clock_ms();
	int result = 0;

	while (!watch->is_over && result == 0) {
		int64_t late_ms;

		devices_watch_look(watch);
		if (watch->is_over)
			break;
		result = devices_watch_show(watch);
		late_ms = clock_ms() - next_ms;
		next_ms += (late_ms / interval_ms + 1) * interval_ms;
		if (result == 0)
			(void)wait_until(watch, next_ms, false);
	}
	return watch->is_over || result == 0 ? EXIT_DONE : EXIT_AUTOFIT_FAILED;
}

/* How it is written, and where to. -errno after a line on stderr. */
static int open_outputs(struct watch *watch)
{
	const struct options *options = watch->options;
	const char *ci = getenv("CI");
	const char *term = getenv("TERM");
	const char *plain = getenv("NO_COLOR");
	sigset_t shown;

	watch->is_json =
		options->output.json && strcmp(options->output.json, "-") == 0;
	watch->style = report_style_choose(options);
	watch->is_live = !watch->is_json && isatty(STDOUT_FILENO) && term &&
			 strcmp(term, "dumb") != 0 && !(ci && *ci);
	/* report_style_choose speaks of standard error. */
	if (options->output.color == COLOR_AUTO)
		watch->style.color = watch->is_live && !(plain && *plain);
	watch->json_fd = -1;
	if (options->output.json && !watch->is_json) {
		watch->json_fd =
			open(options->output.json,
			     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (watch->json_fd < 0) {
			log_error("cannot write %s: %s", options->output.json,
				  strerror(errno));
			return -errno;
		}
	}
	(void)sigemptyset(&shown);
	(void)sigaddset(&shown, SIGCONT);
	(void)sigaddset(&shown, SIGWINCH);
	watch->signals = -1;
	if (watch->is_live && sigprocmask(SIG_BLOCK, &shown, NULL) == 0)
		watch->signals =
			signalfd(-1, &shown, SFD_CLOEXEC | SFD_NONBLOCK);
	return 0;
}

/* True: what was asked for by name is there. */
static bool has_devices(const struct watch *watch)
{
	if (watch->options->target.device != DEVICE_CUDA ||
	    watch->devices.gpu_count)
		return true;
	log_error("%s", watch->devices.gpu_problem ? watch->devices.gpu_problem
						   : "there is no visible GPU");
	return false;
}

static void watch_by_nvml(struct watch *watch)
{
	const struct devices *devices = &watch->devices;
	struct gpu_device *gpus = xcalloc(GPU_MAX, sizeof(*gpus));

	for (size_t i = 0; i < devices->gpu_count; i++)
		gpus[i] = devices->gpus[i].gpu;
	if (devices->gpu_count)
		(void)nvml_prepare(&watch->nvml, gpus, devices->gpu_count,
				   &watch->trouble);
	free(gpus);
}

static int devices_watch_prepare(struct watch *watch,
				 const struct strlist *environment,
				 const struct process_state *state)
{
	int code;

	if (gethostname(watch->machine, sizeof(watch->machine) - 1) < 0)
		watch->machine[0] = '\0';
	devices_list(&watch->devices, watch->options, environment,
		     &host_roots_here);
	if (!has_devices(watch))
		return EXIT_AUTOFIT_FAILED;
	code = devices_needs_find(&watch->needs, &watch->devices,
				  watch->options, state);
	if (code != EXIT_DONE)
		return code;
	if (watch->needs.words)
		log_warning("%s", watch->needs.words);
	watch_by_nvml(watch);
	return open_outputs(watch) < 0 ? EXIT_AUTOFIT_FAILED : EXIT_DONE;
}

int devices_watch_command(const struct options *options,
			  const struct strlist *environment,
			  const struct process_state *state)
{
	struct watch *watch = xcalloc(1, sizeof(*watch));
	int code;

	watch->options = options;
	watch->json_fd = watch->signals = -1;
	code = devices_watch_prepare(watch, environment, state);
	if (code == EXIT_DONE)
		code = devices_watch_run(watch);
	nvml_close(watch->nvml);
	if (watch->json_fd >= 0)
		(void)close(watch->json_fd); /* every line was checked */
	if (watch->signals >= 0)
		(void)close(watch->signals);
	for (size_t i = 0; i < GPU_MAX; i++)
		free(watch->gpus[i].user);
	devices_needs_release(&watch->needs);
	devices_release(&watch->devices);
	free(watch);
	return code;
}
