/* Looks functions of a driver up in the ways programs do, and calls them. */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Arguments are words, done one after the other:
 *
 *   open PATH, all, self, close   where to look: that library, RTLD_DEFAULT,
 *                                 dlopen(NULL); away with the library
 *   find NAME                     whose NAME dlsym finds
 *   ask NAME VERSION FLAGS        whose function cuGetProcAddress_v2 answers
 *   ask-old NAME VERSION FLAGS    the same of cuGetProcAddress
 *   call                          cuMemGetInfo_v2, which tells of its driver
 *   use PATH NAME                 calls void NAME(void) of that library
 *   threads COUNT                 so many threads look up and call at once
 *   fork                          what follows happens in a child
 */
typedef int ask_old(const char *, void **, int, unsigned long long);
typedef int ask_new(const char *, void **, int, unsigned long long, int *);
typedef int get_info(size_t *, size_t *);

enum next {
	GO_ON,
	END_WELL,
	END_BADLY,
};

struct word {
	const char *name;
	int arguments;
	enum next (*run)(void **handle, char **arguments);
};

static const char *owner(void *address)
{
	const char *slash;
	Dl_info info;

	if (!address)
		return "nobody";
	if (!dladdr(address, &info) || !info.dli_fname)
		return "a stranger";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static const char *symbol(void *address)
{
	Dl_info info;

	if (!address || !dladdr(address, &info) || !info.dli_sname)
		return "";
	return info.dli_sname;
}

static enum next on_open(void **handle, char **arguments)
{
	*handle = dlopen(arguments[0], RTLD_NOW | RTLD_LOCAL);
	if (!*handle)
		printf("%s\n", dlerror());
	return *handle ? GO_ON : END_BADLY;
}

static enum next on_all(void **handle, char **arguments)
{
	(void)arguments;
	*handle = RTLD_DEFAULT;
	return GO_ON;
}

static enum next on_self(void **handle, char **arguments)
{
	(void)arguments;
	*handle = dlopen(NULL, RTLD_NOW);
	return *handle ? GO_ON : END_BADLY;
}

static enum next on_close(void **handle, char **arguments)
{
	(void)arguments;
	return dlclose(*handle) == 0 ? GO_ON : END_BADLY;
}

/* What a lookup leaves in errno and in dlerror() is part of its answer. */
static enum next on_find(void **handle, char **arguments)
{
	void *found;
	char *error;

	(void)dlerror();
	errno = 77;
	found = dlsym(*handle, arguments[0]);
	if (found && errno != 77)
		printf("errno became %d\n", errno);
	error = dlerror();
	printf("%s is of %s%s\n", arguments[0], owner(found),
	       !found == !error ? ", but dlerror differs" : "");
	return GO_ON;
}

static enum next on_ask(void **handle, char **arguments)
{
	void *function = dlsym(*handle, "cuGetProcAddress_v2");
	int version = (int)strtol(arguments[1], NULL, 10);
	unsigned long long flags = strtoull(arguments[2], NULL, 10);
	void *found = NULL;
	int status = 7, result;

	if (!function)
		return END_BADLY;
	result = __extension__((ask_new *)function)(arguments[0], &found,
						    version, flags, &status);
	printf("%s %d %llu: %d, %d, %s of %s\n", arguments[0], version, flags,
	       result, status, symbol(found), owner(found));
	return GO_ON;
}

static enum next on_ask_old(void **handle, char **arguments)
{
	void *function = dlsym(*handle, "cuGetProcAddress");
	int version = (int)strtol(arguments[1], NULL, 10);
	unsigned long long flags = strtoull(arguments[2], NULL, 10);
	void *found = NULL;
	int result;

	if (!function)
		return END_BADLY;
	result = __extension__((ask_old *)function)(arguments[0], &found,
						    version, flags);
	printf("%s %d %llu: %d, %s of %s\n", arguments[0], version, flags,
	       result, symbol(found), owner(found));
	return GO_ON;
}

static int call(void *handle)
{
	size_t free_bytes = 0, total_bytes = 0;
	void *function = dlsym(handle, "cuMemGetInfo_v2");

	if (!function ||
	    __extension__((get_info *)function)(&free_bytes, &total_bytes) != 0)
		return -1;
	return (int)total_bytes;
}

static enum next on_call(void **handle, char **arguments)
{
	(void)arguments;
	printf("driver %d\n", call(*handle));
	return GO_ON;
}

struct crowd {
	pthread_barrier_t barrier;
	void *handle;
	atomic_int good;
};

static void *on_thread(void *data)
{
	struct crowd *crowd = data;

	(void)pthread_barrier_wait(&crowd->barrier);
	if (call(crowd->handle) > 0)
		atomic_fetch_add(&crowd->good, 1);
	return NULL;
}

static enum next on_threads(void **handle, char **arguments)
{
	struct crowd crowd = { .handle = *handle };
	pthread_t list[64];
	int count = (int)strtol(arguments[0], NULL, 10), i;

	if (count < 1 || count > 64 ||
	    pthread_barrier_init(&crowd.barrier, NULL, (unsigned int)count))
		return END_BADLY;
	/* A barrier that is short of one thread would never open. */
	for (i = 0; i < count; i++) {
		if (pthread_create(&list[i], NULL, on_thread, &crowd) != 0)
			_exit(1);
	}
	for (i = 0; i < count; i++)
		(void)pthread_join(list[i], NULL);
	printf("%d of %d threads\n", crowd.good, count);
	return GO_ON;
}

static enum next on_fork(void **handle, char **arguments)
{
	int status = 0;
	pid_t child;

	(void)handle;
	(void)arguments;
	(void)fflush(stdout);
	child = fork();
	if (child == 0)
		return GO_ON;
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
		return END_BADLY;
	return END_WELL;
}

static enum next on_use(void **handle, char **arguments)
{
	void *library = dlopen(arguments[0], RTLD_NOW | RTLD_LOCAL);
	void *function = library ? dlsym(library, arguments[1]) : NULL;

	(void)handle;
	if (!function) {
		printf("%s\n", dlerror());
		return END_BADLY;
	}
	__extension__((void (*)(void))function)();
	return GO_ON;
}

static const struct word words[] = {
	{ "open", 1, on_open },       { "all", 0, on_all },
	{ "self", 0, on_self },       { "close", 0, on_close },
	{ "find", 1, on_find },       { "ask", 3, on_ask },
	{ "ask-old", 3, on_ask_old }, { "call", 0, on_call },
	{ "use", 2, on_use },         { "threads", 1, on_threads },
	{ "fork", 0, on_fork },
};

static const struct word *word_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(words[i].name, name) == 0)
			return &words[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *handle = RTLD_DEFAULT;
	enum next next = GO_ON;
	int i;

	for (i = 1; i < argc && next == GO_ON; i++) {
		const struct word *word = word_of(argv[i]);

		if (!word || argc - 1 - i < word->arguments) {
			(void)fprintf(stderr, "what is %s?\n", argv[i]);
			return 2;
		}
		next = word->run(&handle, argv + i + 1);
		i += word->arguments;
	}
	return next == END_BADLY;
}
