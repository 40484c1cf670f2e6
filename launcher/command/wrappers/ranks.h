/* How many data-parallel ranks a launcher starts. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_RANKS_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_RANKS_H

#include "configs/settings/settings.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/wrappers/launch_options.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Each sets view->world to the ranks that a launcher starts, and
 * launch->is_single.
 */
enum command_outcome ranks_count_plain(const struct wrapper *wrapper,
				       struct launch *launch);
enum command_outcome ranks_count_hosts(const struct wrapper *wrapper,
				       struct launch *launch);
enum command_outcome ranks_count_srun(const struct wrapper *wrapper,
				      struct launch *launch);
enum command_outcome ranks_count_accelerate(const struct wrapper *wrapper,
					    struct launch *launch);
enum command_outcome ranks_count_deepspeed(const struct wrapper *wrapper,
					   struct launch *launch);

/* "The ranks cannot be counted: why: say how many". */
enum command_outcome ranks_unknown(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *why);
/* A number of ranks as written; sets view->world. */
enum command_outcome ranks_written(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *text);
/* One rank on each visible device. */
enum command_outcome ranks_of_devices(const struct wrapper *wrapper,
				      const struct launch *launch);
/* Only one node can be probed; text NULL: one. */
enum command_outcome ranks_check_nodes(const struct wrapper *wrapper,
				       const struct launch *launch,
				       const char *text);
enum command_outcome ranks_several_nodes(const struct wrapper *wrapper,
					 const struct launch *launch,
					 const char *how_many);
/* Not every rank has a batch of its own because of what. */
enum command_outcome ranks_foreign(const struct wrapper *wrapper,
				   const struct launch *launch,
				   const char *what);

/* Hosts of "a:2,b:2" or of a file with "a slots=2" or "a:2" in its lines. */
struct host_list {
	size_t count;  /* 1: all names are the same */
	int64_t slots; /* of all lines; 0: not said in one of them */
};
/* Separated by any of the letters. */
struct host_list host_list_read(const char *text, size_t length,
				const char *separators);
/* The file of SAYS_HOSTFILE, or of the row; NULL in *file: not there. */
enum command_outcome launch_file(const struct wrapper *wrapper,
				 const struct launch *launch, const char *path,
				 struct named_file **file);

/* What a launcher's config file says; NULL: not in it, or null. */
const char *launch_setting(const struct settings *config, const char *key);
/* What accelerate's options, its config file and DeepSpeed's own say of how
 * ranks share the model and its states: into the view, for the estimate only.
 */
void launch_sharding_find(const struct wrapper *wrapper,
			  const struct launch *launch,
			  const struct settings *config,
			  const struct settings *deepspeed);

/* Adds where its port is written, or goes, to the view. */
void launch_ports_find(const struct wrapper *wrapper,
		       const struct launch *launch);

#endif
