/* AMD devices as the kernel's own files show them: no library is loaded. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/kfd.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"
#include "probes/observers/gpu/drm_fdinfo.h"
#include "probes/observers/gpu/gpu_tenants.h"
#include "probes/observers/gpu/kernel_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KFD_FOLDER "class/kfd/kfd"
#define IDS_FILE "/usr/share/libdrm/amdgpu.ids"
#define IDS_BYTES_MAX ((size_t)1 << 20)
/* Cards with less are part of a processor, whose memory is the host's. */
#define UNIQUE_MAX 24

/* A GPU of the machine, visible or not. */
struct kfd_card {
	char gpu_id[24]; /* as KFD's files name it */
	uint64_t unique; /* 0: it has no number of its own */
	int64_t render;  /* of its node: renderD<number> */
	int64_t target;  /* 90402: gfx942 */
};

struct kfd_roots kfd_roots_here(void)
{
	const char *sys = kernel_sys_elsewhere();

	return (struct kfd_roots){ sys ? sys : "/sys", IDS_FILE };
}

struct kfd_visible kfd_visible_of(const struct strlist *environment)
{
	struct kfd_visible visible = {
		.rocr = strlist_env_get(environment, "ROCR_VISIBLE_DEVICES"),
		.hip = strlist_env_get(environment, "HIP_VISIBLE_DEVICES"),
	};

	if (!visible.hip)
		visible.hip =
			strlist_env_get(environment, "CUDA_VISIBLE_DEVICES");
	return visible;
}

static int64_t kfd_property(const char *text, const char *name)
{
	char value[UNIQUE_MAX];
	int64_t number = 0;

	return kernel_line_value(value, sizeof(value), text, name) &&
			       integer_parse(value, &number, NULL) == 0
		       ? number
		       : 0;
}

/* It may have its highest bit set. */
static uint64_t kfd_unique(const char *text)
{
	char value[UNIQUE_MAX];

	return kernel_line_value(value, sizeof(value), text, "unique_id ")
		       ? strtoull(value, NULL, 10)
		       : 0;
}

/* All GPUs of the machine; every processor is a node too, without SIMDs. */
static int kfd_cards(const char *sys, struct kfd_card cards[GPU_MAX])
{
	char *folder = xasprintf("%s/" KFD_FOLDER "/topology/nodes", sys);
	struct strlist names = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	int count = 0;

	kernel_folder_numbers(&names, folder);
	for (size_t i = 0; i < names.count && count < GPU_MAX; i++) {
		struct kfd_card *card = &cards[count];
		const char *properties;

		if (!kernel_file_read(&text, folder, names.items[i],
				      "properties"))
			continue;
		properties = strbuf_text(&text);
		if (kfd_property(properties, "simd_count ") <= 0)
			continue;
		card->unique = kfd_unique(properties);
		card->render = kfd_property(properties, "drm_render_minor ");
		card->target = kfd_property(properties, "gfx_target_version ");
		card->gpu_id[0] = '\0';
		if (kernel_file_read(&text, folder, names.items[i], "gpu_id"))
			(void)kernel_line_value(card->gpu_id,
						sizeof(card->gpu_id),
						strbuf_text(&text), "");
		count++;
	}
	strbuf_release(&text);
	strlist_release(&names);
	free(folder);
	return count;
}

/* As ROCm writes it, for ROCR_VISIBLE_DEVICES. Without a number of its own a
 * card is called by its node, which no variable takes. */
static void kfd_uuid(char uuid[GPU_UUID_MAX], const struct kfd_card *card)
{
	if (card->unique)
		(void)snprintf(uuid, GPU_UUID_MAX, "GPU-%016" PRIx64,
			       card->unique);
	else
		(void)snprintf(uuid, GPU_UUID_MAX, "AMD-render-%" PRId64,
			       card->render);
}

static bool drm_text(struct strbuf *text, const char *sys,
		     const struct kfd_card *card, const char *file)
{
	char node[32];
	char *folder = xasprintf("%s/class/drm", sys);
	bool is_read;

	(void)snprintf(node, sizeof(node), "renderD%" PRId64 "/device",
		       card->render);
	is_read = kernel_file_read(text, folder, node, file);
	free(folder);
	return is_read;
}

/* A file of one number. */
static bool drm_number(const char *sys, const struct kfd_card *card,
		       const char *file, uint64_t *number)
{
	char *folder =
		xasprintf("%s/class/drm/renderD%" PRId64, sys, card->render);
	bool is_read = kernel_file_number(folder, "device", file, number);

	free(folder);
	return is_read;
}

