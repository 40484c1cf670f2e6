# Stands in for a detector that starts its ranks by itself.
# SPDX-License-Identifier: MIT
import torch
import torch.multiprocessing as mp


def launch(main_func, num_gpus_per_machine, num_machines=1, args=()):
    world_size = num_machines * num_gpus_per_machine
    if world_size > 1:
        mp.start_processes(main_func, nprocs=num_gpus_per_machine, args=args)
    else:
        main_func(*args)
