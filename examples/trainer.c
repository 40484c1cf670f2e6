/* A small trainer in C whose memory is a known function of the batch. */
/* SPDX-License-Identifier: MIT */
/*
 * A network with one hidden layer learns a fixed target by stochastic gradient
 * descent with momentum. Each sample keeps its feature map from the forward to
 * the backward pass, as the activations of any network do. With B samples per
 * micro-batch, --fixed-mib F and --per-sample-kib K the program holds
 *
 *     bytes(B) = 64 KiB + F MiB + K KiB * B     (rounded up to whole pages)
 *
 * of anonymous memory, all of it written; plus --spike-mib while the step
 * --spike-step runs, plus --worker-mib in each of the --workers. --print-bytes
 * prints the sum. The C library and the stack add about 100 KiB per process.
 * Every piece comes from mmap, so that no allocator keeps or rounds anything.
 * The number of micro-batches that are accumulated changes no memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INPUTS = 32, HIDDEN = 32, EXAMPLES = 256, WORKERS_MAX = 64 };
enum { EXIT_USAGE = 2 };

/* A worker whose trainer was killed must not stay for ever. */
#define WORKER_SECONDS 600

#define LEARNING_RATE 0.05F
#define MOMENTUM 0.9F

struct settings {
	int64_t batch_size;
	int64_t grad_accum;
	int64_t steps;
	int64_t fixed_mib;
	int64_t per_sample_kib;
	int64_t limit_mib;
	int64_t step_ms;
	int64_t print_every;
	int64_t fail_at_step;
	int64_t hang_at_step;
	int64_t exit_code;
	int64_t spike_step;
	int64_t spike_mib;
	int64_t workers;
	int64_t worker_mib;
	int64_t oom_text;    /* a flag */
	int64_t print_bytes; /* a flag */
	const char *save;
};

struct option_row {
	const char *name;
	char letter;
	enum { OPTION_NUMBER, OPTION_FLAG, OPTION_TEXT } kind;
	size_t offset;
	int64_t least, most;
	const char *help;
};

#define NUMBER(name, letter, field, least, most, help)                         \
	{                                                                      \
		name, letter, OPTION_NUMBER, offsetof(struct settings, field), \
			least, most, help                                      \
	}
#define FLAG(name, field, help)                                                \
	{                                                                      \
		name, 0, OPTION_FLAG, offsetof(struct settings, field), 0, 1,  \
			help                                                   \
	}
#define MANY INT64_C(1000000000)

static const struct option_row option_rows[] = {
	NUMBER("batch-size", 'b', batch_size, 1, MANY, "samples per pass"),
	NUMBER("grad-accum", 0, grad_accum, 1, MANY, "passes per step"),
	NUMBER("steps", 0, steps, 0, MANY, "optimizer steps"),
	NUMBER("fixed-mib", 0, fixed_mib, 0, MANY, "memory held anyway"),
	NUMBER("per-sample-kib", 0, per_sample_kib, 1, 1 << 20,
	       "memory of a sample"),
	NUMBER("limit-mib", 0, limit_mib, 0, MANY,
	       "refuse to hold more, as a device does (0: no limit)"),
	NUMBER("step-ms", 0, step_ms, 0, MANY, "least duration of a step"),
	NUMBER("print-every", 0, print_every, 1, MANY, "steps per line"),
	NUMBER("fail-at-step", 0, fail_at_step, 0, MANY, "fail there"),
	NUMBER("hang-at-step", 0, hang_at_step, 0, MANY, "stand still there"),
	NUMBER("exit-code", 0, exit_code, 0, 255, "status of a failure"),
	NUMBER("spike-step", 0, spike_step, 0, MANY, "hold more in that step"),
	NUMBER("spike-mib", 0, spike_mib, 0, MANY, "how much more"),
	NUMBER("workers", 0, workers, 0, WORKERS_MAX,
	       "children in sessions of their own"),
	NUMBER("worker-mib", 0, worker_mib, 0, MANY, "memory of each"),
	FLAG("oom-text", oom_text, "a failure reads as one of PyTorch's"),
	FLAG("print-bytes", print_bytes, "print the bytes held, run nothing"),
	{ "save", 0, OPTION_TEXT, offsetof(struct settings, save), 0, 0,
	  "write the weights there at the end" },
};

#define OPTION_COUNT (sizeof(option_rows) / sizeof(*option_rows))

static int usage(const char *what, const char *argument)
{
	(void)fprintf(stderr, "trainer: %s: %s\nusage: trainer [options]\n",
		      what, argument);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		(void)fprintf(stderr, "  --%s%s\n        %s\n", row->name,
			      row->kind == OPTION_FLAG     ? ""
			      : row->kind == OPTION_NUMBER ? " N"
							   : " PATH",
			      row->help);
	}
	return EXIT_USAGE;
}

