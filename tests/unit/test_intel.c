/* Intel devices as the kernel shows them, on trees that are made here. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/observers/gpu/intel.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "base/units.h"
#include "probes/observers/gpu/drm_fdinfo.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DRM "class/drm/renderD"
#define UEVENT(driver, id, place)                                              \
	"DRIVER=" driver "\nPCI_CLASS=30000\nPCI_ID=" id                       \
	"\nPCI_SLOT_NAME=" place "\n"
#define TILE "/device/tile0/physical_vram_size_bytes"

struct intel_tree {
	char folder[64];
	char *proc;
	struct intel_roots roots;
	struct gpu_device devices[GPU_MAX];
	struct error err;
};

static void intel_put(const struct intel_tree *tree, const char *name,
		      const char *text)
{
	char *path = xasprintf("%s/%s", tree->folder, name);
	char *end = strrchr(path, '/');

	*end = '\0';
	assert_int_equal(folder_make(path, 0700, NULL), 0);
	*end = '/';
	assert_int_equal(textfile_replace(path, 0600, text, strlen(text), NULL),
			 0);
	free(path);
}

/* Two cards, the second one first on the bus; the graphics of a processor; a
 * card of another maker; a node of no card. */
static int make_tree(void **state)
{
	struct intel_tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	(void)snprintf(tree->folder, sizeof(tree->folder),
		       "/tmp/autofit-test-intel-XXXXXX");
	assert_non_null(mkdtemp(tree->folder));
	tree->proc = xasprintf("%s/proc", tree->folder);
	tree->roots =
		(struct intel_roots){ tree->folder, tree->proc, "/nowhere" };
	intel_put(tree, DRM "128/device/uevent",
		  UEVENT("i915", "8086:46A6", "0000:00:02.0"));
	intel_put(tree, DRM "129/device/uevent",
		  UEVENT("xe", "8086:E20B", "0000:07:00.0"));
	intel_put(tree, DRM "129" TILE, "12616466432\n");
	intel_put(tree, DRM "130/device/uevent",
		  UEVENT("xe", "8086:56A0", "0000:03:00.0"));
	intel_put(tree, DRM "130" TILE, "17179869184\n");
	intel_put(tree, DRM "131/device/uevent",
		  UEVENT("amdgpu", "1002:744C", "0000:0A:00.0"));
	intel_put(tree, DRM "132/device/uevent", "DRIVER=vgem\n");
	*state = tree;
	return 0;
}

static int remove_tree(void **state)
{
	struct intel_tree *tree = *state;
	char *command = xasprintf("rm -rf '%s'", tree->folder);

	assert_int_equal(system(command), 0);
	free(command);
	free(tree->proc);
	free(tree);
	return 0;
}

static int list(struct intel_tree *tree, const char *mask)
{
	return intel_devices_list(&tree->roots, mask, tree->devices,
				  &tree->err);
}

static void cards_are_described(void **state)
{
	static const struct {
		const char *uuid, *name;
		uint64_t total;
	} rows[] = {
		{ "INTEL-0000-03-00-0", "Intel GPU 56A0",
		  UINT64_C(17179869184) },
		{ "INTEL-0000-07-00-0", "Intel GPU E20B",
		  UINT64_C(12616466432) },
	};
	struct intel_tree *tree = *state;

	assert_int_equal(list(tree, NULL), 2);
	for (int i = 0; i < 2; i++) {
		const struct gpu_device *device = &tree->devices[i];

		assert_string_equal(device->uuid, rows[i].uuid);
		assert_string_equal(device->name, rows[i].name);
		assert_int_equal(device->index, i);
		assert_true(device->total_bytes == rows[i].total);
		assert_true(device->free_bytes == rows[i].total);
		assert_int_equal(device->free_source, GPU_FREE_KERNEL);
		assert_int_equal(device->vendor, GPU_INTEL);
	}
	assert_string_equal(gpu_kind_name(GPU_INTEL), "xpu");
}

static void a_mask_is_a_filter(void **state)
{
	/* Cards by the digit of their bus: 3 and 7. words: of the cards that
	 * are left, in their order. */
	static const struct {
		const char *mask, *cards, *words;
	} rows[] = {
		{ NULL, "37", "01" },  { "", "37", "01" },
		{ "0", "3", "0" },     { "1", "7", "1" },
		{ "1,0", "37", "01" }, { "1,1", "7", "1" },
		{ "0.0", "3", "0" },   { "x,1", "7", "1" },
		{ "2", "", "2" },      { "-1", "", "" },
		{ ",1", "7", "1" },
	};
	struct intel_tree *tree = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char cards[8] = "";
		int count = list(tree, rows[i].mask);

		print_message("row %zu\n", i);
		assert_int_equal(count, strlen(rows[i].cards));
		for (int j = 0; j < count; j++)
			cards[j] = tree->devices[j].uuid[12];
		assert_string_equal(cards, rows[i].cards);
		for (int j = 0; rows[i].words[j]; j++) {
			char *word = intel_mask_word(rows[i].mask, j);

			assert_non_null(word);
			assert_int_equal(word[0], rows[i].words[j]);
			free(word);
		}
		assert_true(!rows[i].mask || !*rows[i].mask ||
			    !intel_mask_word(rows[i].mask,
					     (int)strlen(rows[i].words)));
	}
}

