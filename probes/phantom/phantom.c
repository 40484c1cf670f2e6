/* Cards that are not there, as a probe or a command gets to see them. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/phantom.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "probes/channel/python_hook.h"
#include "probes/phantom/device/sim_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILTIN "probes/phantom/"
/* Of the folder: a folder in which Python finds the hook at its start. */
#define HOOK_FOLDER "python"
#define DRIVER "libcuda.so.1"
#define NVML "libnvidia-ml.so.1"
#define STATE "state"

/* The name of an embedded library, or NULL for another file. */
static const char *library_name(const struct builtin_file *file)
{
	size_t length = strlen(BUILTIN);

	return strncmp(file->path, BUILTIN, length) == 0 ? file->path + length
							 : NULL;
}

/* Programs load the driver and NVML themselves; the others they link. */
static bool is_linked(const char *name)
{
	return strcmp(name, DRIVER) != 0 && strcmp(name, NVML) != 0;
}

static int unpack(const char *folder, struct error *err)
{
	int result = 0;

	for (const struct builtin_file *file = builtin_files;
	     file->path && result == 0; file++) {
		const char *name = library_name(file);
		char *path;

		if (!name)
			continue;
		path = xasprintf("%s/%s", folder, name);
		result = textfile_make(path, 0600, file->data, file->size, err);
		free(path);
	}
	return result;
}

/* What watches a Python program from inside. */
static int unpack_hook(const char *folder, struct error *err)
{
	char *hook = xasprintf("%s/" HOOK_FOLDER, folder);
	int result = python_hook_write(&python_hook_phantom, hook, err);

	free(hook);
	return result;
}

/* Stays for good: children look it up by its name. */
static int load_library(const char *folder, const char *name, struct error *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const char *why = library ? NULL : dlerror();

	free(path);
	return library ? 0
		       : error_set(err, -ELIBACC,
				   "the libraries of a phantom card cannot be "
				   "loaded (%.200s); --scratch DIR names "
				   "another place for them",
				   why ? why : "for no known reason");
}

/* As probes/phantom/device/sim_state.h reads it. */
static char *devices_text(const struct gpu_model *card, int count)
{
	struct strbuf text = STRBUF_INIT;

	for (int i = 0; i < count; i++)
		strbuf_addf(&text, "%s%s:%" PRIu64 ":0:%" PRIu64 ":%d.%d:%d",
			    i ? ";" : "", card->name, card->usable_bytes,
			    card->context_bytes, card->compute_major,
			    card->compute_minor, card->multiprocessors);
	return strbuf_detach(&text);
}

int phantom_change(const char *folder, const struct gpu_model *card, int count,
		   struct error *err)
{
	char *devices = devices_text(card, count);
	char *state = xasprintf("%s/" STATE, folder);
	int result = 0;

	/* The user's words are of other cards. */
	(void)unsetenv("CUDA_VISIBLE_DEVICES");
	(void)unlink(state);
	if (setenv("AUTOFIT_SIM_DEVICES", devices, 1) < 0 ||
	    setenv("AUTOFIT_SIM_STATE", state, 1) < 0)
		result = error_set(err, -ENOMEM, "no room for a variable");
	free(devices);
	free(state);
	return result;
}

int phantom_open(const char *folder, const struct gpu_model *card, int count,
		 struct error *err)
{
	int result = unpack(folder, err);

	if (result == 0)
		result = unpack_hook(folder, err);
	if (result == 0)
		result = phantom_change(folder, card, count, err);
	if (result == 0)
		result = load_library(folder, DRIVER, err);
	if (result == 0)
		result = load_library(folder, NVML, err);
	return result;
}

/*
 * Compilers keep what they made for a card by its name, with constants that
 * they computed and trials that they timed there: a real card must not get it.
 */
static void keep_compiled(const char *folder, struct strlist *environment)
{
	static const char *const variables[] = { "TORCHINDUCTOR_CACHE_DIR",
						 "TRITON_CACHE_DIR",
						 "CUPY_CACHE_DIR" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		char *cache = xasprintf("%s/%s", folder, variables[i]);

		strlist_env_set(environment, variables[i], cache);
		free(cache);
	}
	strlist_env_set(environment, "USE_PYTORCH_KERNEL_CACHE", "0");
}

void phantom_environment(const char *folder, struct strlist *environment)
{
	struct strbuf preload = STRBUF_INIT;
	char *hooks = xasprintf("%s/" HOOK_FOLDER, folder);

	for (const struct builtin_file *file = builtin_files; file->path;
	     file++) {
		const char *name = library_name(file);

		if (name && is_linked(name))
			strbuf_addf(&preload, "%s%s/%s",
				    preload.length ? ":" : "", folder, name);
	}
	strlist_env_prepend(environment, "LD_PRELOAD", strbuf_text(&preload));
	strlist_env_prepend(environment, "LD_LIBRARY_PATH", folder);
	strlist_env_prepend(environment, "PYTHONPATH", hooks);
	keep_compiled(folder, environment);
	strlist_env_set(environment, "AUTOFIT_SIM_DEVICES",
			getenv("AUTOFIT_SIM_DEVICES"));
	strlist_env_set(environment, "AUTOFIT_SIM_STATE",
			getenv("AUTOFIT_SIM_STATE"));
	strbuf_release(&preload);
	free(hooks);
}

/* The whole state or nothing. */
static int read_state(const char *folder, struct sim_state *state,
		      struct error *err)
{
	char *path = xasprintf("%s/" STATE, folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : pread(fd, state, sizeof(*state), 0);

	if (fd >= 0)
		(void)close(fd);
	free(path);
	return length == (ssize_t)sizeof(*state)
		       ? 0
		       : error_set(err, -ENOENT,
				   "no process used the phantom card");
}

int phantom_look(const char *folder, struct phantom_seen *seen,
		 struct error *err)
{
	struct sim_state *state = xcalloc(1, sizeof(*state));
	int result = read_state(folder, state, err);

	memset(seen, 0, sizeof(*seen));
	for (size_t i = 0; result == 0 && i < SIM_USAGES; i++)
		if (state->usages[i].pid &&
		    state->usages[i].device < SIM_DEVICES)
			seen->usages[seen->usage_count++] = state->usages[i];
	for (int i = 0; result == 0 && i < SIM_NOTE_KINDS; i++) {
		seen->notes[i] = state->notes[i];
		seen->notes[i].text[SIM_NOTE_TEXT_MAX - 1] = '\0';
	}
	free(state);
	return result;
}
