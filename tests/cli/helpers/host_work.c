/* Holds memory of every kind as told by lines on stdin; "ok" after each. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE ((size_t)1 << 20)
#define PAGE 4096
#define CHILDREN_MAX 16

struct work {
	char *anon, *shared;
	size_t anon_bytes, shared_bytes;
	int fd; /* the file under way */
	char *const *argv;
	pid_t children[CHILDREN_MAX];
	size_t child_count;
};

static void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static char *map(size_t bytes, int flags, int fd, int protection)
{
	char *memory = mmap(NULL, bytes, protection, flags, fd, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	return memory;
}

static void write_pages(char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		((volatile char *)memory)[i] = 1;
}

static void read_pages(const char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		(void)((const volatile char *)memory)[i];
}

static void write_file(int fd, size_t bytes)
{
	static char piece[MEGABYTE];

	memset(piece, 1, sizeof(piece));
	for (size_t done = 0; done < bytes; done += sizeof(piece))
		if (write(fd, piece, sizeof(piece)) != sizeof(piece))
			fail("write");
}

static size_t file_bytes(int fd)
{
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		fail("fstat");
	return (size_t)info.st_size;
}

static void do_anon(struct work *work, const char *name, size_t bytes)
{
	(void)name;
	work->anon = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 PROT_READ | PROT_WRITE);
	work->anon_bytes = bytes;
	write_pages(work->anon, bytes);
}

/* Gives back the last anonymous memory. */
static void do_drop(struct work *work, const char *name, size_t bytes)
{
	(void)name;
	(void)bytes;
	if (munmap(work->anon, work->anon_bytes) < 0)
		fail("munmap");
	work->anon_bytes = 0;
}

static void do_spike(struct work *work, const char *name, size_t bytes)
{
	char *memory = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   PROT_READ | PROT_WRITE);

	(void)work;
	(void)name;
	write_pages(memory, bytes);
	if (munmap(memory, bytes) < 0)
		fail("munmap");
}

static void do_shared(struct work *work, const char *name, size_t bytes)
{
	(void)name;
	work->shared = map(bytes, MAP_SHARED | MAP_ANONYMOUS, -1,
			   PROT_READ | PROT_WRITE);
	work->shared_bytes = bytes;
	write_pages(work->shared, bytes);
}

/* One child that does its part, says so and then waits for its end. */
static void child_start(struct work *work, const char *name, size_t bytes)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0 || work->child_count == CHILDREN_MAX)
		fail("child");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!strcmp(name, "write"))
			write_pages(work->anon, bytes);
		else if (!strcmp(name, "read"))
			read_pages(work->shared, work->shared_bytes);
		else if (munmap(work->anon, work->anon_bytes) < 0)
			fail("munmap");
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		fail("fork");
	(void)close(ready[0]);
	work->children[work->child_count++] = pid;
}

static void do_child(struct work *work, const char *name, size_t bytes)
{
	child_start(work, name, bytes);
}

static void do_reap(struct work *work, const char *name, size_t bytes)
{
	(void)name;
	(void)bytes;
	while (work->child_count) {
		pid_t pid = work->children[--work->child_count];

		(void)kill(pid, SIGKILL);
		if (waitpid(pid, NULL, 0) != pid)
			fail("waitpid");
	}
}

static void do_create(struct work *work, const char *name, size_t bytes)
{
	work->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (work->fd < 0)
		fail(name);
	write_file(work->fd, bytes);
}

static void do_memfd(struct work *work, const char *name, size_t bytes)
{
	work->fd = memfd_create(name, MFD_CLOEXEC);
	if (work->fd < 0)
		fail("memfd_create");
	write_file(work->fd, bytes);
}

static void do_unlink(struct work *work, const char *name, size_t bytes)
{
	(void)work;
	(void)bytes;
	if (unlink(name) < 0)
		fail(name);
}

static void do_close(struct work *work, const char *name, size_t bytes)
{
	(void)name;
	(void)bytes;
	if (close(work->fd) < 0)
		fail("close");
	work->fd = -1;
}

