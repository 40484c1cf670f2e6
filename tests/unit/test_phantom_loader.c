/* What a library asks of others is read; what is missing of that is made. */
/* SPDX-License-Identifier: MIT */
/* USES base */
/* NOLINTBEGIN(bugprone-suspicious-include): of a library of its own */
#include "probes/phantom/loader/elf_stub.c"
#include "probes/phantom/loader/elf_wants.c"
#include "probes/phantom/loader/vendor.c"
/* NOLINTEND(bugprone-suspicious-include) */

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef int function_of_nothing(void);

static const char *refused;

static int note_refused(const char *name)
{
	refused = name;
	return 77;
}

/* A file that can be loaded, under that name. */
static void *load(const unsigned char *image, size_t size, int number)
{
	int fd = memfd_create("stub", 0);
	char path[64];
	void *library;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image, size), size);
	assert_true(dup2(fd, number) >= 0);
	(void)close(fd);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	(void)close(number);
	if (!library)
		fail_msg("%s", dlerror());
	return library;
}

static int call(void *function)
{
	function_of_nothing *called;

	assert_non_null(function);
	memcpy(&called, &function, sizeof(called));
	return called();
}

static void a_library_that_is_made_can_be_loaded(void **state)
{
	static const struct stub_name names[] = {
		{ "plainAnswers", NULL, false },
		{ "plainRefuses", NULL, true },
		{ "olderAnswers", "libolder.so.1", false },
		{ "olderRefuses", "libolder.so.1", true },
		{ "newerRefuses", "libnewer.so.2", true },
	};
	elf_stub_refuse_fn *refuse = note_refused;
	size_t size = 0;
	unsigned char *image =
		elf_stub_make("libmade.so.3", names, COUNT(names), &size);
	void *library;
	void *slot;

	(void)state;
	assert_non_null(image);
	library = load(image, size, 200);
	slot = dlsym(library, ELF_STUB_SLOT);
	assert_non_null(slot);
	memcpy(slot, &refuse, sizeof(refuse));
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *node = names[i].node;
		void *found = node ? dlvsym(library, names[i].name, node)
				   : dlsym(library, names[i].name);

		refused = "";
		assert_int_equal(call(found), names[i].is_refused ? 77 : 0);
		assert_string_equal(refused,
				    names[i].is_refused ? names[i].name : "");
	}
	assert_null(dlvsym(library, "olderAnswers", "libnewer.so.2"));
	assert_null(dlsym(library, "nobodyAsked"));
	/* It is known by the name that others need. */
	assert_ptr_equal(dlopen("libmade.so.3", RTLD_LAZY | RTLD_NOLOAD),
			 library);
	free(image);
}

static void a_library_of_no_names_as_well(void **state)
{
	size_t size = 0;
	unsigned char *image = elf_stub_make("libnone.so.1", NULL, 0, &size);

	(void)state;
	assert_non_null(image);
	assert_non_null(load(image, size, 201));
	assert_non_null(dlopen("libnone.so.1", RTLD_LAZY | RTLD_NOLOAD));
	free(image);
}

/* More than the functions' code can reach would show as a wrong name. */
static void many_names_are_told_apart(void **state)
{
	enum { MANY = 3000 };
	static char texts[MANY][40];
	static struct stub_name names[MANY];
	elf_stub_refuse_fn *refuse = note_refused;
	unsigned char *image;
	void *library;
	void *slot;
	size_t size = 0;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "function%zu", i);
		names[i] = (struct stub_name){ texts[i], "libmany.so", true };
	}
	image = elf_stub_make("libmany.so", names, MANY, &size);
	assert_non_null(image);
	library = load(image, size, 202);
	slot = dlsym(library, ELF_STUB_SLOT);
	assert_non_null(slot);
	memcpy(slot, &refuse, sizeof(refuse));
	for (size_t i = 0; i < MANY; i += 37) {
		assert_int_equal(call(dlsym(library, texts[i])), 77);
		assert_string_equal(refused, texts[i]);
	}
	free(image);
}

/* All that is said of a file, whatever it is: how many names it asks for. */
static size_t read_through(const void *image, size_t size)
{
	struct elf_file file;
	struct elf_wanted wanted;
	size_t bytes = 0, count = 0;
	const char *name;

	if (!elf_file_read(&file, image, size))
		return 0;
	for (size_t i = 0; i < 100 && (name = elf_needed(&file, i)); i++)
		bytes += strlen(name);
	bytes += strlen(elf_run_path(&file));
	for (uint64_t i = 0; i <= file.asked && i < 5000; i++)
		if (elf_wanted(&file, i, &wanted)) {
			count++;
			bytes += strlen(wanted.name);
			bytes += wanted.library ? strlen(wanted.library) : 0;
			bytes += wanted.node ? strlen(wanted.node) : 0;
		}
	return bytes ? count : 0;
}

