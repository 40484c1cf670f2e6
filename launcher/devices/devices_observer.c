/* NVML asked again and again, in a process of its own that may hang or die. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_observer.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* So an answer never waits for its reader, nor is it ever read in part. */
static_assert(sizeof(struct devices_readings) < 65536, "more than fits");

struct devices_observer {
	const struct devices *devices;
	pid_t pid;    /* 0: none */
	pid_t killed; /* the one before, still to be waited for; 0: none */
	int fd;       /* a socket of records; -1: none */
};

static void devices_observer_note(struct devices_reading *reading,
				  const struct error *err)
{
	if (!reading->problem[0])
		(void)snprintf(reading->problem, sizeof(reading->problem), "%s",
			       err->message);
}

static void read_processes(struct nvml *nvml, const char *uuid,
			   struct devices_reading *reading)
{
	struct gpu_process found[GPU_PROCESSES_MAX];
	struct error err = ERROR_INIT;
	int count = nvml_processes(nvml, uuid, found, &err);

	if (count < 0) {
		devices_observer_note(reading, &err);
		return;
	}
	reading->process_count = count;
	for (int i = 0; i < count; i++)
		if (i == 0 || found[i].used_bytes > reading->largest.used_bytes)
			reading->largest = found[i];
}

static void read_gpu(struct nvml *nvml, const char *uuid,
		     struct devices_reading *reading)
{
	struct error err = ERROR_INIT;

	if (nvml_memory(nvml, uuid, &reading->total_bytes, &reading->free_bytes,
			&err) < 0)
		devices_observer_note(reading, &err);
	read_processes(nvml, uuid, reading);
}

/* NVML that cannot be opened now may be there at the next look. */
static void read_all(struct nvml **nvml, const struct devices *devices,
		     struct devices_readings *readings)
{
	struct error err = ERROR_INIT;
	int result = *nvml ? 0 : nvml_open(nvml, &err);

	memset(readings, 0, sizeof(*readings));
	for (size_t i = 0; i < devices->gpu_count; i++) {
		struct devices_reading *reading = &readings->gpus[i];

		reading->process_count = -1;
		if (result < 0)
			devices_observer_note(reading, &err);
		else
			read_gpu(*nvml, devices->gpus[i].gpu.uuid, reading);
	}
}

__attribute__((noreturn)) static void run(const struct devices *devices, int fd)
{
	struct devices_readings *readings = xmalloc(sizeof(*readings));
	struct nvml *nvml = NULL;
	char asked;

	while (recv(fd, &asked, sizeof(asked), 0) == sizeof(asked)) {
		read_all(&nvml, devices, readings);
		if (send(fd, readings, sizeof(*readings), MSG_NOSIGNAL) < 0)
			break;
	}
	/* No atexit handlers: they are the parent's. */
	_exit(0);
}

/*
 * A crash leaves no core file; what the driver prints is nobody's output, and
 * who reads the parent's output sees its end when the parent ends.
 */
static void devices_observer_become_disposable(pid_t parent)
{
	static const struct rlimit none = { 0, 0 };
	int null;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)setrlimit(RLIMIT_CORE, &none);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		(void)dup2(null, fd);
}

static int start(struct devices_observer *observer, struct error *err)
{
	pid_t parent = getpid();
	int ends[2];
	pid_t pid;

	if (observer->killed > 0)
		(void)waitpid(observer->killed, NULL, WNOHANG);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(err, -errno, "cannot make a socket");
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		devices_observer_become_disposable(parent);
		run(observer->devices, ends[1]);
	}
	(void)close(ends[1]);
	if (pid < 0) {
		int result = error_set_errno(err, -errno,
					     "cannot start a process that "
					     "watches the GPUs");

		(void)close(ends[0]);
		return result;
	}
	observer->pid = pid;
	observer->fd = ends[0];
	return 0;
}

/* One that is stuck inside the kernel ends when the driver lets go of it. */
static void stop(struct devices_observer *observer)
{
	if (observer->fd >= 0)
		(void)close(observer->fd);
	if (observer->pid > 0) {
		(void)kill(observer->pid, SIGKILL);
		observer->killed = observer->pid;
	}
	observer->fd = -1;
	observer->pid = 0;
}

static int devices_observer_bury(struct devices_observer *observer,
				 struct error *err)
{
	stop(observer);
	return error_set(err, -EIO,
			 "the NVIDIA driver ended the process that watches the "
			 "GPUs; check with nvidia-smi");
}

struct devices_observer *devices_observer_open(const struct devices *devices)
{
	struct devices_observer *observer = xcalloc(1, sizeof(*observer));

	observer->devices = devices;
	observer->fd = -1;
	return observer;
}

void devices_observer_close(struct devices_observer *observer)
{
	if (!observer)
		return;
	stop(observer);
	free(observer);
}

int devices_observer_fd(const struct devices_observer *observer)
{
	return observer->fd;
}

int devices_observer_ask(struct devices_observer *observer, struct error *err)
{
	char asked = 1;
	int result = observer->fd < 0 ? start(observer, err) : 0;

	if (result < 0 ||
	    send(observer->fd, &asked, sizeof(asked), MSG_NOSIGNAL) > 0)
		return result;
	return devices_observer_bury(observer, err);
}

static void make_sound(struct devices_reading *reading)
{
	reading->problem[sizeof(reading->problem) - 1] = '\0';
	if (reading->free_bytes > reading->total_bytes)
		reading->free_bytes = reading->total_bytes;
	if (reading->process_count < 0 ||
	    reading->process_count > GPU_PROCESSES_MAX)
		reading->process_count = -1;
}

int devices_observer_take(struct devices_observer *observer,
			  struct devices_readings *readings, struct error *err)
{
	ssize_t count;

	do
		count = recv(observer->fd, readings, sizeof(*readings), 0);
	while (count < 0 && errno == EINTR);
	if (count != (ssize_t)sizeof(*readings))
		return devices_observer_bury(observer, err);
	for (int i = 0; i < GPU_MAX; i++)
		make_sound(&readings->gpus[i]);
	return 0;
}
