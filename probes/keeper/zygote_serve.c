/* The zygote's own side, inside Python: libautofit_zygote.so. */
/* SPDX-License-Identifier: MIT */
#include "probes/keeper/zygote_serve.h"

#include "base/textfile.h"
#include "probes/channel/channel.h"
#include "probes/keeper/keeper_main.h"
#include "probes/keeper/keeper_parcel.h"
#include "probes/keeper/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Until the end of its parent has made the keeper a child of autofit. */
#define ADOPTION_MS 2000
#define PARCEL_MAX (64U << 20)

/* One order, with its descriptors: named as they are sent. */
struct service {
	int socket;
	struct zygote_order order;
	int fds[ZYGOTE_DESCRIPTORS_MAX];
	size_t fd_count;
	struct keeper_parcel parcel;
	struct spawn_copy copy; /* first of the command's own way */
	jmp_buf command;
};

static void answer(int socket, enum zygote_event event, int32_t value)
{
	const struct zygote_message message = { .event = (int32_t)event,
						.value = value };

	(void)send(socket, &message, sizeof(message), MSG_NOSIGNAL);
}

static void take_descriptors(struct service *service, struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	service->fd_count = 0;
	if (!header || header->cmsg_level != SOL_SOCKET ||
	    header->cmsg_type != SCM_RIGHTS)
		return;
	service->fd_count =
		(header->cmsg_len - CMSG_LEN(0)) / sizeof(*service->fds);
	memcpy(service->fds, CMSG_DATA(header),
	       service->fd_count * sizeof(*service->fds));
}

/* False: autofit is gone. */
static bool wait_for_order(struct service *service)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(service->fds))];
	} control;
	struct iovec part = { &service->order, sizeof(service->order) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t got;

	do
		got = recvmsg(service->socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(service->order))
		return false;
	take_descriptors(service, &message);
	return service->fd_count == 4 + (size_t)service->order.has_channel +
					    (size_t)service->order.lock_count;
}

static int read_parcel(struct service *service)
{
	struct stat info;
	char *data;
	int result = -EINVAL;

	if (fstat(service->fds[0], &info) < 0 || info.st_size <= 0 ||
	    info.st_size > (off_t)PARCEL_MAX)
		return -EINVAL;
	data = malloc((size_t)info.st_size);
	if (data && pread(service->fds[0], data, (size_t)info.st_size, 0) ==
			    (ssize_t)info.st_size)
		result = keeper_parcel_read(&service->parcel, data,
					    (size_t)info.st_size);
	free(data);
	return result;
}

/* In the command: back into the frame that the zygote waits in. */
static void go_on(struct spawn_copy *copy) __attribute__((noreturn));

static void go_on(struct spawn_copy *copy)
{
	struct service *service =
		(struct service *)((char *)copy -
				   offsetof(struct service, copy));

	longjmp(service->command, 1);
}

static void wait_for_adoption(pid_t autofit)
{
	const struct timespec pause = { 0, 1000000 };

	for (int i = 0; i < ADOPTION_MS && getppid() != autofit; i++)
		(void)nanosleep(&pause, NULL);
}

/* The grandchild. keeper_main() ends at once when autofit is not its parent. */
static void service_keep(struct service *service) __attribute__((noreturn));

static void service_keep(struct service *service)
{
	struct keeper_spec *spec = &service->parcel.spec;
	const int *fds = service->fds;
	size_t at = 4;
	const struct keeper_birth birth = {
		.control = fds[1],
		.out = fds[2],
		.err = fds[3],
		.autofit = service->order.autofit,
		.copy = &service->copy,
	};

	if (service->order.has_channel)
		spec->channel_fd = &fds[at++];
	spec->lock_fds = fds + at;
	spec->lock_count = (size_t)service->order.lock_count;
	wait_for_adoption(birth.autofit);
	keeper_main(spec, &birth);
}

/* The helper: its end hands the keeper over. */
static void service_help(struct service *service) __attribute__((noreturn));

static void service_help(struct service *service)
{
	pid_t keeper = fork();

	if (keeper == 0)
		service_keep(service);
	if (keeper < 0)
		answer(service->socket, ZYGOTE_FAILED, errno);
	else
		answer(service->socket, ZYGOTE_FORKED, (int32_t)keeper);
	_exit(0);
}

/* What of autofit's the command would otherwise keep open. */
static void set_copy(struct service *service)
{
	struct spawn_copy *copy = &service->copy;

	copy->go_on = go_on;
	copy->foreign = service->fds + 1;
	copy->foreign_count = service->fd_count - 1;
	(void)prctl(PR_GET_NAME, copy->name, 0, 0, 0);
}

/* Returns in the zygote alone. */
static void service_fork(struct service *service)
{
	pid_t helper = fork();

	if (helper == 0)
		service_help(service);
	if (helper < 0)
		answer(service->socket, ZYGOTE_FAILED, errno);
	else
		(void)waitpid(helper, NULL, 0);
}

static void service_obey(struct service *service)
{
	int result = read_parcel(service);
	sigset_t all;

	(void)close(service->fds[0]);
	set_copy(service);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &service->copy.mask);
	if (result == 0)
		service_fork(service);
	else
		answer(service->socket, ZYGOTE_FAILED, -result);
	(void)sigprocmask(SIG_SETMASK, &service->copy.mask, NULL);
	for (size_t i = 1; i < service->fd_count; i++)
		(void)close(service->fds[i]);
}

static void service_add_texts(struct strbuf *out, const struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		strbuf_add(out, list->items[i], strlen(list->items[i]) + 1);
}

/* In the command: all that it is to know. */
static void service_begin(const struct service *service, struct strbuf *text)
{
	if (!service->order.has_channel)
		(void)close(service->socket);
	strbuf_addu(text, service->parcel.spec.argv->count);
	strbuf_addch(text, '\0');
	service_add_texts(text, service->parcel.spec.argv);
	service_add_texts(text, service->parcel.spec.environment);
}

const char *autofit_zygote_serve(int socket, size_t *size)
{
	static struct service service;
	static struct strbuf text;

	if (setjmp(service.command)) {
		service_begin(&service, &text);
		*size = text.length;
		return text.data;
	}
	service.socket = socket;
	answer(socket, ZYGOTE_READY, 0);
	while (wait_for_order(&service))
		service_obey(&service);
	_exit(0);
}