/* "74A1,\t00,\tAMD Instinct MI300X": of this device and revision. */
static bool name_by_ids(char *name, size_t size, const char *ids,
			const char *device, const char *revision)
{
	struct strbuf text = STRBUF_INIT;
	char *key = xasprintf("%s,\t%s,\t", device, revision);
	const char *line = NULL;
	bool found = false;

	if (ids && textfile_read(ids, IDS_BYTES_MAX, &text, NULL) >= 0)
		line = strcasestr(strbuf_text(&text), key);
	if (line)
		found = kernel_line_value(name, size, line + strlen(key), "");
	strbuf_release(&text);
	free(key);
	return found;
}

/* "0x74a1" */
static bool drm_hexadecimal(char value[UNIQUE_MAX], const char *sys,
			    const struct kfd_card *card, const char *file)
{
	struct strbuf text = STRBUF_INIT;
	bool is_read =
		drm_text(&text, sys, card, file) &&
		kernel_line_value(value, UNIQUE_MAX, strbuf_text(&text), "0x");

	strbuf_release(&text);
	return is_read;
}

/* What the board calls itself, else what libdrm calls it, else its target. */
static void kfd_name(char *name, size_t size, const struct kfd_roots *roots,
		     const struct kfd_card *card)
{
	struct strbuf text = STRBUF_INIT;
	char device[UNIQUE_MAX];
	char revision[UNIQUE_MAX];

	if (drm_text(&text, roots->sys, card, "product_name") &&
	    kernel_line_value(name, size, strbuf_text(&text), "")) {
		strbuf_release(&text);
		return;
	}
	strbuf_release(&text);
	if (drm_hexadecimal(device, roots->sys, card, "device") &&
	    drm_hexadecimal(revision, roots->sys, card, "revision") &&
	    name_by_ids(name, size, roots->ids, device, revision))
		return;
	(void)snprintf(name, size, "AMD gfx%" PRId64 "%" PRIx64 "%" PRIx64,
		       card->target / 10000,
		       (uint64_t)(card->target / 100 % 100),
		       (uint64_t)(card->target % 100));
}

static int kfd_describe(const struct kfd_roots *roots,
			const struct kfd_card *card, struct gpu_device *device,
			struct error *err)
{
	uint64_t used = 0;

	memset(device, 0, sizeof(*device));
	device->vendor = GPU_AMD;
	kfd_uuid(device->uuid, card);
	kfd_name(device->name, sizeof(device->name), roots, card);
	if (!drm_number(roots->sys, card, "mem_info_vram_total",
			&device->total_bytes) ||
	    !device->total_bytes ||
	    !drm_number(roots->sys, card, "mem_info_vram_used", &used))
		return error_set(
			err, -EIO,
			"there is an AMD GPU (%s), and the kernel does "
			"not tell its memory: mem_info_vram_total of "
			"renderD%" PRId64,
			device->name, card->render);
	device->board_bytes = device->total_bytes;
	device->free_bytes = bytes_minus(device->total_bytes, used);
	device->free_source = GPU_FREE_KERNEL;
	return 0;
}

/* A word of ROCR_VISIBLE_DEVICES: its place in cards; -1: it means nothing. */
static int card_of_word(const char *word, size_t length,
			const struct kfd_card *cards, int count)
{
	char *text = xstrndup(word, length);
	char uuid[GPU_UUID_MAX];
	int64_t number = 0;
	int found = -1;

	if (integer_parse(text, &number, NULL) == 0) {
		if (number >= 0 && number < count)
			found = (int)number;
	} else {
		for (int i = 0; i < count && found < 0; i++) {
			kfd_uuid(uuid, &cards[i]);
			if (strcasecmp(uuid, text) == 0)
				found = i;
		}
	}
	free(text);
	return found;
}

/* Those that the words leave, in their order. What follows a wrong word is
 * unseen, as ROCm has it. words NULL: all. */
static int kfd_choose(const char *words, struct kfd_card *cards, int count)
{
	struct kfd_card left[GPU_MAX];
	bool is_taken[GPU_MAX] = { false };
	int chosen = 0;

	if (!words)
		return count;
	while (*words && chosen < GPU_MAX) {
		size_t length = strcspn(words, ",");
		int place = card_of_word(words, length, cards, count);

		if (place < 0)
			break;
		/* One that is named twice is one. */
		if (!is_taken[place])
			left[chosen++] = cards[place];
		is_taken[place] = true;
		words += length;
		words += *words == ',';
	}
	memcpy(cards, left, (size_t)chosen * sizeof(*cards));
	return chosen;
}

