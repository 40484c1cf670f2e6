/* NVIDIA's libraries, by how they name themselves and their functions. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/loader/vendor.h"

#include <stddef.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* The driver and NVML are none of them: programs load those themselves. */
static const struct {
	const char *stem;
	const char *beginning; /* of its names, where they have no version */
} libraries[] = {
	{ "libcublas", NULL },       { "libcudart", NULL },
	{ "libcudnn", NULL },        { "libcudss", "cudss" },
	{ "libcufft", NULL },        { "libcufile", "cuFile" },
	{ "libcupti", NULL },        { "libcurand", NULL },
	{ "libcusolver", NULL },     { "libcusparseLt", "cusparseLt" },
	{ "libcusparse", NULL },     { "libnccl", "nccl" },
	{ "libnpp", NULL },          { "libnvJitLink", NULL },
	{ "libnvToolsExt", "nvtx" }, { "libnvjpeg", NULL },
	{ "libnvrtc", NULL },        { "libnvshmem", "nvshmem" },
};

static bool has_beginning(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

bool vendor_has_library(const char *soname)
{
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (has_beginning(soname, libraries[i].stem))
			return true;
	return false;
}

const char *vendor_beginning(const char *soname)
{
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (has_beginning(soname, libraries[i].stem))
			return libraries[i].beginning;
	return NULL;
}

bool vendor_function_gives(const char *soname, const char *name)
{
	static const char *const parts[] = {
		"Create",  "Get",      "_get",   "BufferSize", "bufferSize",
		"Init_",   "uniqueid", "ersion", "InitAttr",   "CompressedSize",
		"Estimate"
	};
	size_t length = strlen(name);

	/* The runtime is written by hand: what is not is not there. */
	if (has_beginning(soname, "libcudart") ||
	    (length >= 4 && strcmp(name + length - 4, "Init") == 0))
		return true;
	for (size_t i = 0; i < COUNT(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}