/* The row that argument names; value is set to what follows a '='. */
static const struct option_row *option_find(const char *argument,
					    const char **value)
{
	*value = NULL;
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];
		size_t length = strlen(row->name);

		if (row->letter && argument[0] == '-' &&
		    argument[1] == row->letter && !argument[2])
			return row;
		if (strncmp(argument, "--", 2) != 0 ||
		    strncmp(argument + 2, row->name, length) != 0)
			continue;
		if (argument[2 + length] == '=')
			*value = argument + 2 + length + 1;
		if (!argument[2 + length] || *value)
			return row;
	}
	return NULL;
}

static bool option_store(struct settings *settings,
			 const struct option_row *row, const char *value)
{
	char *field = (char *)settings + row->offset;
	int64_t number = 1;
	char *end = NULL;

	if (row->kind == OPTION_TEXT) {
		memcpy(field, &value, sizeof(value));
		return true;
	}
	if (row->kind == OPTION_NUMBER) {
		errno = 0;
		number = strtoll(value, &end, 10);
		if (errno || end == value || *end || number < row->least ||
		    number > row->most)
			return false;
	}
	memcpy(field, &number, sizeof(number));
	return true;
}

/* 0, or the exit status of a wrong call. */
static int settings_parse(struct settings *settings, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct option_row *row = option_find(argv[i], &value);

		if (!row || (value && row->kind == OPTION_FLAG))
			return usage("unknown option", argv[i]);
		if (!value && row->kind != OPTION_FLAG) {
			if (i + 1 == argc)
				return usage("needs a value", argv[i]);
			value = argv[++i];
		}
		if (!option_store(settings, row, value))
			return usage("not a number it takes", value);
	}
	return 0;
}

/* What the trainer itself holds, pieces each rounded up to whole pages. */
struct sizes {
	uint64_t base, fixed, samples, spike, worker;
};

static uint64_t page_round(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static struct sizes sizes_of(const struct settings *settings)
{
	const uint64_t kib = 1024;
	const uint64_t mib = kib * kib;

	return (struct sizes){
		.base = page_round(64 * kib),
		.fixed = (uint64_t)settings->fixed_mib * mib,
		.samples = page_round((uint64_t)settings->per_sample_kib * kib *
				      (uint64_t)settings->batch_size),
		.spike = settings->spike_step &&
					 settings->spike_step <= settings->steps
				 ? (uint64_t)settings->spike_mib * mib
				 : 0,
		.worker = (uint64_t)settings->worker_mib * mib,
	};
}

/* Prints why and ends the program; as in a crash, the workers stay. */
__attribute__((noreturn)) static void fail(const struct settings *settings,
					   const char *what)
{
	if (settings->oom_text)
		what = "RuntimeError: [enforce fail at alloc_cpu.cpp:66] . "
		       "DefaultCPUAllocator: can't allocate memory: you tried "
		       "to allocate 1099511627776 bytes. Error code 12 (Cannot "
		       "allocate memory)";
	(void)fprintf(stderr, "%s\n", what);
	exit((int)settings->exit_code);
}

/* Memory that is really there: every page is written. NULL for 0 bytes. */
static void *memory_take(const struct settings *settings, uint64_t bytes)
{
	void *memory;

	if (!bytes)
		return NULL;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail(settings, "trainer: cannot allocate memory");
	memset(memory, 0x3c, bytes);
	return memory;
}

static void memory_give(void *memory, uint64_t bytes)
{
	if (memory)
		(void)munmap(memory, bytes);
}

/* One layer of weights each way; lives in the 64 KiB base. */
struct layers {
	float first[INPUTS][HIDDEN];
	float second[HIDDEN];
};

struct network {
	struct layers weights, gradient, velocity;
	float inputs[EXAMPLES][INPUTS];
	float targets[EXAMPLES];
};

_Static_assert(sizeof(struct network) <= 65536, "fits in the base");

/* xorshift, in [-1, 1): the same numbers everywhere. */
static float random_next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return (float)(*state >> 8) / 8388608.0F - 1.0F;
}

static void network_init(struct network *network)
{
	uint32_t state = 2463534242U;
	float teacher[INPUTS];

	memset(network, 0, sizeof(*network));
	for (int i = 0; i < INPUTS; i++) {
		teacher[i] = random_next(&state);
		for (int k = 0; k < HIDDEN; k++)
			network->weights.first[i][k] =
				0.3F * random_next(&state);
	}
	for (int k = 0; k < HIDDEN; k++)
		network->weights.second[k] = 0.3F * random_next(&state);
	for (int e = 0; e < EXAMPLES; e++) {
		float sum = 0;

		for (int i = 0; i < INPUTS; i++) {
			network->inputs[e][i] = random_next(&state);
			sum += teacher[i] * network->inputs[e][i];
		}
		network->targets[e] = tanhf(sum);
	}
}