/* Maps so much of the file under way and writes to all of that. */
static void do_map(struct work *work, const char *name, size_t bytes)
{
	(void)name;
	work->shared = map(bytes, MAP_SHARED, work->fd, PROT_READ | PROT_WRITE);
	work->shared_bytes = bytes;
	write_pages(work->shared, bytes);
}

/* A reader of a file that is there: maps it, reads all, keeps no fd. */
static void do_read(struct work *work, const char *name, size_t bytes)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	size_t size = file_bytes(fd);

	(void)work;
	(void)bytes;
	read_pages(map(size, MAP_SHARED, fd, PROT_READ), size);
	(void)close(fd);
}

static int before_exec(void *nothing)
{
	char byte = 0;

	(void)nothing;
	if (write(STDOUT_FILENO, "ok\n", 3) != 3)
		_exit(1);
	while (byte != '\n' && read(STDIN_FILENO, &byte, 1) == 1)
		continue;
	_exit(0);
}

/* What vfork and posix_spawn do: a child in this memory, which has not come
 * to exec yet and goes on at the next line. */
static void do_vfork(struct work *work, const char *name, size_t bytes)
{
	static char stack[65536] __attribute__((aligned(64)));
	pid_t pid = clone(before_exec, stack + sizeof(stack),
			  CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

	(void)work;
	(void)name;
	(void)bytes;
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		fail("clone");
}

/* So many copies of this process, one after the other, each for a moment. */
static void do_forks(struct work *work, const char *name, size_t bytes)
{
	const struct timespec moment = { 0, 500000 };

	(void)work;
	(void)name;
	for (size_t i = 0; i < bytes / MEGABYTE; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)nanosleep(&moment, NULL);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			fail("fork");
	}
}

static void do_exec(struct work *work, const char *name, size_t bytes)
{
	(void)name;
	(void)bytes;
	(void)execv("/proc/self/exe", work->argv);
	fail("execv");
}

static void do_burn(struct work *work, const char *name, size_t bytes)
{
	struct tms used;

	(void)work;
	(void)name;
	do {
		(void)times(&used);
	} while ((size_t)(used.tms_utime + used.tms_stime) < bytes / MEGABYTE);
}

static const struct {
	const char *verb;
	void (*act)(struct work *work, const char *name, size_t bytes);
} verbs[] = {
	{ "anon", do_anon },   { "spike", do_spike },   { "shared", do_shared },
	{ "child", do_child }, { "reap", do_reap },     { "create", do_create },
	{ "memfd", do_memfd }, { "unlink", do_unlink }, { "close", do_close },
	{ "map", do_map },     { "read", do_read },     { "vfork", do_vfork },
	{ "exec", do_exec },   { "burn", do_burn },     { "forks", do_forks },
	{ "drop", do_drop },
};

/* Byte by byte: nothing that follows may be lost over an exec. */
static int line_read(char *line, size_t size)
{
	size_t length = 0;
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte == '\n') {
			line[length] = '\0';
			return 1;
		}
		if (length < size - 1)
			line[length++] = byte;
	}
	return 0;
}

/* "verb name megabytes" */
static void line_do(struct work *work, char *line)
{
	char *rest = NULL;
	const char *verb = strtok_r(line, " ", &rest);
	const char *name = strtok_r(NULL, " ", &rest);
	const char *size = strtok_r(NULL, " ", &rest);
	size_t bytes = size ? strtoul(size, NULL, 10) * MEGABYTE : 0;

	for (size_t i = 0; verb && i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(verbs[i].verb, verb) != 0)
			continue;
		verbs[i].act(work, name ? name : "", bytes);
		return;
	}
	_exit(2);
}

int main(int argc, char **argv)
{
	struct work work = { .fd = -1, .argv = argv };
	char line[512];

	(void)argc;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(STDOUT_FILENO, "ok\n", 3) != 3)
		return 1;
	while (line_read(line, sizeof(line))) {
		line_do(&work, line);
		if (write(STDOUT_FILENO, "ok\n", 3) != 3)
			return 1;
	}
	return 0;
}