static unsigned char *read_own(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat info;
	unsigned char *image;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &info), 0);
	*size = (size_t)info.st_size;
	image = malloc(*size);
	assert_non_null(image);
	assert_int_equal(read(fd, image, *size), *size);
	(void)close(fd);
	return image;
}

/* This program, which was linked as any library. */
static void what_a_file_asks_for_is_read(void **state)
{
	bool needs_cmocka = false, asks_for_dlvsym = false;
	bool has_no_own = true;
	struct elf_file file;
	const char *name;
	size_t size;
	unsigned char *image = read_own(&size);

	(void)state;
	assert_true(elf_file_read(&file, image, size));
	for (size_t i = 0; (name = elf_needed(&file, i)); i++)
		needs_cmocka =
			needs_cmocka || has_beginning(name, "libcmocka.so");
	assert_true(needs_cmocka);
	for (uint64_t i = 1; i <= file.asked; i++) {
		struct elf_wanted wanted;

		if (!elf_wanted(&file, i, &wanted))
			continue;
		if (strcmp(wanted.name, "dlvsym") == 0) {
			asks_for_dlvsym = true;
			assert_true(has_beginning(wanted.library, "libc.so") ||
				    has_beginning(wanted.library, "libdl.so"));
			assert_true(has_beginning(wanted.node, "GLIBC_2."));
		}
		has_no_own = has_no_own && strcmp(wanted.name, "main") != 0;
	}
	assert_true(asks_for_dlvsym);
	assert_true(has_no_own);
	free(image);
}

/* A file of the user's may be anything: sanitizers see what is read. */
static void a_hostile_file_is_read_within_itself(void **state)
{
	size_t size, whole;
	unsigned char *image = read_own(&size);
	uint32_t dice = 12345;

	(void)state;
	whole = read_through(image, size);
	assert_true(whole > 10);
	for (size_t cut = 0; cut < size; cut += cut < 4096 ? 13 : 4099) {
		unsigned char *part = malloc(cut + 1);

		assert_non_null(part);
		memcpy(part, image, cut);
		(void)read_through(part, cut);
		free(part);
	}
	for (int i = 0; i < 3000; i++) {
		unsigned char kept[8];
		size_t at;

		/* Heads, and tables that stand first in a file. */
		dice = dice * 1664525U + 1013904223U;
		at = (dice >> 8) % (i % 2 ? 1024 : size < 65536 ? size : 65536);
		at = at > size - sizeof(kept) ? 0 : at;
		memcpy(kept, image + at, sizeof(kept));
		memset(image + at, i % 3 ? 0xff : (int)(dice >> 24),
		       1 + dice % sizeof(kept));
		(void)read_through(image, size);
		memcpy(image + at, kept, sizeof(kept));
	}
	assert_int_equal(read_through(image, size), whole);
	free(image);
}

static void whose_it_is(void **state)
{
	static const struct {
		const char *library;
		const char *name;
		bool is_vendors, is_plain, gives;
	} rows[] = {
		{ "libcublasLt.so.12", "cublasLtMatmul", true, false, false },
		{ "libcurl.so.4", "curl_easy_init", false, false, false },
		{ "libcups.so.2", "cupsGetDests", false, false, true },
		{ "libcuda.so.1", "cuInit", false, false, true },
		{ "libnvidia-ml.so.1", "nvmlInit_v2", false, false, true },
		{ "libcusparseLt.so.0", "cusparseLtInit", true, true, true },
		{ "libcusparse.so.12", "cusparseLtInit", true, false, true },
		{ "libnccl.so.2", "ncclAllReduce", true, true, false },
		{ "libnccl.so.2", "ncclGetUniqueId", true, true, true },
		{ "libcudart.so.13", "cudaGraphDoesThis", true, false, true },
		{ "libcusolver.so.11", "cusolverDnSpotrf_bufferSize", true,
		  false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (vendor_has_library(rows[i].library) != rows[i].is_vendors ||
		    !vendor_beginning(rows[i].library) == rows[i].is_plain ||
		    vendor_function_gives(rows[i].library, rows[i].name) !=
			    rows[i].gives)
			fail_msg("row %zu: %s", i, rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_that_is_made_can_be_loaded),
		cmocka_unit_test(a_library_of_no_names_as_well),
		cmocka_unit_test(many_names_are_told_apart),
		cmocka_unit_test(what_a_file_asks_for_is_read),
		cmocka_unit_test(a_hostile_file_is_read_within_itself),
		cmocka_unit_test(whose_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