/* How much position p of the feature map counts. */
static float position_weight(size_t p)
{
	return p & 1 ? 0.5F : 1.5F;
}

/*
 * The hidden vector spread over all positions of the sample's feature map, and
 * pooled again from there; returns the squared error. error is what the
 * backward pass starts from.
 */
static float forward(const struct network *network, size_t example, float *map,
		     size_t positions, float *error)
{
	float hidden[HIDDEN] = { 0 };
	float output = 0;

	for (int i = 0; i < INPUTS; i++)
		for (int k = 0; k < HIDDEN; k++)
			hidden[k] += network->inputs[example][i] *
				     network->weights.first[i][k];
	for (int k = 0; k < HIDDEN; k++)
		hidden[k] = tanhf(hidden[k]);
	for (size_t p = 0; p < positions; p++)
		for (int k = 0; k < HIDDEN; k++)
			map[p * HIDDEN + (size_t)k] =
				hidden[k] * position_weight(p);
	for (int k = 0; k < HIDDEN; k++)
		output += hidden[k] * network->weights.second[k];
	*error = output - network->targets[example];
	return *error * *error;
}

static void backward(struct network *network, size_t example, const float *map,
		     size_t positions, float error)
{
	float pooled[HIDDEN] = { 0 };
	float slope[HIDDEN];

	for (size_t p = 0; p < positions; p++)
		for (int k = 0; k < HIDDEN; k++)
			pooled[k] += map[p * HIDDEN + (size_t)k];
	for (int k = 0; k < HIDDEN; k++) {
		/* The weights of a pair of positions have the mean 1. */
		float hidden = pooled[k] / (float)positions;

		network->gradient.second[k] += error * hidden;
		slope[k] = error * network->weights.second[k] *
			   (1 - hidden * hidden);
	}
	for (int i = 0; i < INPUTS; i++)
		for (int k = 0; k < HIDDEN; k++)
			network->gradient.first[i][k] +=
				network->inputs[example][i] * slope[k];
}

static void optimizer_step(struct network *network, float samples)
{
	float *weight = &network->weights.first[0][0];
	float *gradient = &network->gradient.first[0][0];
	float *velocity = &network->velocity.first[0][0];

	_Static_assert(sizeof(struct layers) ==
			       sizeof(float) * (INPUTS + 1) * HIDDEN,
		       "no gap between the layers");
	for (size_t i = 0; i < sizeof(struct layers) / sizeof(float); i++) {
		velocity[i] = MOMENTUM * velocity[i] -
			      LEARNING_RATE * gradient[i] / samples;
		weight[i] += velocity[i];
		gradient[i] = 0;
	}
}

/* One optimizer step over accumulated micro-batches; returns the mean loss. */
static float train_step(struct network *network,
			const struct settings *settings, char *maps,
			int64_t step)
{
	size_t batch = (size_t)settings->batch_size;
	size_t map_bytes = (size_t)settings->per_sample_kib * 1024;
	size_t positions = map_bytes / sizeof(float) / HIDDEN;
	size_t seen = (size_t)(step - 1) * batch * (size_t)settings->grad_accum;
	float samples = (float)batch * (float)settings->grad_accum;
	float loss = 0;

	for (int64_t pass = 0; pass < settings->grad_accum; pass++) {
		float errors[EXAMPLES];

		/* Equal examples have equal errors: EXAMPLES of them do. */
		for (size_t b = 0; b < batch; b++) {
			size_t example = (seen + b) % EXAMPLES;

			loss += forward(network, example,
					(float *)(void *)(maps + b * map_bytes),
					positions, &errors[example]);
		}
		for (size_t b = 0; b < batch; b++) {
			size_t example = (seen + b) % EXAMPLES;

			backward(network, example,
				 (float *)(void *)(maps + b * map_bytes),
				 positions, errors[example]);
		}
		seen += batch;
	}
	optimizer_step(network, samples);
	return loss / samples;
}

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_until(int64_t end_ns)
{
	struct timespec end = { .tv_sec = (time_t)(end_ns / 1000000000),
				.tv_nsec = (long)(end_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) ==
	       EINTR)
		continue;
}

static void events_of_step(const struct settings *settings, int64_t step)
{
	if (step == settings->fail_at_step)
		fail(settings, "trainer: failed, as it was told");
	while (step == settings->hang_at_step)
		(void)pause();
}

