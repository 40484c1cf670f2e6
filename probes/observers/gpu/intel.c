/* Intel devices as the kernel shows them: no library is loaded. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/intel.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/textfile.h"
#include "base/units.h"
#include "probes/observers/gpu/drm_fdinfo.h"
#include "probes/observers/gpu/kernel_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NODE_PREFIX "renderD"
/* Where the graphics of a processor always is. */
#define PROCESSOR_PLACE "0000:00:02.0"
#define PARTS_MAX 8
#define VALUE_MAX 32

/* A card with memory of its own, visible or not. */
struct intel_card {
	char node[16];  /* "renderD128" */
	char place[24]; /* "0000:03:00.0" */
	char id[8];     /* of its model: "E20B" */
	bool is_xe;
};

/*
 * Source: include/uapi/drm/xe_drm.h and i915_drm.h of Linux 6.8. Written out,
 * because older headers have no xe. Both list the regions of memory in rows of
 * 88 bytes: class (16 bits, 1: the card's own) at 0, size (64 bits) at 8.
 */
#define REGION_BYTES 88
#define REGION_CLASS_OWN 1
#define REGION_SIZE_AT 8
#define XE_HEADER_BYTES 8
#define I915_HEADER_BYTES 16
#define XE_QUERY_MEM_REGIONS 1
#define I915_QUERY_MEMORY_REGIONS 4
#define ANSWER_BYTES_MAX 65536

struct xe_device_query {
	uint64_t extensions;
	uint32_t query, size;
	uint64_t data, reserved[2];
};

struct i915_query_item {
	uint64_t query_id;
	int32_t length;
	uint32_t flags;
	uint64_t data;
};

struct i915_query {
	uint32_t num_items, flags;
	uint64_t items;
};

#define XE_IOCTL _IOWR('d', 0x40, struct xe_device_query)
#define I915_IOCTL _IOWR('d', 0x40 + 0x39, struct i915_query)

struct intel_vram intel_answer_read(const void *answer, size_t size, bool is_xe)
{
	size_t at = is_xe ? XE_HEADER_BYTES : I915_HEADER_BYTES;
	const char *bytes = answer;
	struct intel_vram vram = { 0 };
	uint32_t count;

	if (size < at)
		return vram;
	memcpy(&count, bytes, sizeof(count));
	for (; count-- && at + REGION_BYTES <= size; at += REGION_BYTES) {
		uint16_t class;
		uint64_t region;

		memcpy(&class, bytes + at, sizeof(class));
		memcpy(&region, bytes + at + REGION_SIZE_AT, sizeof(region));
		if (class != REGION_CLASS_OWN)
			continue;
		vram.bytes += region;
		vram.parts++;
	}
	return vram;
}

/* Without a buffer it tells the size; negative: it refuses. */
static int64_t ask_xe(int fd, void *answer, size_t size)
{
	struct xe_device_query query = {
		.query = XE_QUERY_MEM_REGIONS,
		.size = (uint32_t)size,
		.data = (uintptr_t)answer,
	};

	return ioctl(fd, XE_IOCTL, &query) < 0 ? -1 : (int64_t)query.size;
}

static int64_t ask_i915(int fd, void *answer, size_t size)
{
	struct i915_query_item item = {
		.query_id = I915_QUERY_MEMORY_REGIONS,
		.length = (int32_t)size,
		.data = (uintptr_t)answer,
	};
	struct i915_query query = { .num_items = 1, .items = (uintptr_t)&item };

	return ioctl(fd, I915_IOCTL, &query) < 0 ? -1 : item.length;
}

