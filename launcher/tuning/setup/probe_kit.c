/* The kit that all probes of a tuning share: isolation, patterns, secrets. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/setup/probe_kit.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/secrets/secrets.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define LOG_FOLDERS_KEPT 20

int probe_kit_make_id(char id[PROBE_ID_MAX], struct error *err)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set_errno(err, -errno, "no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int open_logs(struct probe_kit *kit, const char *logs, struct error *err)
{
	int result = paths_make(logs, err);

	if (result < 0)
		return result;
	kit->log_folder = xasprintf("%s/%lld-%d", logs, (long long)time(NULL),
				    (int)getpid());
	result = paths_make(kit->log_folder, err);
	paths_prune(logs, LOG_FOLDERS_KEPT);
	return result;
}

static int open_patterns(struct probe_kit *kit, const struct request *request,
			 struct error *err)
{
	const struct preset *preset = request->command.preset;
	char *folder = xasprintf("%s/signatures", request->paths.config);
	int result =
		signatures_load(&kit->signatures,
				access(folder, R_OK) == 0 ? folder : NULL, err);

	free(folder);
	if (result == 0 && preset->log.step_patterns.count)
		result = step_patterns_make(&kit->steps,
					    &preset->log.step_patterns,
					    &preset->log.step_ignore, err);
	if (result == 0 && preset->log.printed_sizes_patterns.count)
		result = printed_sizes_patterns_make(
			&kit->sizes, &preset->log.printed_sizes_patterns, err);
	return result;
}

/* The note in the locks stands meanwhile: a killed start is cleaned up after.
 */
static int open_isolation(struct probe_isolation *isolation,
			  const struct session_setup *setup, struct error *err)
{
	char id[PROBE_ID_MAX];
	int result = probe_isolation_open(isolation, setup->request, err);

	if (result == 0)
		result = probe_kit_make_id(id, err);
	if (result == 0)
		result = device_locks_note_probe(setup->guard, id,
						 isolation->space.folder, err);
	if (result < 0)
		return result;
	isolation->may_make = true;
	result = probe_isolation_choose(isolation, setup->request, id, err);
	if (device_locks_note_probe(setup->guard, "", "", NULL) < 0)
		log_verbose("the lock's note cannot be cleared");
	if (result == 0 && isolation->choice.why_not[0])
		log_verbose("probes: %s (%s)",
			    isolation_words(isolation->choice.kind),
			    isolation->choice.why_not);
	return result;
}

int probe_kit_reserve(struct probe_kit *kit, struct memory_target *target,
		      struct error *err)
{
	if (!kit->isolation.space.is_memory)
		return 0;
	kit->scratch_reserve_bytes =
		scratch_space_reserve(target->host.budget_bytes);
	return memory_target_reserve(target, kit->scratch_reserve_bytes, err);
}

/* Without one files are put back all the same, unless autofit is killed. */
static void guard_files(struct guardian *guardian,
			const struct probe_isolation *isolation)
{
	struct error err = ERROR_INIT;
	const struct guardian_files files = { .kept = &isolation->kept,
					      .before = isolation->before,
					      .folders = &isolation->guarded,
					      .excluded =
						      &isolation->excluded };

	if (isolation->kept.fd >= 0 &&
	    guardian_start(guardian, &files, &err) < 0)
		log_verbose("%s", err.message);
}

int probe_kit_open(struct probe_kit *kit, const struct session_setup *setup,
		   struct error *err)
{
	const struct request *request = setup->request;
	const struct options *options = request->options;
	int result = open_logs(kit, request->paths.logs, err);

	assert(!kit->signatures && !kit->steps && !kit->sizes);
	secrets_values(&kit->secrets, request->command.given,
		       &request->environment);
	secrets_values(&kit->secrets, &options->probe.args,
		       &options->probe.env);
	if (result == 0)
		result = open_isolation(&kit->isolation, setup, err);
	if (result == 0)
		guard_files(&kit->guardian, &kit->isolation);
	if (result == 0)
		result = probe_kit_reserve(kit, setup->target, err);
	if (result == 0)
		result = open_patterns(kit, request, err);
	return result;
}

void probe_kit_release(struct probe_kit *kit)
{
	signatures_free(kit->signatures);
	step_patterns_free(kit->steps);
	printed_sizes_patterns_free(kit->sizes);
	free(kit->log_folder);
	guardian_end(&kit->guardian);
	probe_isolation_release(&kit->isolation);
	strlist_release(&kit->secrets);
}
