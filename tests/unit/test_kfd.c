/* AMD devices by the kernel's files, on trees that are made here. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/observers/gpu/kfd.h"

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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES "class/kfd/kfd/topology/nodes/"
#define DRM "class/drm/renderD"
#define CARD                                                                   \
	"cpu_cores_count 0\nsimd_count 304\nmem_banks_count 1\n"               \
	"gfx_target_version 90402\n"

struct tree {
	char folder[64];
	struct kfd_roots roots;
	struct gpu_device devices[GPU_MAX];
	struct error err;
};

static void put(const struct tree *tree, const char *name, const char *text)
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

/* A processor, and three cards: the second one has no number of its own. */
static int make_tree(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	char *ids;

	assert_non_null(tree);
	(void)snprintf(tree->folder, sizeof(tree->folder),
		       "/tmp/autofit-test-kfd-XXXXXX");
	assert_non_null(mkdtemp(tree->folder));
	ids = xasprintf("%s/amdgpu.ids", tree->folder);
	tree->roots = (struct kfd_roots){ tree->folder, ids };
	put(tree, NODES "0/properties", "cpu_cores_count 16\nsimd_count 0\n");
	put(tree, NODES "2/properties",
	    CARD "drm_render_minor 128\nunique_id 14205952441937526782\n");
	put(tree, NODES "2/gpu_id", "1234\n");
	put(tree, NODES "10/properties",
	    CARD "drm_render_minor 129\nunique_id 0\n");
	put(tree, NODES "10/gpu_id", "1235\n");
	put(tree, NODES "3/properties",
	    CARD "drm_render_minor 130\nunique_id 255\n");
	put(tree, NODES "3/gpu_id", "1236\n");
	put(tree, DRM "128/device/mem_info_vram_total", "68702699520\n");
	put(tree, DRM "128/device/mem_info_vram_used", "1073741824\n");
	put(tree, DRM "128/device/product_name", "AMD Instinct MI210\n");
	put(tree, DRM "129/device/mem_info_vram_total", "17163091968\n");
	put(tree, DRM "129/device/mem_info_vram_used", "0\n");
	put(tree, DRM "130/device/mem_info_vram_total", "17163091968\n");
	put(tree, DRM "130/device/mem_info_vram_used", "17163091969\n");
	put(tree, DRM "130/device/device", "0x74a1\n");
	put(tree, DRM "130/device/revision", "0x00\n");
	put(tree, "amdgpu.ids",
	    "# comment\n1.0.0\n1309,\t00,\tAMD Radeon R7 Graphics\n"
	    "74A1,\t00,\tAMD Instinct MI300X\n");
	*state = tree;
	return 0;
}

static int remove_tree(void **state)
{
	struct tree *tree = *state;
	char *command = xasprintf("rm -rf '%s'", tree->folder);

	assert_int_equal(system(command), 0);
	free(command);
	free((char *)(uintptr_t)tree->roots.ids);
	free(tree);
	return 0;
}

static int list(struct tree *tree, const char *rocr, const char *hip)
{
	const struct kfd_visible visible = { rocr, hip };

	return kfd_devices_list(&tree->roots, &visible, tree->devices,
				&tree->err);
}

static void cards_are_described(void **state)
{
	static const struct {
		const char *uuid, *name;
		uint64_t total, free_bytes;
	} rows[] = {
		{ "GPU-c525ae7ac5c77ffe", "AMD Instinct MI210",
		  UINT64_C(68702699520), UINT64_C(67628957696) },
		{ "GPU-00000000000000ff", "AMD Instinct MI300X",
		  UINT64_C(17163091968), 0 },
		{ "AMD-render-129", "AMD gfx942", UINT64_C(17163091968),
		  UINT64_C(17163091968) },
	};
	struct tree *tree = *state;

	/* In the order of the kernel's numbers, as ROCm counts them. */
	assert_int_equal(list(tree, NULL, NULL), 3);
	for (int i = 0; i < 3; i++) {
		const struct gpu_device *device = &tree->devices[i];

		print_message("%s\n", rows[i].name);
		assert_string_equal(device->uuid, rows[i].uuid);
		assert_string_equal(device->name, rows[i].name);
		assert_int_equal(device->index, i);
		assert_true(device->total_bytes == rows[i].total);
		assert_true(device->free_bytes == rows[i].free_bytes);
		assert_int_equal(device->free_source, GPU_FREE_KERNEL);
		assert_int_equal(device->vendor, GPU_AMD);
	}
}

