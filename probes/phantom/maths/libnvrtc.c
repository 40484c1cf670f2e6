/* A phantom card's compiler of kernels: it takes any, and makes none. */
/* SPDX-License-Identifier: MIT */
/*
 * PyTorch compiles kernels of rare functions (erfinv() of an initialisation,
 * for one) when they are first called. What comes out is no code, so that a
 * driver of a real card refuses it; that of the phantom card takes anything,
 * and finds a function of any name in it.
 */
#include "probes/phantom/maths/maths.h"

/* NOLINTBEGIN(readability-identifier-naming): the library's names */
/* NOLINTBEGIN(readability-function-size): the library's signatures */

/* What a program becomes: text that says where it comes from. */
static const char compiled[] = "compiled for a phantom card";

EXPORT const char *nvrtcGetErrorString(int result)
{
	return result ? "an error of a phantom card's compiler" : "success";
}

EXPORT int nvrtcVersion(int *major, int *minor)
{
	*major = PHANTOM_MAJOR;
	*minor = 0;
	return MATHS_OK;
}

EXPORT int nvrtcCreateProgram(void **program, const char *source,
			      const char *name, int count,
			      const char *const *headers,
			      const char *const *names)
{
	(void)source;
	(void)name;
	(void)count;
	(void)headers;
	(void)names;
	return maths_make(program, MATHS_THING_BYTES);
}

EXPORT int nvrtcDestroyProgram(void **program)
{
	(void)maths_free(*program);
	*program = NULL;
	return MATHS_OK;
}

EXPORT int nvrtcAddNameExpression(void *program, const char *name)
{
	(void)program;
	(void)name;
	return MATHS_OK;
}

EXPORT int nvrtcCompileProgram(void *program, int count,
			       const char *const *options)
{
	(void)program;
	(void)count;
	(void)options;
	return MATHS_OK;
}

/* The name of a function in what was compiled is the one that was asked for. */
EXPORT int nvrtcGetLoweredName(void *program, const char *name,
			       const char **lowered)
{
	(void)program;
	*lowered = name;
	return MATHS_OK;
}

EXPORT int nvrtcGetPTXSize(void *program, size_t *size)
{
	(void)program;
	*size = sizeof(compiled);
	return MATHS_OK;
}

EXPORT int nvrtcGetPTX(void *program, char *code)
{
	(void)program;
	memcpy(code, compiled, sizeof(compiled));
	return MATHS_OK;
}

/* It is the same in each form. */
EXPORT int nvrtcGetCUBINSize(void *program, size_t *size)
	__attribute__((alias("nvrtcGetPTXSize")));
EXPORT int nvrtcGetCUBIN(void *program, char *code)
	__attribute__((alias("nvrtcGetPTX")));

/* Nothing is said, but for the NUL. */
EXPORT int nvrtcGetProgramLogSize(void *program, size_t *size)
{
	(void)program;
	*size = 1;
	return MATHS_OK;
}

EXPORT int nvrtcGetProgramLog(void *program, char *log)
{
	(void)program;
	*log = '\0';
	return MATHS_OK;
}

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
