/* The script of AUTOFIT_SIM_FAULT, as the simulated driver follows it. */
/* SPDX-License-Identifier: MIT */
#include "sim_script.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RULES_MAX 32

enum rule_kind {
	FAIL_ALLOC,
	FAIL_FROM,
	FAIL_OVER,
	RANDOM,
	TENANT_GROWS,
	LATENCY,
	OOM_LAUNCH,
	OOM_HOST,
	OOM_MODULE,
	LOST,
	RULE_KINDS,
};

struct rule {
	enum rule_kind kind;
	uint64_t value;
	uint64_t at; /* of "N@K" */
	double rate; /* of "SEED,RATE" */
};

/* This process's script; not changed after cuInit. */
static struct {
	struct rule rules[RULES_MAX];
	size_t count;
	uint64_t latency_us;
	bool oom_context, per_process;
} script;

/* What a call is told: its numbers, and where it was made. */
struct call {
	struct sim_state *state;
	struct sim_counts *counts;
	uint32_t device;
	uint64_t bytes;
};

static bool script_is_ours(void)
{
	const char *rank = getenv("RANK");
	uint64_t number;

	if (!sim_fault_number("only_rank=", &number))
		return true;
	return rank && strtoull(rank, NULL, 10) == number;
}

static void read_rule(enum rule_kind kind, const char *text)
{
	struct rule *rule = &script.rules[script.count];
	char *end = NULL;

	if (script.count == RULES_MAX)
		return;
	*rule = (struct rule){ .kind = kind };
	rule->value = sim_size(text, &end);
	if (kind == TENANT_GROWS && *end == '@')
		rule->at = strtoull(end + 1, NULL, 10);
	if (kind == RANDOM && *end == ',')
		rule->rate = strtod(end + 1, NULL);
	script.count++;
}

static void script_read(void)
{
	static const char *const keys[RULE_KINDS] = {
		[FAIL_ALLOC] = "fail_alloc=",     [FAIL_FROM] = "fail_from=",
		[FAIL_OVER] = "fail_over=",       [RANDOM] = "random=",
		[TENANT_GROWS] = "tenant_grows=", [LATENCY] = "latency_us=",
		[OOM_LAUNCH] = "oom_launch=",     [OOM_HOST] = "oom_host=",
		[OOM_MODULE] = "oom_module=",     [LOST] = "lost=",
	};

	memset(&script, 0, sizeof(script));
	if (!script_is_ours())
		return;
	script.oom_context = sim_fault("oom_context");
	script.per_process = sim_fault("per_process");
	(void)sim_fault_number(keys[LATENCY], &script.latency_us);
	for (int i = 0; i < RULE_KINDS; i++) {
		const char *place = NULL;
		const char *text;

		while (i != LATENCY && (text = sim_fault_next(keys[i], &place)))
			read_rule((enum rule_kind)i, text);
	}
}

/* NULL: nothing is counted. */
static struct sim_state *begin(struct call *call)
{
	struct sim_process *self;

	*call = (struct call){ .state = NULL };
	if (!script.count)
		return NULL;
	call->state = sim_lock_quick();
	if (!call->state)
		return NULL;
	call->counts = &call->state->counts;
	self = script.per_process ? sim_self(call->state) : NULL;
	if (self)
		call->counts = &self->counts;
	return call->state;
}

/* 0 to 1, the same for the same seed and number: splitmix64. */
static double chance(uint64_t seed, uint64_t number)
{
	uint64_t x = seed + number * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double)((x ^ (x >> 31)) >> 11) / (double)(UINT64_C(1) << 53);
}

static bool fails_by_chance(const struct rule *rule, uint64_t number)
{
	static _Thread_local bool failed;

	/* A retry at once is granted. */
	failed = !failed && chance(rule->value, number) < rule->rate;
	return failed;
}

static bool fails_once(uint64_t *done, bool now)
{
	if (!now || *done)
		return false;
	*done = 1;
	return true;
}