static void variables_choose(void **state)
{
	/* Cards by the last letter of their uuid: e f 9. */
	static const struct {
		const char *rocr, *hip, *cards;
	} rows[] = {
		{ NULL, NULL, "ef9" },
		{ "", NULL, "" },
		{ NULL, "", "" },
		{ NULL, "-1", "" },
		{ "1", NULL, "f" },
		{ "2,0", NULL, "9e" },
		{ "2,0", "1", "e" },
		{ "2,0", "1,0", "e9" },
		{ "2,0", "2", "" },
		{ NULL, "0,0,2", "e9" },
		{ "0,7,1", NULL, "e" },
		{ "GPU-00000000000000FF,0", NULL, "fe" },
		{ "GPU-00000000000000fe,0", NULL, "" },
		{ NULL, "1,x,0", "f" },
	};
	struct tree *tree = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char cards[8] = "";
		int count = list(tree, rows[i].rocr, rows[i].hip);

		print_message("row %zu\n", i);
		for (int j = 0; j < count; j++) {
			const char *uuid = tree->devices[j].uuid;

			assert_int_equal(tree->devices[j].index, j);
			cards[j] = uuid[strlen(uuid) - 1];
		}
		assert_string_equal(cards, rows[i].cards);
	}
}

static void what_is_no_card_is_passed_over(void **state)
{
	static const struct {
		const char *properties;
		int result;
	} rows[] = {
		{ "cpu_cores_count 16\nsimd_count 0\n", 3 },
		{ "cpu_cores_count 0\nxsimd_count 7\n", 3 },
		{ "simd_count -1\n", 3 },
		{ "simd_count many\n", 3 },
		{ "", 3 },
		{ "cpu_cores_count 0\nsimd_count 304\nmem_banks_count 1\n",
		  -EIO },
	};
	struct tree *tree = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("properties: %s", rows[i].properties);
		put(tree, NODES "11/properties", rows[i].properties);
		assert_int_equal(list(tree, NULL, NULL), rows[i].result);
	}
	assert_non_null(strstr(tree->err.message, "does not tell its memory"));
	put(tree, DRM "129/device/mem_info_vram_used", "lots\n");
	put(tree, NODES "11/properties", "");
	assert_int_equal(list(tree, NULL, NULL), -EIO);
}

static void no_kernel_files_are_no_cards(void **state)
{
	struct tree *tree = *state;

	tree->roots.sys = "/nowhere";
	assert_int_equal(list(tree, NULL, NULL), 0);
}

static void looks_tell_memory_and_processes(void **state)
{
	struct tree *tree = *state;
	struct gpu_look *look = calloc(1, sizeof(*look));

	assert_non_null(look);
	put(tree, "class/kfd/kfd/proc/1/vram_1234", "1073741824\n");
	put(tree, "class/kfd/kfd/proc/77/vram_1235", "4096\n");
	put(tree, "class/kfd/kfd/proc/78/vram_1234", "0\n");
	put(tree, "class/kfd/kfd/proc/79/vram_1234", "-5\n");
	put(tree, "class/kfd/kfd/proc/x/vram_1234", "5\n");
	(void)snprintf(look->uuid, sizeof(look->uuid), "GPU-c525ae7ac5c77ffe");
	kfd_look(&tree->roots, look);
	assert_true(look->has_memory);
	assert_string_equal(look->problem, "");
	assert_true(look->memory.total_bytes == UINT64_C(68702699520));
	assert_true(look->memory.free_bytes == UINT64_C(67628957696));
	assert_int_equal(look->process_count, 1);
	assert_int_equal(look->processes[0].pid, 1);
	assert_true(look->processes[0].used_bytes == GIB);
	assert_true(look->processes[0].is_compute);

	(void)snprintf(look->uuid, sizeof(look->uuid), "GPU-0000000000000001");
	kfd_look(&tree->roots, look);
	assert_false(look->has_memory);
	assert_int_equal(look->process_count, -1);
	assert_non_null(strstr(look->problem, "not there any more"));
	free(look);
}