static void train(struct network *network, const struct settings *settings,
		  const struct sizes *sizes, char *maps)
{
	for (int64_t step = 1; step <= settings->steps; step++) {
		int64_t start_ns = now_ns();
		uint64_t spike =
			step == settings->spike_step ? sizes->spike : 0;
		void *extra = memory_take(settings, spike);
		float loss;

		events_of_step(settings, step);
		loss = train_step(network, settings, maps, step);
		if (settings->step_ms)
			sleep_until(start_ns + settings->step_ms * 1000000);
		memory_give(extra, spike);
		if (step % settings->print_every == 0)
			(void)printf("step %lld/%lld loss %.4f\n",
				     (long long)step,
				     (long long)settings->steps, (double)loss);
		(void)fflush(stdout);
	}
}

/* Each says one byte on ready when its memory is there. */
__attribute__((noreturn)) static void
worker_run(const struct settings *settings, uint64_t bytes, int ready)
{
	(void)setsid();
	(void)alarm(WORKER_SECONDS);
	(void)memory_take(settings, bytes);
	(void)!write(ready, "", 1);
	(void)close(ready);
	for (;;)
		(void)pause();
}

/* Returns how many were started; all of them hold their memory then. */
static size_t workers_start(const struct settings *settings, uint64_t bytes,
			    pid_t pids[WORKERS_MAX])
{
	size_t count = 0;
	int pipe_fds[2];
	char byte;

	if (!settings->workers || pipe(pipe_fds) < 0)
		return 0;
	while (count < (size_t)settings->workers) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)close(pipe_fds[0]);
			worker_run(settings, bytes, pipe_fds[1]);
		}
		if (pid < 0)
			break;
		pids[count++] = pid;
	}
	(void)close(pipe_fds[1]);
	for (size_t i = 0; i < count && read(pipe_fds[0], &byte, 1) == 1; i++)
		continue;
	(void)close(pipe_fds[0]);
	return count;
}

static void workers_stop(const pid_t pids[WORKERS_MAX], size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)kill(pids[i], SIGTERM);
	for (size_t i = 0; i < count; i++)
		(void)waitpid(pids[i], NULL, 0);
}

static int weights_save(const struct network *network, const char *path)
{
	FILE *file = fopen(path, "wb");
	bool good;

	if (!file) {
		(void)fprintf(stderr, "trainer: cannot write %s: %s\n", path,
			      strerror(errno));
		return EXIT_FAILURE;
	}
	good = fwrite(&network->weights, sizeof(network->weights), 1, file) ==
	       1;
	if (fclose(file) != 0 || !good) {
		(void)fprintf(stderr, "trainer: cannot write %s\n", path);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int run(const struct settings *settings, const struct sizes *sizes)
{
	pid_t workers[WORKERS_MAX];
	size_t count = workers_start(settings, sizes->worker, workers);
	uint64_t own = sizes->base + sizes->fixed + sizes->samples;
	struct network *network;
	int result = EXIT_SUCCESS;
	void *fixed;
	char *maps;

	if (settings->limit_mib &&
	    own > (uint64_t)settings->limit_mib * 1024 * 1024)
		fail(settings, "trainer: cannot allocate memory");
	network = memory_take(settings, sizes->base);
	fixed = memory_take(settings, sizes->fixed);
	maps = memory_take(settings, sizes->samples);
	network_init(network);
	train(network, settings, sizes, maps);
	if (settings->save)
		result = weights_save(network, settings->save);
	(void)printf("done: micro %lld accum %lld steps %lld\n",
		     (long long)settings->batch_size,
		     (long long)settings->grad_accum,
		     (long long)settings->steps);
	memory_give(maps, sizes->samples);
	memory_give(fixed, sizes->fixed);
	memory_give(network, sizes->base);
	workers_stop(workers, count);
	return fflush(stdout) == 0 ? result : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.batch_size = 8,
		.grad_accum = 1,
		.steps = 20,
		.fixed_mib = 16,
		.per_sample_kib = 256,
		.print_every = 1,
		.exit_code = EXIT_FAILURE,
	};
	int result = settings_parse(&settings, argc, argv);
	struct sizes sizes;

	if (result)
		return result;
	sizes = sizes_of(&settings);
	if (settings.print_bytes) {
		uint64_t bytes = sizes.base + sizes.fixed + sizes.samples +
				 sizes.spike +
				 (uint64_t)settings.workers * sizes.worker;

		(void)printf("%" PRIu64 "\n", bytes);
		return EXIT_SUCCESS;
	}
	return run(&settings, &sizes);
}
