/* The GPUs that a command will see, asked for no more than is needed. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/visible_gpus.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/identity/identity_text.h"
#include "launcher/request/end_signals.h"
#include "probes/observers/gpu/intel.h"
#include "probes/observers/gpu/kfd.h"

#include <assert.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPABILITIES "/proc/driver/nvidia/capabilities"
/* A run that is only started again does not wait for NVML. */
#define FREE_WAIT_MS 1500

/* A card of one model may have a little more or less than the next. */
static uint64_t visible_gpus_rounded(uint64_t bytes)
{
	return (bytes + 128 * MIB) / (256 * MIB) * (256 * MIB);
}

/* MIG is on, on some card of the machine. */
static bool has_slices(void)
{
	glob_t found;
	int result = glob(CAPABILITIES "/gpu*/mig/gi*", 0, NULL, &found);

	if (result == 0)
		globfree(&found);
	return result == 0;
}

/* A GPU that /proc does not list: of WSL, of a Jetson, of some sandboxes. */
static bool is_unlisted(void)
{
	static const char *const nodes[] = { "/dev/dxg", "/dev/nvidiactl",
					     "/dev/nvmap", "/dev/nvhost-gpu" };

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		if (access(nodes[i], F_OK) == 0)
			return true;
	return false;
}

static bool are_of_one_model(const struct visible_gpus *gpus)
{
	for (size_t i = 1; i < gpus->listed_count; i++)
		if (strcmp(gpus->listed[i].name, gpus->listed[0].name) != 0)
			return false;
	return true;
}

static int64_t words_count(const char *words)
{
	int64_t count = *words ? 1 : 0;

	for (; *words; words++)
		count += *words == ',';
	return count;
}

/* AMD's cards, or Intel's; where there is none nothing changes. */
static void visible_gpus_read_kernel(struct visible_gpus *gpus,
				     const struct strlist *environment)
{
	const struct kfd_roots amd = kfd_roots_here();
	const struct kfd_visible visible = kfd_visible_of(environment);
	const struct intel_roots intel = intel_roots_here();
	const char *mask = strlist_env_get(environment, "ZE_AFFINITY_MASK");
	struct gpu_device *seen = xcalloc(GPU_MAX, sizeof(*seen));
	int count = kfd_devices_list(&amd, &visible, seen, &gpus->why);
	bool is_amd = count != 0;

	/* Without CUDA's the CPU is meant, where there is any variable for it.
	 */
	if (!is_amd && !(gpus->words && !*gpus->words))
		count = intel_devices_list(&intel, mask, seen, &gpus->why);
	if (!count) {
		free(seen);
		return;
	}
	assert(!gpus->seen && count <= GPU_MAX);
	gpus->vendor = is_amd ? GPU_AMD : GPU_INTEL;
	gpus->words = is_amd ? visible.hip : mask;
	gpus->proc_suffices = false;
	gpus->is_asked = true;
	gpus->seen = seen;
	gpus->seen_count = count;
}

void visible_gpus_open(struct visible_gpus *gpus, const struct options *options,
		       const struct strlist *environment)
{
	*gpus = (struct visible_gpus){
		.options = options,
		.words = strlist_env_get(environment, "CUDA_VISIBLE_DEVICES"),
		.proc_suffices = true,
	};
	if (options->target.device == DEVICE_HOST)
		return;
	gpus->listed = xcalloc(GPU_MAX, sizeof(*gpus->listed));
	/* /proc lists the cards that are there. */
	if (options->target.device == DEVICE_PHANTOM) {
		gpus->proc_suffices = false;
		return;
	}
	gpus->listed_count = (size_t)gpu_identities("/proc", gpus->listed);
	if (gpus->listed_count == 0)
		gpus->proc_suffices = !is_unlisted();
	else
		gpus->proc_suffices =
			are_of_one_model(gpus) && !has_slices() &&
			!(gpus->words && strstr(gpus->words, "MIG"));
	/* None is to be seen, whatever there is. */
	if (gpus->words && !*gpus->words)
		gpus->proc_suffices = true;
	if (gpus->listed_count == 0 && gpus->proc_suffices)
		visible_gpus_read_kernel(gpus, environment);
}

