/* Helpers of the files that write and read the preload library's page. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_PRELOAD_INTERNAL_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_PRELOAD_INTERNAL_H

#include "probes/observers/gpu/preload.h"

/* One of the first count devices has this uuid. */
bool preload_page_has(const struct preload_page *page, uint32_t count,
		      const unsigned char uuid[16]);

#endif
