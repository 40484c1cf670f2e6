/* What a program is about to ask of NVIDIA's libraries, and they lack here. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/loader/gaps.h"

#include "probes/phantom/device/phantom_note.h"
#include "probes/phantom/loader/elf_stub.h"
#include "probes/phantom/loader/elf_wants.h"
#include "probes/phantom/loader/vendor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 4096
#define WANTS_MAX 65536
#define PLAIN_MAX 8
#define ORIGIN "$ORIGIN"

/* A name that a file asks a library of NVIDIA's for, or the library alone. */
struct want {
	char *library;
	char *node; /* "": none */
	char *name; /* "": the library is needed, whatever of it */
};

/* What one call finds. */
struct gaps_search {
	gaps_dlopen_fn *load;
	char *files[FILES_MAX]; /* those that are still to be read come last */
	size_t file_count;
	struct want *wants;
	size_t want_count, want_space;
};

/* Files that were read, for good: their number on their device, and folder. */
static struct {
	pthread_mutex_t lock;
	struct {
		dev_t device;
		ino_t number;
		char *folder; /* NULL: as of one before */
	} files[FILES_MAX];
	size_t count;
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_new(const struct stat *info)
{
	for (size_t i = 0; i < seen.count; i++)
		if (seen.files[i].device == info->st_dev &&
		    seen.files[i].number == info->st_ino)
			return false;
	return seen.count < FILES_MAX;
}

static bool has_folder(const char *folder)
{
	for (size_t i = 0; i < seen.count; i++)
		if (seen.files[i].folder &&
		    strcmp(seen.files[i].folder, folder) == 0)
			return true;
	return false;
}

static void remember(const struct stat *info, const char *folder)
{
	char *copy = has_folder(folder) ? NULL : strdup(folder);

	seen.files[seen.count].device = info->st_dev;
	seen.files[seen.count].number = info->st_ino;
	seen.files[seen.count++].folder = copy;
}

static void add_file(struct gaps_search *search, const char *folder,
		     const char *name)
{
	char *path = NULL;

	if (search->file_count == FILES_MAX ||
	    asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return;
	if (access(path, R_OK) == 0)
		search->files[search->file_count++] = path;
	else
		free(path);
}

static void add_want(struct gaps_search *search, const char *library,
		     const char *node, const char *name)
{
	struct want want;

	if (search->want_count == search->want_space) {
		size_t space = search->want_space ? 2 * search->want_space : 64;
		void *grown = space > WANTS_MAX
				      ? NULL
				      : realloc(search->wants,
						space * sizeof(*search->wants));

		if (!grown)
			return;
		search->wants = grown;
		search->want_space = space;
	}
	want = (struct want){ strdup(library), strdup(node), strdup(name) };
	if (want.library && want.node && want.name) {
		search->wants[search->want_count++] = want;
		return;
	}
	free(want.library);
	free(want.node);
	free(want.name);
}

/* Each folder of the run path in its turn; "$ORIGIN" is the file's own. */
static void add_from_run_path(struct gaps_search *search, const char *own,
			      const char *run_path, const char *name)
{
	char *folders = strdup(run_path);
	char *rest = folders;
	char *folder;

	while (folders && (folder = strsep(&rest, ":"))) {
		char *whole = NULL;

		if (strncmp(folder, ORIGIN, strlen(ORIGIN)) == 0 &&
		    asprintf(&whole, "%s%s", own, folder + strlen(ORIGIN)) < 0)
			break;
		add_file(search, whole ? whole : folder, name);
		free(whole);
	}
	free(folders);
}

static void read_needed(struct gaps_search *search, const struct elf_file *file,
			const char *folder)
{
	const char *name;

	for (size_t i = 0; (name = elf_needed(file, i)); i++)
		if (vendor_has_library(name))
			add_want(search, name, "", "");
		else if (strchr(name, '/'))
			add_file(search, "", name);
		else
			add_from_run_path(search, folder, elf_run_path(file),
					  name);
}

/* Libraries that a file needs, and whose names say of whom they are only by how
 * they begin. */
struct plain_libraries {
	const char *names[PLAIN_MAX];
	size_t count;
};

static bool find_plain_libraries(const struct elf_file *file,
				 struct plain_libraries *plain)
{
	bool needs_any = false;
	const char *name;

	plain->count = 0;
	for (size_t i = 0; (name = elf_needed(file, i)); i++) {
		needs_any = needs_any || vendor_has_library(name);
		if (vendor_beginning(name) && plain->count < PLAIN_MAX)
			plain->names[plain->count++] = name;
	}
	return needs_any;
}

static const char *plain_library_of(const struct plain_libraries *plain,
				    const char *name)
{
	for (size_t i = 0; i < plain->count; i++) {
		const char *beginning = vendor_beginning(plain->names[i]);

		if (strncmp(name, beginning, strlen(beginning)) == 0)
			return plain->names[i];
	}
	return NULL;
}

static void read_wanted(struct gaps_search *search, const struct elf_file *file)
{
	struct plain_libraries plain;
	struct elf_wanted wanted;

	if (!find_plain_libraries(file, &plain))
		return;
	for (uint64_t i = 1; i <= file->asked; i++) {
		if (!elf_wanted(file, i, &wanted))
			continue;
		if (!wanted.library)
			wanted.library = plain_library_of(&plain, wanted.name);
		if (wanted.library && vendor_has_library(wanted.library))
			add_want(search, wanted.library,
				 wanted.node ? wanted.node : "", wanted.name);
	}
}

static void read_image(struct gaps_search *search, const char *path,
		       const struct stat *info, const void *image)
{
	char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	struct elf_file file;

	if (slash) {
		*slash = '\0';
		remember(info, folder);
		if (elf_file_read(&file, image, (size_t)info->st_size)) {
			read_needed(search, &file, folder);
			read_wanted(search, &file);
		}
	}
	free(folder);
}

static void read_file(struct gaps_search *search, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	void *image;

	if (fd < 0)
		return;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	    info.st_size > 0 && is_new(&info)) {
		image = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE,
			     fd, 0);
		if (image != MAP_FAILED) {
			read_image(search, path, &info, image);
			(void)munmap(image, (size_t)info.st_size);
		}
	}
	(void)close(fd);
}