void visible_gpus_release(struct visible_gpus *gpus)
{
	free(gpus->listed);
	free(gpus->seen);
	memset(gpus, 0, sizeof(*gpus));
}

int visible_gpus_ask(struct visible_gpus *gpus, struct error *err)
{
	const struct gpu_patience patience = {
		.interrupted = end_signals_waiting,
		.limit_ms = gpus->options->times.time_limit_ms,
	};

	if (!gpus->is_asked) {
		gpus->is_asked = true;
		gpus->seen = xcalloc(GPU_MAX, sizeof(*gpus->seen));
		gpus->seen_count =
			cuda_devices_list(gpus->seen, &patience, &gpus->why);
	}
	if (gpus->seen_count < 0)
		return error_set(err, gpus->seen_count, "%s",
				 gpus->why.message);
	return gpus->seen_count;
}

int64_t visible_gpus_count(const struct visible_gpus *gpus)
{
	if (gpus->is_asked && gpus->seen_count >= 0)
		return gpus->seen_count;
	return gpus->words ? words_count(gpus->words)
			   : (int64_t)gpus->listed_count;
}

bool visible_gpus_count_is_open(const struct visible_gpus *gpus)
{
	if (gpus->is_asked || gpus->options->target.device == DEVICE_HOST)
		return false;
	/* Whoever sets the words knows what he is given; a single card is. */
	return !gpus->words && (gpus->listed_count > 1 || !gpus->proc_suffices);
}

static void visible_gpus_add(struct strbuf *out, const struct gpu_device *gpu)
{
	char text[BYTES_TEXT_MAX];

	identity_add(out, IDENTITY_PLACE, "GPU", gpu->name);
	identity_add(
		out, IDENTITY_PLACE, "memory of the GPU",
		bytes_format(text, visible_gpus_rounded(gpu->total_bytes)));
}

void visible_gpus_fingerprint(struct visible_gpus *gpus, struct strbuf *out)
{
	int index = gpus->options->target.cuda_index;
	int64_t count = visible_gpus_count(gpus);

	if (gpus->proc_suffices) {
		for (size_t i = 0; (int64_t)i < count && i < gpus->listed_count;
		     i++)
			identity_add(out, IDENTITY_PLACE, "GPU",
				     gpus->listed[i].name);
		return;
	}
	if (visible_gpus_ask(gpus, NULL) < 0)
		identity_add(out, IDENTITY_PLACE, "GPU",
			     "of a driver that does not answer");
	for (int i = 0; i < gpus->seen_count; i++)
		if (index < 0 || index == i)
			visible_gpus_add(out, &gpus->seen[i]);
}

static bool begins_with_word(const char *text, size_t length, const char *whole)
{
	return length && strncmp(whole, text, length) == 0;
}

/* A word is a number, which counts cards of one model as /proc lists them, or
 * the beginning of a UUID. NULL: it means nothing. */
static const struct gpu_device *listed_by_word(const struct visible_gpus *gpus,
					       const char *word, size_t length)
{
	char *text = xstrndup(word, length);
	const struct gpu_device *found = NULL;
	int64_t number = 0;
	bool is_number = integer_parse(text, &number, NULL) == 0;

	free(text);
	if (is_number)
		return number >= 0 && number < (int64_t)gpus->listed_count
			       ? &gpus->listed[number]
			       : NULL;
	for (size_t i = 0; i < gpus->listed_count && !found; i++)
		if (begins_with_word(word, length, gpus->listed[i].uuid))
			found = &gpus->listed[i];
	return found;
}

/* Where /proc suffices. As CUDA does: what follows a wrong word is unseen. */
static size_t find_listed(const struct visible_gpus *gpus,
			  struct gpu_device found[GPU_MAX])
{
	const char *word = gpus->words;
	size_t count = 0;

