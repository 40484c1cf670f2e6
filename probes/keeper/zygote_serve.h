/* The zygote's own side, inside Python: libautofit_zygote.so. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_KEEPER_ZYGOTE_SERVE_H
#define AUTOFIT_PROBES_KEEPER_ZYGOTE_SERVE_H

#include <stddef.h>

/*
 * Says ZYGOTE_READY on the socket and forks a keeper for each order. Returns
 * only in the command that a keeper forked, in its isolation, with the new
 * descriptors 0 to 2: the number of arguments, the arguments and the
 * environment, each ended by a NUL, size bytes in all. In the zygote itself it
 * ends the process when the socket is closed. The caller is Python's main
 * thread, holds its lock, has no other thread, and has prepared it for a fork.
 */
__attribute__((visibility("default"))) const char *
autofit_zygote_serve(int socket, size_t *size);

#endif
