/* Several ranks of one training, as torchrun starts them. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BARRIER_VARIABLE "SIM_TRAINER_BARRIER"
#define RANKS_MAX 64

/* In a file that all ranks inherit. Nobody is killed while inside. */
struct barrier {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int members, arrived, round;
	pid_t dying; /* will be dead soon after they all met */
};

static struct barrier *map_barrier(int fd)
{
	struct barrier *barrier =
		mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);

	if (barrier == MAP_FAILED) {
		perror("barrier");
		exit(1);
	}
	return barrier;
}

static struct barrier *make_barrier(unsigned int members, int *fd)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;
	struct barrier *barrier;

	*fd = memfd_create("sim_trainer", 0);
	if (*fd < 0 || ftruncate(*fd, (off_t)sizeof(*barrier)) < 0) {
		perror("memfd_create");
		exit(1);
	}
	barrier = map_barrier(*fd);
	if (pthread_mutexattr_init(&mutex) ||
	    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) ||
	    pthread_mutex_init(&barrier->lock, &mutex) ||
	    pthread_condattr_init(&condition) ||
	    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED) ||
	    pthread_cond_init(&barrier->changed, &condition))
		abort();
	barrier->members = members;
	return barrier;
}

static void open_round(struct barrier *barrier)
{
	barrier->arrived = 0;
	barrier->round++;
	(void)pthread_cond_broadcast(&barrier->changed);
}

void ranks_meet(const struct trainer *trainer)
{
	struct barrier *barrier = trainer->barrier;
	unsigned int round;

	if (!barrier)
		return;
	(void)pthread_mutex_lock(&barrier->lock);
	round = barrier->round;
	if (++barrier->arrived >= barrier->members)
		open_round(barrier);
	while (round == barrier->round)
		(void)pthread_cond_wait(&barrier->changed, &barrier->lock);
	(void)pthread_mutex_unlock(&barrier->lock);
}

/* Dead, though perhaps not reaped. */
static void wait_for_death(pid_t pid)
{
	struct pollfd entry = {
		.fd = (int)syscall(SYS_pidfd_open, pid, 0),
		.events = POLLIN,
	};

	if (entry.fd < 0)
		return; /* already gone */
	while (poll(&entry, 1, -1) < 0 && errno == EINTR)
		;
	(void)close(entry.fd);
}

static void leave(struct barrier *barrier)
{
	(void)pthread_mutex_lock(&barrier->lock);
	barrier->members--;
	if (barrier->members && barrier->arrived >= barrier->members)
		open_round(barrier);
	(void)pthread_mutex_unlock(&barrier->lock);
}

void ranks_kill(const struct trainer *trainer)
{
	struct barrier *barrier = trainer->barrier;

	if (!barrier) {
		(void)raise(SIGKILL);
		return;
	}
	if (trainer->rank == trainer->options.kill_rank)
		barrier->dying = getpid();
	ranks_meet(trainer);
	if (trainer->rank == trainer->options.kill_rank) {
		leave(barrier);
		(void)raise(SIGKILL);
	}
	wait_for_death(barrier->dying);
}

void ranks_join(struct trainer *trainer)
{
	const char *fd = getenv(BARRIER_VARIABLE);
	const char *rank = getenv("LOCAL_RANK");

	if (trainer->barrier || !fd || !rank)
		return;
	trainer->barrier = map_barrier((int)strtol(fd, NULL, 10));
	trainer->rank = (int)strtol(rank, NULL, 10);
}

static void set_number(const char *name, long number)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%ld", number);
	if (setenv(name, text, 1) < 0)
		abort();
}

static void become(struct trainer *trainer, int rank, int fd,
		   int (*run)(struct trainer *))
{
	/* Not without the launcher. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_number("RANK", rank);
	set_number("LOCAL_RANK", rank);
	set_number("WORLD_SIZE", trainer->options.ranks);
	set_number(BARRIER_VARIABLE, fd);
	if (!trainer->options.no_exec) {
		(void)execv("/proc/self/exe", trainer->argv);
		perror("execv");
		_exit(1);
	}
	trainer->rank = rank;
	exit(run(trainer));
}

struct launch {
	pid_t pids[RANKS_MAX];
	long count;
	bool has_failed;
};

static void note_end(struct launch *launch, long rank, int status)
{
	int code =
		WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);

	launch->pids[rank] = 0;
	if (!code || launch->has_failed)
		return;
	launch->has_failed = true;
	(void)fprintf(stderr, "failed (exitcode: %d) local_rank: %ld\n", code,
		      rank);
}

static void wait_for_ranks(struct launch *launch, const struct options *options)
{
	pid_t spared = options->zombie ? launch->pids[options->kill_rank] : 0;
	siginfo_t info;

	/* One that is to stay a zombie is looked at last. */
	for (long rank = 0; rank < launch->count && spared; rank++) {
		if (launch->pids[rank] == spared)
			continue;
		(void)waitpid(launch->pids[rank], NULL, 0);
		launch->pids[rank] = 0;
	}
	while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0) {
		int status = 0;
		pid_t pid = waitpid(info.si_pid, &status, 0);

		for (long rank = 0; rank < launch->count; rank++)
			if (launch->pids[rank] == pid)
				note_end(launch, rank, status);
		for (long rank = 0; rank < launch->count; rank++)
			if (launch->has_failed && !options->survive &&
			    launch->pids[rank])
				(void)kill(launch->pids[rank], SIGTERM);
	}
}

int ranks_launch(struct trainer *trainer, int (*run)(struct trainer *))
{
	struct launch launch = { .count = trainer->options.ranks };
	int fd;

	if (launch.count > RANKS_MAX ||
	    trainer->options.kill_rank >= launch.count) {
		(void)fputs("error: too many ranks\n", stderr);
		return BAD_USAGE;
	}
	trainer->barrier = make_barrier((unsigned int)launch.count, &fd);
	/* NVML may be used before a fork; CUDA may not. */
	if (trainer->options.no_exec && trainer->options.ask_nvml)
		driver_ask_nvml(trainer);
	(void)fflush(NULL);
	for (long rank = 0; rank < launch.count; rank++) {
		launch.pids[rank] = fork();
		if (launch.pids[rank] < 0)
			abort();
		if (!launch.pids[rank])
			become(trainer, (int)rank, fd, run);
	}
	wait_for_ranks(&launch, &trainer->options);
	return launch.has_failed && !trainer->options.survive;
}