	assert(gpus->listed_count <= GPU_MAX);
	if (!word) {
		memcpy(found, gpus->listed,
		       gpus->listed_count * sizeof(*found));
		return gpus->listed_count;
	}
	while (*word && count < GPU_MAX) {
		size_t length = strcspn(word, ",");
		const struct gpu_device *gpu =
			listed_by_word(gpus, word, length);

		if (!gpu)
			break;
		found[count++] = *gpu;
		word += length;
		word += *word == ',';
	}
	return count;
}

static uint64_t free_by_nvml(const struct gpu_device *gpus, size_t count)
{
	const struct gpu_patience patience = { .limit_ms = FREE_WAIT_MS };
	uint64_t least = UINT64_MAX;
	struct nvml *nvml;

	if (!count || nvml_open(&nvml, gpus, count, &patience, NULL) < 0)
		return least;
	/* One that is not let through to here has no memory to tell. */
	for (size_t i = 0; i < count; i++) {
		const struct gpu_look *look = nvml_seen(nvml, gpus[i].uuid);

		if (look && look->has_memory)
			least = bytes_min(least, look->memory.free_bytes);
	}
	nvml_close(nvml);
	return least;
}

static uint64_t free_by_driver(const struct visible_gpus *gpus)
{
	int index = gpus->options->target.cuda_index;
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < gpus->seen_count; i++)
		if ((index < 0 || index == i) &&
		    gpus->seen[i].free_source != GPU_FREE_UNKNOWN)
			least = bytes_min(least, gpus->seen[i].free_bytes);
	return least;
}

uint64_t visible_gpus_free_bytes(struct visible_gpus *gpus)
{
	struct gpu_device *found;
	uint64_t bytes;

	if (gpus->is_asked)
		return free_by_driver(gpus);
	if (!gpus->listed)
		return UINT64_MAX;
	found = xcalloc(GPU_MAX, sizeof(*found));
	bytes = free_by_nvml(found, find_listed(gpus, found));
	free(found);
	return bytes;
}

bool visible_gpus_fit(struct visible_gpus *gpus, const char *name,
		      uint64_t total_bytes)
{
	int index = gpus->options->target.cuda_index;
	const struct gpu_device *gpu;

	if (index < 0)
		return true;
	if (visible_gpus_ask(gpus, NULL) <= index)
		return false;
	gpu = &gpus->seen[index];
	return (!name || strcmp(gpu->name, name) == 0) &&
	       (!total_bytes || visible_gpus_rounded(gpu->total_bytes) ==
					visible_gpus_rounded(total_bytes));
}

const char *visible_gpus_variable(const struct visible_gpus *gpus)
{
	static const char *const names[] = {
		[GPU_NVIDIA] = "CUDA_VISIBLE_DEVICES",
		[GPU_AMD] = "HIP_VISIBLE_DEVICES",
		[GPU_INTEL] = "ZE_AFFINITY_MASK",
	};

	assert((size_t)gpus->vendor < sizeof(names) / sizeof(*names));
	return names[gpus->vendor];
}

char *visible_gpus_only(const struct visible_gpus *gpus, int index,
			const char *uuid)
{
	char *word = gpus->vendor == GPU_NVIDIA
			     ? xstrdup(uuid)
			     : visible_gpus_word(gpus, index);
	/* Without a word for it the runtime sees none. */
	char *item = xasprintf("%s=%s", visible_gpus_variable(gpus),
			       word ? word : "");

	free(word);
	return item;
}

char *visible_gpus_word(const struct visible_gpus *gpus, int index)
{
	const char *word = gpus->words;

	assert(index >= 0);
	if (gpus->vendor == GPU_INTEL)
		return intel_mask_word(word, index);
	if (!word)
		return xasprintf("%d", index);
	for (int i = 0; i < index && *word; i++) {
		word += strcspn(word, ",");
		word += *word == ',';
	}
	return *word ? xstrndup(word, strcspn(word, ",")) : NULL;
}