static bool fails(const struct rule *rule, const struct call *call)
{
	uint64_t number = call->counts->allocations;

	switch (rule->kind) {
	case FAIL_ALLOC:
		return number == rule->value;
	case FAIL_FROM:
		return number >= rule->value;
	case FAIL_OVER:
		return fails_once(&call->counts->over_done,
				  call->bytes > rule->value);
	case RANDOM:
		return fails_by_chance(rule, number);
	case OOM_LAUNCH:
	case OOM_HOST:
	case OOM_MODULE:
	case TENANT_GROWS:
	case LATENCY:
	case LOST:
	case RULE_KINDS:
		break;
	}
	return false;
}

static bool is_lost(const struct call *call)
{
	for (size_t i = 0; i < script.count; i++)
		if (script.rules[i].kind == LOST &&
		    call->counts->calls >= script.rules[i].value)
			return true;
	return false;
}

static bool is_at(enum rule_kind kind, uint64_t number)
{
	for (size_t i = 0; i < script.count; i++)
		if (script.rules[i].kind == kind &&
		    script.rules[i].value == number)
			return true;
	return false;
}

static void move_tenant(const struct call *call)
{
	for (size_t i = 0; i < script.count; i++)
		if (script.rules[i].kind == TENANT_GROWS &&
		    script.rules[i].at == call->counts->allocations)
			call->state->devices[call->device].base_bytes +=
				script.rules[i].value;
}

static int script_allocation(uint32_t device, uint64_t bytes)
{
	struct call call;
	int result = OK;

	if (!begin(&call))
		return OK;
	call.device = device;
	call.bytes = bytes;
	call.counts->allocations++;
	call.counts->calls++;
	move_tenant(&call);
	for (size_t i = 0; i < script.count; i++)
		if (fails(&script.rules[i], &call))
			result = OUT_OF_MEMORY;
	if (is_lost(&call))
		result = UNKNOWN;
	sim_unlock(call.state);
	return result;
}

static int script_launch(void)
{
	struct call call;
	int result = OK;

	if (!begin(&call))
		return OK;
	call.counts->launches++;
	call.counts->calls++;
	if (is_at(OOM_LAUNCH, call.counts->launches))
		result = OUT_OF_MEMORY;
	if (is_lost(&call))
		result = LAUNCH_FAILED;
	sim_unlock(call.state);
	return result;
}

static int script_host(void)
{
	struct call call;
	bool failed;

	if (!begin(&call))
		return OK;
	call.counts->host_allocations++;
	failed = is_at(OOM_HOST, call.counts->host_allocations);
	sim_unlock(call.state);
	return failed ? OUT_OF_MEMORY : OK;
}

static int script_module(void)
{
	struct call call;
	bool failed;

	if (!begin(&call))
		return OK;
	call.counts->modules++;
	failed = is_at(OOM_MODULE, call.counts->modules);
	sim_unlock(call.state);
	return failed ? OUT_OF_MEMORY : OK;
}

static int script_context(void)
{
	return script.oom_context ? OUT_OF_MEMORY : OK;
}

static int script_wait(void)
{
	struct call call;
	bool lost;

	if (!begin(&call))
		return OK;
	lost = is_lost(&call);
	sim_unlock(call.state);
	return lost ? LAUNCH_FAILED : OK;
}

static void script_delay(void)
{
	struct timespec left = {
		.tv_sec = (time_t)(script.latency_us / 1000000),
		.tv_nsec = (long)(script.latency_us % 1000000 * 1000),
	};

	if (script.latency_us)
		(void)nanosleep(&left, NULL);
}

const struct sim_events sim_test_events = {
	.next = sim_words_next,
	.start = script_read,
	.is_ours = script_is_ours,
	.allocation = script_allocation,
	.launch = script_launch,
	.host = script_host,
	.module = script_module,
	.context = script_context,
	.wait = script_wait,
	.delay = script_delay,
	.hang = sim_tell_hang,
};
