/* Which CUDA devices a program sees, asked in a child that may die of it. */
/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/textfile.h"
#include "probes/observers/gpu/gpu.h"

#include "probes/observers/gpu/cuda_api.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_MS 10000
/* A killed process ends at once, unless it is stuck inside the kernel. */
#define REAP_MS 1000

/*
 * Written in two pieces, so that NVML failing costs the second one only. Both
 * fit into a pipe, so the child never waits for its reader.
 */
struct cuda_answer {
	struct cuda_listing listing;
	uint64_t free_bytes[GPU_MAX];
};

static_assert(sizeof(struct cuda_answer) < 65536, "more than a pipe holds");

static void add_free_bytes(struct cuda_answer *answer)
{
	struct nvml *nvml = NULL;

	if (nvml_open(&nvml, NULL) < 0)
		return;
	for (int i = 0; i < answer->listing.count; i++) {
		uint64_t total_bytes = 0;
		uint64_t free_bytes = 0;

		if (nvml_memory(nvml, answer->listing.devices[i].uuid,
				&total_bytes, &free_bytes, NULL) == 0)
			answer->free_bytes[i] = free_bytes;
	}
	nvml_close(nvml);
}

/*
 * Handlers are the parent's and must not run here; a crash must look like
 * one, without a core file; whatever the driver prints is nobody's output.
 */
static void cuda_become_disposable(pid_t parent)
{
	static const struct rlimit none = { 0, 0 };
	int null;

	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN) {
			action.sa_handler = SIG_DFL;
			action.sa_flags = 0;
			(void)sigaction(number, &action, NULL);
		}
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)setrlimit(RLIMIT_CORE, &none);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		(void)dup2(null, fd);
}

__attribute__((noreturn)) static void
run_child(const struct cuda_lookup *lookup, int fd)
{
	struct cuda_answer answer = { 0 };
	int result;

	cuda_listing_fill(lookup->library, &answer.listing);
	result = file_write_all(fd, &answer.listing, sizeof(answer.listing));
	if (result == 0 && answer.listing.count) {
		add_free_bytes(&answer);
		result = file_write_all(fd, answer.free_bytes,
					sizeof(answer.free_bytes));
	}
	/* No atexit handlers: they are the parent's. */
	_exit(result == 0 ? 0 : 1);
}