static void no_memory_is_guessed(void **state)
{
	struct intel_tree *tree = *state;

	intel_put(tree, DRM "129" TILE, "many\n");
	assert_int_equal(list(tree, NULL), -EIO);
	assert_non_null(strstr(tree->err.message,
			       "may you open /nowhere/dri/renderD129?"));
	/* Who does not want it is not asked about it. */
	assert_int_equal(list(tree, "0"), 1);
	intel_put(tree, DRM "130/device/tile1/physical_vram_size_bytes",
		  "17179869184\n");
	assert_int_equal(list(tree, "0"), -EIO);
	assert_non_null(strstr(tree->err.message, "of 2 parts"));
	tree->roots.sys = "/nowhere";
	assert_int_equal(list(tree, NULL), 0);
}

/* Rows of 88 bytes behind a head of 8 or 16: class and size. */
static void drivers_answer(void **state)
{
	static const struct {
		bool is_xe;
		uint32_t count;
		uint16_t classes[3];
		size_t size;
		uint64_t bytes;
		int parts;
	} rows[] = {
		{ true, 2, { 0, 1 }, 8 + 2 * 88, 2 * GIB, 1 },
		{ false, 2, { 0, 1 }, 16 + 2 * 88, 2 * GIB, 1 },
		{ true, 3, { 0, 1, 1 }, 8 + 3 * 88, 5 * GIB, 2 },
		{ true, 1, { 0 }, 8 + 88, 0, 0 },
		/* What is not there is not read, whatever it says. */
		{ true, UINT32_MAX, { 1, 1, 1 }, 8 + 2 * 88 + 87, 3 * GIB, 2 },
		{ true, 1, { 1 }, 7, 0, 0 },
	};
	unsigned char answer[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t head = rows[i].is_xe ? 8 : 16;
		struct intel_vram vram;

		memset(answer, 0, sizeof(answer));
		memcpy(answer, &rows[i].count, sizeof(rows[i].count));
		for (size_t j = 0; j < 3; j++) {
			uint64_t bytes = (j + 1) * GIB;

			memcpy(answer + head + j * 88, &rows[i].classes[j], 2);
			memcpy(answer + head + j * 88 + 8, &bytes, 8);
		}
		print_message("row %zu\n", i);
		vram = intel_answer_read(answer, rows[i].size, rows[i].is_xe);
		assert_true(vram.bytes == rows[i].bytes);
		assert_int_equal(vram.parts, rows[i].parts);
	}
	/* No such node, and one whose driver knows no such question. */
	assert_true(intel_query("/nowhere/renderD128", true).bytes == 0);
	assert_true(intel_query("/dev/null", true).bytes == 0);
	assert_true(intel_query("/dev/null", false).bytes == 0);
}

static void open_files_tell_memory(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
		bool computes;
	} rows[] = {
		{ "drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00."
		  "0\n"
		  "drm-total-gtt:\t192 KiB\ndrm-total-vram0:\t23992 KiB\n"
		  "drm-resident-vram0:\t8 MiB\ndrm-cycles-rcs:\t28257900\n"
		  "drm-cycles-ccs:\t0\ndrm-total-cycles-ccs:\t7655183225\n",
		  8 * MIB, false },
		{ "drm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
		  "drm-resident-vram0:\t8 MiB\ndrm-cycles-ccs:\t7\n",
		  8 * MIB, true },
		{ "drm-driver:\ti915\ndrm-client-id:\t3\n"
		  "drm-pdev:\t0000:03:00.0\ndrm-resident-local0:\t512 KiB\n"
		  "drm-engine-compute:\t15 ns\n",
		  512 * KIB, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct drm_usage usage;

		print_message("row %zu\n", i);
		assert_true(drm_usage_read(rows[i].text, &usage));
		assert_true(usage.vram_bytes == rows[i].bytes);
		assert_int_equal(usage.computes, rows[i].computes);
	}
}

static void looks_add_up_processes(void **state)
{
	struct intel_tree *tree = *state;
	struct gpu_look *look = calloc(1, sizeof(*look));
	char *link = xasprintf("%s/41/fd/3", tree->proc);

	assert_non_null(look);
	intel_put(tree, "proc/41/fd/none", "");
	assert_int_equal(symlink("/dev/dri/renderD130", link), 0);
	free(link);
	intel_put(tree, "proc/41/fdinfo/3",
		  "drm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
		  "drm-resident-vram0:\t1 GiB\ndrm-cycles-ccs:\t7\n");
	(void)snprintf(look->uuid, sizeof(look->uuid), "INTEL-0000-03-00-0");
	intel_look(&tree->roots, look);
	assert_true(look->has_memory);
	assert_string_equal(look->problem, "");
	assert_true(look->memory.total_bytes == 16 * GIB);
	assert_true(look->memory.free_bytes == 15 * GIB);
	assert_int_equal(look->process_count, 1);
	assert_int_equal(look->processes[0].pid, 41);
	assert_true(look->processes[0].is_compute);

	(void)snprintf(look->uuid, sizeof(look->uuid), "INTEL-0000-09-00-0");
	intel_look(&tree->roots, look);
	assert_false(look->has_memory);
	assert_int_equal(look->process_count, -1);
	assert_non_null(strstr(look->problem, "not there any more"));
	free(look);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cards_are_described),    TEST(a_mask_is_a_filter),
		TEST(no_memory_is_guessed),   TEST(drivers_answer),
		TEST(open_files_tell_memory), TEST(looks_add_up_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