int kfd_devices_list(const struct kfd_roots *roots,
		     const struct kfd_visible *visible,
		     struct gpu_device devices[GPU_MAX], struct error *err)
{
	struct kfd_card cards[GPU_MAX];
	int count = kfd_cards(roots->sys, cards);
	int result;

	count = kfd_choose(visible->rocr, cards, count);
	count = kfd_choose(visible->hip, cards, count);
	for (int i = 0; i < count; i++) {
		result = kfd_describe(roots, &cards[i], &devices[i], err);
		if (result < 0)
			return result;
		devices[i].index = i;
	}
	return count;
}

/* <sys>/class/kfd/kfd/proc/<pid>/vram_<gpu_id> */
static int kfd_processes(const struct kfd_roots *roots,
			 const struct kfd_card *card,
			 struct gpu_process processes[GPU_PROCESSES_MAX])
{
	char *folder = xasprintf("%s/" KFD_FOLDER "/proc", roots->sys);
	struct strlist pids = STRLIST_INIT;
	char file[48];
	int count = 0;

	(void)snprintf(file, sizeof(file), "vram_%s", card->gpu_id);
	kernel_folder_numbers(&pids, folder);
	for (size_t i = 0; i < pids.count && count < GPU_PROCESSES_MAX; i++) {
		uint64_t bytes;
		int64_t pid = 0;

		/* A context alone takes no memory, and does no harm. */
		if (!kernel_file_number(folder, pids.items[i], file, &bytes) ||
		    !bytes || integer_parse(pids.items[i], &pid, NULL) < 0 ||
		    pid <= 0 || pid > INT32_MAX)
			continue;
		processes[count++] = (struct gpu_process){
			.used_bytes = bytes,
			.pid = (pid_t)pid,
			.is_compute = 1,
		};
	}
	strlist_release(&pids);
	free(folder);
	return count;
}

/* "0000:03:00.0": the place of its node on the bus. */
static char *drm_place(const char *sys, const struct kfd_card *card)
{
	char *link = xasprintf("%s/class/drm/renderD%" PRId64 "/device", sys,
			       card->render);
	char *target = realpath(link, NULL);
	const char *name = target ? strrchr(target, '/') : NULL;
	char *place = name ? xstrdup(name + 1) : NULL;

	free(target);
	free(link);
	return place;
}

/*
 * In a container KFD's pids are the host's: what is of this place is known by
 * its own pids from its open files, beside the others.
 */
static int kfd_add_own(const struct kfd_roots *roots,
		       const struct kfd_card *card,
		       struct gpu_process processes[GPU_PROCESSES_MAX],
		       int count)
{
	bool are_all_seen = count > 0;
	char *place;

	for (int i = 0; i < count; i++)
		are_all_seen =
			are_all_seen && gpu_tenant_is_visible(processes[i].pid);
	if (are_all_seen)
		return count;
	place = drm_place(roots->sys, card);
	if (place)
		count = drm_fdinfo_processes("/proc", place, processes, count);
	free(place);
	return count;
}

void kfd_look(const struct kfd_roots *roots, struct gpu_look *look)
{
	struct kfd_card cards[GPU_MAX];
	int count = kfd_cards(roots->sys, cards);
	uint64_t total = 0;
	uint64_t used = 0;
	char uuid[GPU_UUID_MAX];

	look->has_memory = false;
	look->process_count = -1;
	(void)snprintf(look->problem, sizeof(look->problem),
		       "the AMD GPU %s is not there any more", look->uuid);
	for (int i = 0; i < count; i++) {
		kfd_uuid(uuid, &cards[i]);
		if (strcmp(uuid, look->uuid) != 0)
			continue;
		look->has_memory = drm_number(roots->sys, &cards[i],
					      "mem_info_vram_total", &total) &&
				   drm_number(roots->sys, &cards[i],
					      "mem_info_vram_used", &used);
		look->memory = (struct gpu_memory){
			.total_bytes = total,
			.free_bytes = bytes_minus(total, used),
		};
		look->process_count = kfd_add_own(
			roots, &cards[i], look->processes,
			kfd_processes(roots, &cards[i], look->processes));
		look->problem[0] = '\0';
		return;
	}
}