/* A pipe whose ends are not 0 to 2, which the child gives away. */
static int make_pipe(int ends[2])
{
	int low[2];
	int result = 0;

	if (pipe2(low, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		if (ends[i] < 0 && !result)
			result = -errno;
		(void)close(low[i]);
	}
	for (int i = 0; i < 2 && result; i++)
		if (ends[i] >= 0)
			(void)close(ends[i]);
	return result;
}

static pid_t cuda_start_child(const struct cuda_lookup *lookup,
			      const int ends[2])
{
	pid_t parent = getpid();
	sigset_t all, before;
	pid_t pid;

	(void)sigfillset(&all);
	/* Blocked: no handler of the parent may run in the child. */
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		cuda_become_disposable(parent);
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
		run_child(lookup, ends[1]);
	}
	if (pid < 0)
		pid = -errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Read until the end, the size or the deadline. How many bytes came. */
static size_t cuda_read_answer(int fd, struct cuda_answer *answer,
			       int64_t deadline_ms)
{
	size_t got = 0;

	while (got < sizeof(*answer)) {
		struct pollfd waited = { .fd = fd, .events = POLLIN };
		int64_t left = deadline_ms - clock_ms();
		int ready = poll(&waited, 1, left > 0 ? (int)left : 0);
		ssize_t count;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			break;
		count = read(fd, (char *)answer + got, sizeof(*answer) - got);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		got += (size_t)count;
	}
	return got;
}

/*
 * Wait for exactly this child, but not for ever: one that is stuck inside
 * the kernel ends when the driver lets go of it, even by SIGKILL.
 */
static bool cuda_reap(pid_t pid, int64_t deadline_ms, int *status)
{
	static const struct timespec pause = { 0, 2000000 };

	for (;;) {
		pid_t done = waitpid(pid, status, WNOHANG);

		if (done == pid)
			return true;
		if (done < 0 && errno != EINTR)
			return false; /* SIGCHLD is ignored: nothing to reap */
		if (clock_ms() >= deadline_ms)
			return false;
		(void)nanosleep(&pause, NULL); /* a shorter one does no harm */
	}
}

static const char *remedy_of(unsigned int result)
{
	static const struct {
		unsigned int first, last;
		const char *remedy;
	} rows[] = {
		{ CUDA_API_STUB_LIBRARY, CUDA_API_STUB_LIBRARY,
		  "the CUDA toolkit's stub of libcuda.so.1 was loaded; take "
		  "its folder out of LD_LIBRARY_PATH" },
		{ CUDA_API_DEVICE_UNAVAILABLE, CUDA_API_DEVICE_UNAVAILABLE,
		  "another process holds the device exclusively" },
		{ CUDA_API_OPERATING_SYSTEM, CUDA_API_OPERATING_SYSTEM,
		  "check that you may open /dev/nvidia*" },
		{ CUDA_API_SYSTEM_NOT_READY, CUDA_API_SYSTEM_NOT_READY,
		  "start the nvidia-fabricmanager service" },
		{ CUDA_API_SYSTEM_DRIVER_MISMATCH,
		  CUDA_API_SYSTEM_DRIVER_MISMATCH,
		  "the driver was updated while loaded; reboot or reload the "
		  "nvidia kernel modules" },
		{ CUDA_API_COMPAT_NOT_SUPPORTED_ON_DEVICE,
		  CUDA_API_COMPAT_NOT_SUPPORTED_ON_DEVICE,
		  "take the cuda-compat libraries out of LD_LIBRARY_PATH" },
		{ CUDA_API_MPS_CONNECTION_FAILED,
		  CUDA_API_MPS_CLIENT_TERMINATED,
		  "check the MPS daemon (CUDA_MPS_PIPE_DIRECTORY)" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (result >= rows[i].first && result <= rows[i].last)
			return rows[i].remedy;
	return "check with nvidia-smi, or use --device host";
}

static void make_printable(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

static int cuda_take_devices(struct cuda_answer *answer,
			     struct gpu_device devices[GPU_MAX],
			     struct error *err)
{
	int count = answer->listing.count;

	if (count < 0 || count > GPU_MAX)
		return error_set(err, -EIO,
				 "the NVIDIA driver broke the process that "
				 "lists devices: %d devices",
				 count);
	for (int i = 0; i < count; i++) {
		struct gpu_device *device = &answer->listing.devices[i];

		make_printable(device->uuid, sizeof(device->uuid));
		make_printable(device->name, sizeof(device->name));
		device->index = i;
		/* NVML counts the board, of which a program sees less. */
		device->free_bytes = answer->free_bytes[i];
		if (device->free_bytes > device->total_bytes)
			device->free_bytes = device->total_bytes;
		devices[i] = *device;
	}
	return count;
}

static int cuda_take_answer(struct cuda_answer *answer,
			    struct gpu_device devices[GPU_MAX],
			    struct error *err)
{
	struct cuda_listing *listing = &answer->listing;

	make_printable(listing->text, sizeof(listing->text));
	switch (listing->stage) {
	case CUDA_STAGE_LISTED:
		return cuda_take_devices(answer, devices, err);
	case CUDA_STAGE_NO_LIBRARY:
		return 0;
	case CUDA_STAGE_LIBRARY_BROKEN:
		return error_set(err, -EIO,
				 "cannot load the NVIDIA driver library: %s",
				 listing->text);
	case CUDA_STAGE_NOT_STARTED:
		if (listing->result == CUDA_API_NO_DEVICE)
			return 0;
		return error_set(err, -EIO,
				 "the NVIDIA driver does not start: CUDA error "
				 "%u (%s); %s",
				 listing->result, listing->text,
				 remedy_of(listing->result));
	default:
		return error_set(err, -EIO,
				 "the NVIDIA driver cannot describe its "
				 "devices: CUDA error %u (%s); %s",
				 listing->result, listing->text,
				 remedy_of(listing->result));
	}
}

/* The child ended without an answer. */
static int blame(bool is_reaped, int status, struct error *err)
{
	int number = is_reaped && WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == SIGINT || number == SIGTERM || number == SIGHUP ||
	    number == SIGQUIT)
		return error_set(err, -EINTR,
				 "listing devices was interrupted (signal %d)",
				 number);
	if (number)
		return error_set(err, -EIO,
				 "the NVIDIA driver crashed while listing "
				 "devices (signal %d); check with nvidia-smi, "
				 "or use --device host",
				 number);
	return error_set(err, -EIO,
			 "the NVIDIA driver ended the process that lists "
			 "devices; check with nvidia-smi, or use --device "
			 "host");
}

int cuda_devices_look_up(const struct cuda_lookup *lookup,
			 struct gpu_device devices[GPU_MAX], struct error *err)
{
	struct cuda_answer answer = { 0 };
	int64_t deadline_ms = clock_ms() + lookup->deadline_ms;
	bool is_late, is_reaped;
	int ends[2] = { -1, -1 };
	int status = 0;
	size_t got;
	pid_t pid;
	int result;

	result = make_pipe(ends);
	if (result < 0)
		return error_set_errno(err, result, "cannot make a pipe");
	pid = cuda_start_child(lookup, ends);
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return error_set_errno(err, pid,
				       "cannot start a process that lists "
				       "devices");
	}
	got = cuda_read_answer(ends[0], &answer, deadline_ms);
	(void)close(ends[0]);
	/* It ends by itself once all is said, unless the driver hangs. */
	is_reaped = cuda_reap(pid, deadline_ms, &status);
	is_late = !is_reaped && clock_ms() >= deadline_ms;
	if (is_late) {
		(void)kill(pid, SIGKILL);
		(void)cuda_reap(pid, clock_ms() + REAP_MS, &status);
	}
	if (got >= sizeof(answer.listing))
		return cuda_take_answer(&answer, devices, err);
	if (is_late)
		return error_set(err, -ETIMEDOUT,
				 "the NVIDIA driver did not answer within "
				 "%g s while listing devices; check with "
				 "nvidia-smi, or use --device host",
				 lookup->deadline_ms / 1000.0);
	return blame(is_reaped, status, err);
}

int cuda_devices_list(struct gpu_device devices[GPU_MAX], struct error *err)
{
	static const struct cuda_lookup lookup = { CUDA_LIBRARY, DEADLINE_MS };

	return cuda_devices_look_up(&lookup, devices, err);
}
