/* Asks the estimator about a command: before its probes, and if none fits. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_estimate.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "estimator/estimator.h"
#include "estimator/options.h"
#include "launcher/estimate/estimate_case.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* More changes are not named: they save little. */
#define ADVICE_MAX 8

/* False: it names no model that can be read, or no run that makes sense. */
static bool open_case(struct estimate_case *all, const struct request *request,
		      int64_t micro)
{
	struct error err = ERROR_INIT;

	if (estimate_case_of_command(all, &request->command, request->options,
				     &request->environment, &err) < 0) {
		log_verbose("no estimate: %s", err.message);
		return false;
	}
	all->run.micro_batch = micro;
	return true;
}

/*
 * Of the process, for that is what probes measure, in the phase that grows
 * with the batch: where another one is the peak, small batches cost nothing,
 * and large ones all the same.
 */
static void set_line(const struct estimate *estimate,
		     struct search_problem *problem)
{
	const int64_t *peak = estimate->peak;
	double held =
		(double)peak[TIER_RESERVED] / (double)peak[TIER_ALLOCATED];
	int64_t outside = peak[TIER_PROCESS] - peak[TIER_RESERVED];

	assert(peak[TIER_ALLOCATED] > 0 && outside >= 0);
	problem->estimated_bytes_per_sample =
		(uint64_t)(held * (double)estimate->sample_bytes);
	problem->estimated_fixed_bytes =
		(uint64_t)(held * (double)estimate->fixed_bytes) +
		(uint64_t)outside;
}

void session_estimate_start(const struct session_setup *given,
			    struct search_problem *problem,
			    struct result *result)
{
	int64_t micro = given->request->command.batch.micro_batch;
	char peak[BYTES_TEXT_MAX], low[BYTES_TEXT_MAX], high[BYTES_TEXT_MAX];
	struct error err = ERROR_INIT;
	struct estimate_case all;
	struct estimate estimate;

	if (given->target->device != PROBE_CUDA)
		return;
	if (!open_case(&all, given->request, micro > 0 ? micro : 1))
		goto out;
	if (estimate_memory(&all.run, &estimate, &err) < 0) {
		log_verbose("no estimate: %s", err.message);
		goto out;
	}
	set_line(&estimate, problem);
	result->estimate = xasprintf(
		"estimate  %s with micro %lld (%s to %s; peak: %s); what it "
		"assumes: autofit estimate -- ...",
		bytes_format(peak, (uint64_t)estimate.peak[TIER_PROCESS]),
		(long long)all.run.micro_batch,
		bytes_format(low, (uint64_t)estimate.low[TIER_PROCESS]),
		bytes_format(high, (uint64_t)estimate.high[TIER_PROCESS]),
		peak_phase_name(estimate.phase));
out:
	estimate_case_release(&all);
}

/* "OPTION WORDS" of the preset; NULL: it says nothing of that. */
static const char *flag_of(const struct preset *preset, const char *option)
{
	size_t length = strlen(option);

	for (size_t i = 0; i < preset->memory.count; i++) {
		const char *entry = preset->memory.items[i];

		if (strncmp(entry, option, length) == 0 && entry[length] == ' ')
			return entry + length + 1;
	}
	return NULL;
}

static void session_estimate_add_option(struct strbuf *out,
					const struct preset *preset,
					const struct memory_option *option)
{
	const char *flag = flag_of(preset, memory_option_name(option->kind));
	char saved[BYTES_TEXT_MAX];

	strbuf_addf(out, "saves %s: %s; speed: %s%s%s%s\n",
		    bytes_format(saved, (uint64_t)option->saved_bytes),
		    memory_option_words(option->kind),
		    memory_option_cost(option->kind), flag ? "; write " : "",
		    flag ? flag : "",
		    option->fits ? "; enough, by the estimate" : "");
}

void session_estimate_advise(const struct session_setup *given,
			     struct result *result)
{
	const struct request *request = given->request;
	struct memory_option options[MEMORY_OPTION_KINDS];
	struct strbuf out = STRBUF_INIT;
	struct estimate_case all;
	int count = 0;

	if (given->target->device != PROBE_CUDA)
		return;
	if (open_case(&all, request, 1))
		count = estimate_options(&all.run,
					 (int64_t)given->target->limit_bytes,
					 options, MEMORY_OPTION_KINDS, NULL);
	for (int i = 0; i < count && i < ADVICE_MAX; i++)
		session_estimate_add_option(&out, request->command.preset,
					    &options[i]);
	if (out.length)
		result->advice = strbuf_detach(&out);
	strbuf_release(&out);
	estimate_case_release(&all);
}