struct intel_vram intel_query(const char *node, bool is_xe)
{
	int64_t (*ask)(int, void *, size_t) = is_xe ? ask_xe : ask_i915;
	int fd = open(node, O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct intel_vram vram = { 0 };
	int64_t size;
	void *answer;

	if (fd < 0)
		return vram;
	size = ask(fd, NULL, 0);
	if (size > 0 && size <= ANSWER_BYTES_MAX) {
		answer = xcalloc(1, (size_t)size);
		if (ask(fd, answer, (size_t)size) == size)
			vram = intel_answer_read(answer, (size_t)size, is_xe);
		free(answer);
	}
	(void)close(fd);
	return vram;
}

struct intel_roots intel_roots_here(void)
{
	static char proc[256], dev[256];
	const char *sys = kernel_sys_elsewhere();

	if (!sys)
		return (struct intel_roots){ "/sys", "/proc", "/dev" };
	(void)snprintf(proc, sizeof(proc), "%s/proc", sys);
	(void)snprintf(dev, sizeof(dev), "%s/dev", sys);
	return (struct intel_roots){ sys, proc, dev };
}

/* Of the node's "uevent": false where it is none of such a card. */
static bool intel_card_read(struct intel_card *card, const char *text)
{
	char driver[VALUE_MAX];
	char id[VALUE_MAX];

	if (!kernel_line_value(driver, sizeof(driver), text, "DRIVER=") ||
	    !kernel_line_value(id, sizeof(id), text, "PCI_ID=8086:") ||
	    !kernel_line_value(card->place, sizeof(card->place), text,
			       "PCI_SLOT_NAME="))
		return false;
	card->is_xe = strcmp(driver, "xe") == 0;
	(void)snprintf(card->id, sizeof(card->id), "%.7s", id);
	return (card->is_xe || strcmp(driver, "i915") == 0) &&
	       strcmp(card->place, PROCESSOR_PLACE) != 0;
}

static int intel_by_place(const void *a, const void *b)
{
	const struct intel_card *left = a;
	const struct intel_card *right = b;

	return strcmp(left->place, right->place);
}

static int intel_cards(const char *sys, struct intel_card cards[GPU_MAX])
{
	char *folder = xasprintf("%s/class/drm", sys);
	struct strlist names = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	int count = 0;

	kernel_folder_names(&names, folder);
	for (size_t i = 0; i < names.count && count < GPU_MAX; i++) {
		struct intel_card *card = &cards[count];

		if (strncmp(names.items[i], NODE_PREFIX, strlen(NODE_PREFIX)) !=
			    0 ||
		    strlen(names.items[i]) >= sizeof(card->node) ||
		    !kernel_file_read(&text, folder, names.items[i],
				      "device/uevent") ||
		    !intel_card_read(card, strbuf_text(&text)))
			continue;
		(void)snprintf(card->node, sizeof(card->node), "%s",
			       names.items[i]);
		count++;
	}
	if (count)
		qsort(cards, (size_t)count, sizeof(*cards), intel_by_place);
	strbuf_release(&text);
	strlist_release(&names);
	free(folder);
	return count;
}

/* By the files of some versions of xe, else by its answer. */
static struct intel_vram intel_vram_of(const struct intel_roots *roots,
				       const struct intel_card *card)
{
	char *folder = xasprintf("%s/class/drm/%s", roots->sys, card->node);
	struct intel_vram vram = { 0 };
	char *node;

	for (; vram.parts < PARTS_MAX; vram.parts++) {
		char file[48];
		uint64_t bytes;

		(void)snprintf(file, sizeof(file),
			       "tile%d/physical_vram_size_bytes", vram.parts);
		if (!kernel_file_number(folder, "device", file, &bytes) ||
		    !bytes)
			break;
		vram.bytes += bytes;
	}
	free(folder);
	if (vram.parts)
		return vram;
	node = xasprintf("%s/dri/%s", roots->dev, card->node);
	vram = intel_query(node, card->is_xe);
	free(node);
	return vram;
}

/* A name of a lock: of letters, digits and "-". */
static void intel_uuid(char uuid[GPU_UUID_MAX], const struct intel_card *card)
{
	(void)snprintf(uuid, GPU_UUID_MAX, "INTEL-%s", card->place);
	for (char *at = uuid; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '-';
}

static void intel_memory(const struct intel_roots *roots,
			 const struct intel_card *card, uint64_t total,
			 struct gpu_look *look)
{
	uint64_t used = 0;

	look->process_count = drm_fdinfo_processes(roots->proc, card->place,
						   look->processes, 0);
	for (int i = 0; i < look->process_count; i++)
		used += look->processes[i].used_bytes;
	look->has_memory = total > 0;
	look->memory = (struct gpu_memory){
		.total_bytes = total,
		.free_bytes = bytes_minus(total, used),
	};
}

static int intel_describe(const struct intel_roots *roots,
			  const struct intel_card *card,
			  struct gpu_device *device, struct error *err)
{
	struct intel_vram vram = intel_vram_of(roots, card);
	struct gpu_look *look;

	memset(device, 0, sizeof(*device));
	device->vendor = GPU_INTEL;
	intel_uuid(device->uuid, card);
	(void)snprintf(device->name, sizeof(device->name), "Intel GPU %s",
		       card->id);
	if (vram.parts > 1)
		return error_set(
			err, -EIO,
			"there is an Intel GPU of %d parts (%s), which "
			"autofit does not tell apart",
			vram.parts, card->id);
	if (!vram.bytes)
		return error_set(err, -EIO,
				 "there is an Intel GPU (%s), and its driver "
				 "does not tell its memory: may you open "
				 "%s/dri/%s?",
				 card->id, roots->dev, card->node);
	look = xcalloc(1, sizeof(*look));
	intel_memory(roots, card, vram.bytes, look);
	device->total_bytes = device->board_bytes = look->memory.total_bytes;
	device->free_bytes = look->memory.free_bytes;
	device->free_source = GPU_FREE_KERNEL;
	free(look);
	return 0;
}

/* Does the mask leave this card? "1" is all of a card, "1.0" its first part. */
static bool is_left(const char *mask, int number)
{
	if (!mask || !*mask)
		return true;
	while (*mask) {
		char *end;
		long word = strtol(mask, &end, 10);

		if (isdigit((unsigned char)*mask) && word == number &&
		    (*end == '.' || *end == ',' || !*end))
			return true;
		mask += strcspn(mask, ",");
		mask += *mask == ',';
	}
	return false;
}

char *intel_mask_word(const char *mask, int index)
{
	for (int number = 0; number < GPU_MAX; number++)
		if (is_left(mask, number) && index-- == 0)
			return xasprintf("%d", number);
	return NULL;
}

int intel_devices_list(const struct intel_roots *roots, const char *mask,
		       struct gpu_device devices[GPU_MAX], struct error *err)
{
	struct intel_card cards[GPU_MAX];
	int count = intel_cards(roots->sys, cards);
	int left = 0;

	for (int i = 0; i < count; i++) {
		int result;

		if (!is_left(mask, i))
			continue;
		result = intel_describe(roots, &cards[i], &devices[left], err);
		if (result < 0)
			return result;
		devices[left].index = left;
		left++;
	}
	return left;
}

void intel_look(const struct intel_roots *roots, struct gpu_look *look)
{
	struct intel_card cards[GPU_MAX];
	int count = intel_cards(roots->sys, cards);
	char uuid[GPU_UUID_MAX];

	look->has_memory = false;
	look->process_count = -1;
	(void)snprintf(look->problem, sizeof(look->problem),
		       "the Intel GPU %s is not there any more", look->uuid);
	for (int i = 0; i < count; i++) {
		intel_uuid(uuid, &cards[i]);
		if (strcmp(uuid, look->uuid) != 0)
			continue;
		look->problem[0] = '\0';
		intel_memory(roots, &cards[i],
			     intel_vram_of(roots, &cards[i]).bytes, look);
		return;
	}
}
