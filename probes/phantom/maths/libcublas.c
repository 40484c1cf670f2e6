/* A phantom card's cuBLAS: handles remember their settings. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/maths.h"

/* NOLINTBEGIN(readability-identifier-naming): the library's names */

/* PyTorch gives it its workspaces, so none is taken here. */
struct blas_handle {
	int pointer_mode, math_mode, atomics_mode, multiprocessors;
	void *stream;
};

EXPORT int cublasCreate_v2(void **made)
{
	return maths_make(made, sizeof(struct blas_handle));
}

EXPORT int cublasDestroy_v2(void *handle)
{
	return maths_free(handle);
}

#define BLAS_SETTING(set, get, field)                                          \
	EXPORT int set(struct blas_handle *handle, int value)                  \
	{                                                                      \
		handle->field = value;                                         \
		return MATHS_OK;                                               \
	}                                                                      \
	EXPORT int get(const struct blas_handle *handle, int *value)           \
	{                                                                      \
		*value = handle->field;                                        \
		return MATHS_OK;                                               \
	}

BLAS_SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, pointer_mode)
BLAS_SETTING(cublasSetMathMode, cublasGetMathMode, math_mode)
BLAS_SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, atomics_mode)
BLAS_SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, multiprocessors)

EXPORT int cublasSetStream_v2(struct blas_handle *handle, void *stream)
{
	handle->stream = stream;
	return MATHS_OK;
}

EXPORT int cublasGetStream_v2(const struct blas_handle *handle, void **stream)
{
	*stream = handle->stream;
	return MATHS_OK;
}

EXPORT int cublasGetVersion_v2(const void *handle, int *version)
{
	(void)handle;
	*version = PHANTOM_MAJOR < 13 ? 120804 : 130002;
	return MATHS_OK;
}

EXPORT int cublasGetProperty(int type, int *value)
{
	static const int version[] = { PHANTOM_MAJOR,
				       PHANTOM_MAJOR < 13 ? 8 : 0,
				       PHANTOM_MAJOR < 13 ? 4 : 2 };

	if (type < 0 || type > 2)
		return 7; /* CUBLAS_STATUS_INVALID_VALUE */
	*value = version[type];
	return MATHS_OK;
}

EXPORT const char *cublasGetStatusString(int status)
{
	return status ? "an error of a phantom card" : "success";
}

/* NOLINTEND(readability-identifier-naming) */
