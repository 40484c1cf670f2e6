/* A process that has done a command's imports, and forks probes of it. */
/* SPDX-License-Identifier: MIT */
#include "probes/keeper/zygote.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/textfile.h"
#include "probes/keeper/keeper_main.h"
#include "probes/keeper/keeper_parcel.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* To fork a copy of a large process takes some milliseconds. */
#define FORK_MS 10000

struct zygote {
	pid_t pid;
	int control;
	enum zygote_state state;
	char refusal[ZYGOTE_TEXT_MAX];
};

static int start_process(struct zygote *zygote, const struct zygote_spec *spec,
			 int control)
{
	const struct keeper_spec command = {
		.argv = spec->argv,
		.environment = spec->environment,
		.state = spec->state,
		.channel_fd = &control,
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn_pipes pipes = { .out = null, .err = null };
	enum spawn_step failed;
	sigset_t all, before;
	int result =
		null < 0 || pipe2(pipes.report, O_CLOEXEC) < 0 ? -errno : 0;

	assert(!zygote->pid);
	/* No handler of autofit's may run in the child. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	if (result == 0)
		result = spawn_command(&zygote->pid, &command, &pipes, &failed);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (null >= 0)
		(void)close(null);
	return result;
}

int zygote_start(struct zygote **zygote, const struct zygote_spec *spec,
		 struct error *err)
{
	struct zygote *made = xcalloc(1, sizeof(*made));
	int control[2] = { -1, -1 };
	int result = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				control) < 0
			     ? -errno
			     : 0;

	if (result == 0)
		result = start_process(made, spec, control[1]);
	if (control[1] >= 0)
		(void)close(control[1]);
	made->control = control[0];
	if (result < 0) {
		made->pid = 0;
		zygote_close(made);
		*zygote = NULL;
		return error_set_errno(err, result, "cannot start a process");
	}
	*zygote = made;
	return 0;
}

pid_t zygote_pid(const struct zygote *zygote)
{
	return zygote->pid;
}

static void end_service(struct zygote *zygote, const char *why)
{
	if (zygote->state == ZYGOTE_OVER)
		return;
	assert(zygote->state == ZYGOTE_IMPORTS ||
	       zygote->state == ZYGOTE_SERVES);
	zygote->state = ZYGOTE_OVER;
	(void)snprintf(zygote->refusal, sizeof(zygote->refusal), "%s", why);
	for (char *c = zygote->refusal; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
}

/* False: none came in time, or none will come any more. */
static bool receive(struct zygote *zygote, struct zygote_message *message,
		    int wait_ms)
{
	struct pollfd waiting = { .fd = zygote->control, .events = POLLIN };
	ssize_t got;

	assert(zygote->control >= 0);
	if (poll(&waiting, 1, wait_ms) <= 0)
		return false;
	got = recv(zygote->control, message, sizeof(*message), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got != (ssize_t)sizeof(*message)) {
		end_service(zygote, "it ended by itself");
		return false;
	}
	message->text[ZYGOTE_TEXT_MAX - 1] = '\0';
	return true;
}

enum zygote_state zygote_look(struct zygote *zygote, int wait_ms)
{
	struct zygote_message message;

	if (zygote->state == ZYGOTE_OVER ||
	    !receive(zygote, &message,
		     zygote->state == ZYGOTE_IMPORTS ? wait_ms : 0))
		return zygote->state;
	if (message.event == ZYGOTE_READY && zygote->state == ZYGOTE_IMPORTS)
		zygote->state = ZYGOTE_SERVES;
	else
		end_service(zygote, message.event == ZYGOTE_REFUSES
					    ? message.text
					    : "it does not keep its protocol");
	return zygote->state;
}

const char *zygote_refusal(const struct zygote *zygote)
{
	return zygote->refusal;
}

/* A file in memory that holds the spec; -errno. */
static int pack(const struct keeper_spec *spec)
{
	struct strbuf text = STRBUF_INIT;
	int file = memfd_create("autofit", MFD_CLOEXEC);
	int result = file < 0 ? -errno : 0;

	keeper_parcel_write(&text, spec);
	if (result == 0)
		result = file_write_all(file, text.data, text.length);
	strbuf_release(&text);
	if (result == 0)
		return file;
	if (file >= 0)
		(void)close(file);
	return result;
}

static int send_order(const struct zygote *zygote,
		      const struct keeper_spec *spec,
		      const struct keeper_birth *birth, int parcel)
{
	struct zygote_order order = {
		.autofit = (int32_t)getpid(),
		.has_channel = spec->channel_fd != NULL,
		.lock_count = (int32_t)spec->lock_count,
	};
	int fds[ZYGOTE_DESCRIPTORS_MAX] = { parcel, birth->control, birth->out,
					    birth->err };
	size_t count = 4;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(fds))];
	} control = { .bytes = { 0 } };
	struct iovec part = { &order, sizeof(order) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header = &control.header;

	if (spec->channel_fd)
		fds[count++] = *spec->channel_fd;
	for (size_t i = 0; i < spec->lock_count; i++)
		fds[count++] = spec->lock_fds[i];
	assert(count <= ZYGOTE_DESCRIPTORS_MAX);
	message.msg_control = control.bytes;
	message.msg_controllen = CMSG_SPACE(count * sizeof(*fds));
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(*fds));
	memcpy(CMSG_DATA(header), fds, count * sizeof(*fds));
	return sendmsg(zygote->control, &message, MSG_NOSIGNAL) < 0 ? -errno
								    : 0;
}

static pid_t wait_for_fork(struct zygote *zygote)
{
	int64_t deadline = clock_ms() + FORK_MS;
	struct zygote_message message = { .event = 0 };
	int64_t left = FORK_MS;

	while (left > 0 && zygote->state == ZYGOTE_SERVES &&
	       !receive(zygote, &message, (int)left))
		left = deadline - clock_ms();
	if (message.event == ZYGOTE_FORKED && message.value > 1)
		return message.value;
	end_service(zygote, message.event == ZYGOTE_FAILED
				    ? strerror(message.value)
				    : "it forked no probe");
	return -EPROTO;
}

pid_t zygote_fork(struct zygote *zygote, const struct keeper_spec *spec,
		  const struct keeper_birth *birth)
{
	int parcel;
	int result = 0;

	assert(zygote->state == ZYGOTE_SERVES);
	if (spec->lock_count > ZYGOTE_LOCKS_MAX)
		return -E2BIG;
	parcel = pack(spec);
	if (parcel < 0)
		return parcel;
	result = send_order(zygote, spec, birth, parcel);
	(void)close(parcel);
	if (result == 0)
		return wait_for_fork(zygote);
	end_service(zygote, strerror(-result));
	return result;
}

void zygote_close(struct zygote *zygote)
{
	if (!zygote)
		return;
	if (zygote->control >= 0)
		(void)close(zygote->control);
	if (zygote->pid > 0) {
		(void)kill(zygote->pid, SIGKILL);
		(void)waitpid(zygote->pid, NULL, 0);
	}
	free(zygote);
}