/* Those that are needed are put behind, and read in their turn. */
static void read_all(struct gaps_search *search, const char *path)
{
	if (strchr(path, '/'))
		add_file(search, "", path);
	else
		for (size_t i = 0; i < seen.count; i++)
			if (seen.files[i].folder)
				add_file(search, seen.files[i].folder, path);
	for (size_t i = 0; i < search->file_count; i++)
		read_file(search, search->files[i]);
}

static int by_place(const void *a, const void *b)
{
	const struct want *one = a, *other = b;
	int order = strcmp(one->library, other->library);

	if (order == 0)
		order = strcmp(one->node, other->node);
	return order ? order : strcmp(one->name, other->name);
}

/* Beside this library: where it was loaded from, others can be. The caller
 * frees its name; a name of its own, for under one a process has one library.
 */
static char *make_stub_file(const unsigned char *image, size_t size)
{
	Dl_info own;
	char *path = NULL;
	int fd;

	if (!dladdr(&seen, &own) ||
	    asprintf(&path, "%s.XXXXXX", own.dli_fname) < 0)
		return NULL;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size)
		(void)unlink(path);
	if (fd >= 0)
		(void)close(fd);
	return path;
}

static void load_image(struct gaps_search *search, const unsigned char *image,
		       size_t size)
{
	elf_stub_refuse_fn *refuse = phantom_refuse;
	char *path = make_stub_file(image, size);
	void *library =
		path ? search->load(path, RTLD_LAZY | RTLD_GLOBAL) : NULL;
	void *slot = library ? dlsym(library, ELF_STUB_SLOT) : NULL;

	if (slot)
		memcpy(slot, &refuse, sizeof(refuse));
	if (path)
		(void)unlink(path);
	free(path);
}

static bool exports_name(void *library, const struct want *want)
{
	return *want->node ? dlvsym(library, want->name, want->node) != NULL
			   : dlsym(library, want->name) != NULL;
}

/* Of one library, in order. */
static void fill_library(struct gaps_search *search, const struct want *wants,
			 size_t count)
{
	const char *soname = wants[0].library;
	void *library = search->load(soname, RTLD_LAZY | RTLD_NOLOAD);
	struct stub_name *names = calloc(count, sizeof(*names));
	char *own_name = NULL;
	unsigned char *image = NULL;
	size_t missing = 0, size;

	for (size_t i = 0; names && i < count; i++) {
		if (!*wants[i].name ||
		    (i && by_place(&wants[i - 1], &wants[i]) == 0) ||
		    (library && exports_name(library, &wants[i])))
			continue;
		names[missing].name = wants[i].name;
		names[missing].node = *wants[i].node ? wants[i].node : NULL;
		names[missing++].is_refused =
			vendor_function_gives(soname, wants[i].name);
	}
	if (names && (missing || !library) &&
	    asprintf(&own_name, "%s%s", library ? "autofit-more-" : "",
		     soname) >= 0)
		image = elf_stub_make(own_name, names, missing, &size);
	if (image)
		load_image(search, image, size);
	if (library)
		(void)dlclose(library);
	free(image);
	free(own_name);
	free(names);
}

static void fill_libraries(struct gaps_search *search)
{
	struct want *wants = search->wants;
	size_t from = 0;

	if (search->want_count)
		qsort(wants, search->want_count, sizeof(*wants), by_place);
	for (size_t i = 1; i <= search->want_count; i++)
		if (i == search->want_count ||
		    strcmp(wants[i].library, wants[from].library) != 0) {
			fill_library(search, wants + from, i - from);
			from = i;
		}
}

static void release(struct gaps_search *search)
{
	for (size_t i = 0; i < search->want_count; i++) {
		free(search->wants[i].library);
		free(search->wants[i].node);
		free(search->wants[i].name);
	}
	for (size_t i = 0; i < search->file_count; i++)
		free(search->files[i]);
	free(search->wants);
	free(search);
}

/* It was loaded before, and its gaps were filled. */
static bool is_loaded(const char *path, gaps_dlopen_fn *load)
{
	void *library = load(path, RTLD_LAZY | RTLD_NOLOAD);

	if (library)
		(void)dlclose(library);
	return library != NULL;
}

void gaps_fill(const char *path, gaps_dlopen_fn *load)
{
	int saved = errno;
	struct gaps_search *search =
		is_loaded(path, load) ? NULL : calloc(1, sizeof(*search));

	if (search) {
		search->load = load;
		(void)pthread_mutex_lock(&seen.lock);
		read_all(search, path);
		fill_libraries(search);
		(void)pthread_mutex_unlock(&seen.lock);
		release(search);
	}
	errno = saved;
}