static void open_files_tell_memory(void **state)
{
	static const struct {
		const char *text;
		bool is_usage;
		uint64_t client, bytes;
	} rows[] = {
		{ "pos:\t0\nflags:\t02100002\n", false, 0, 0 },
		{ "drm-driver:\tamdgpu\ndrm-client-id:\t7\n", false, 0, 0 },
		{ "drm-pdev:\t0000:03:00.0\n", false, 0, 0 },
		{ "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\n"
		  "drm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t2048 KiB\n"
		  "drm-memory-gtt: \t9 KiB\n",
		  true, 7, 2 * MIB },
		{ "drm-client-id: 8\ndrm-pdev:0000:03:00.0\n"
		  "drm-resident-vram:\t3 MiB\ndrm-memory-vram:\t2 MiB\n",
		  true, 8, 3 * MIB },
		{ "drm-client-id: 9\ndrm-pdev:0000:03:00.0\n"
		  "drm-memory-vram: 512\n",
		  true, 9, 512 },
		{ "drm-client-id: 9\ndrm-pdev:0000:03:00.0\n"
		  "drm-memory-vram: much\n",
		  true, 9, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct drm_usage usage;

		print_message("row %zu\n", i);
		assert_int_equal(drm_usage_read(rows[i].text, &usage),
				 rows[i].is_usage);
		if (!rows[i].is_usage)
			continue;
		assert_string_equal(usage.device, "0000:03:00.0");
		assert_true(usage.client_id == rows[i].client);
		assert_true(usage.vram_bytes == rows[i].bytes);
	}
}

/* A /proc in which one process has a device open twice, and another draws. */
static void processes_are_found_by_open_files(void **state)
{
	static const char usage[] = "drm-client-id:\t7\n"
				    "drm-pdev:\t0000:03:00.0\n"
				    "drm-memory-vram:\t2 MiB\n";
	struct tree *tree = *state;
	struct gpu_process *processes =
		calloc(GPU_PROCESSES_MAX, sizeof(*processes));
	char *proc;
	static const struct {
		const char *link, *target;
	} links[] = {
		{ "41/fd/3", "/dev/dri/renderD128" },
		{ "41/fd/4", "/dev/dri/renderD128" },
		{ "41/fd/5", "/dev/null" },
		{ "41/fd/6", "/dev/kfd" },
		{ "42/fd/3", "/dev/dri/renderD128" },
		{ "43/fd/3", "/dev/dri/renderD128" },
		{ "44/fd/3", "/dev/dri/card0" },
	};

	assert_non_null(processes);
	put(tree, "proc/41/fd/none", "");
	put(tree, "proc/42/fd/none", "");
	put(tree, "proc/43/fd/none", "");
	put(tree, "proc/44/fd/none", "");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		char *info = xstrdup(links[i].link);
		char *path;

		/* "41/fd/3" beside "41/fdinfo/3" */
		path = xasprintf("%s/proc/%s", tree->folder, links[i].link);
		assert_int_equal(symlink(links[i].target, path), 0);
		free(path);
		path = xasprintf("proc/%.2s/fdinfo/%s", info, info + 6);
		put(tree, path,
		    strncmp(info, "43", 2) == 0 ? "pos: 0\n" : usage);
		free(path);
		free(info);
	}
	processes[0] = (struct gpu_process){ .pid = 42, .used_bytes = 5 };
	proc = xasprintf("%s/proc", tree->folder);
	assert_int_equal(
		drm_fdinfo_processes(proc, "0000:03:00.0", processes, 1), 3);
	assert_int_equal(processes[1].pid, 41);
	assert_true(processes[1].is_compute);
	assert_int_equal(processes[2].pid, 44);
	assert_false(processes[2].is_compute);
	assert_true(processes[1].used_bytes == 2 * MIB);
	assert_true(processes[0].used_bytes == 5);
	assert_int_equal(
		drm_fdinfo_processes(proc, "0000:04:00.0", processes, 0), 0);
	free(proc);
	free(processes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cards_are_described),
		TEST(variables_choose),
		TEST(what_is_no_card_is_passed_over),
		TEST(no_kernel_files_are_no_cards),
		TEST(looks_tell_memory_and_processes),
		TEST(open_files_tell_memory),
		TEST(processes_are_found_by_open_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
