# Stands in for segmentation by a YAML and a launcher of its own.
# SPDX-License-Identifier: MIT
from argparse import ArgumentParser

import submitit
import torch
from hydra import compose, initialize_config_module
from hydra.utils import instantiate


def single_proc_run(local_rank, cfg):
    instantiate(cfg.trainer).run()


def main(args):
    cfg = compose(config_name=args.config)
    if args.use_cluster:
        submitit.AutoExecutor(folder="logs").submit(single_proc_run, 0, cfg)
    else:
        torch.multiprocessing.start_processes(
            single_proc_run, args=(cfg,), nprocs=args.num_gpus)


if __name__ == "__main__":
    initialize_config_module("sam2")
    parser = ArgumentParser()
    parser.add_argument("-c", "--config", required=True, type=str)
    parser.add_argument("--use-cluster", type=int, default=None)
    parser.add_argument("--num-gpus", type=int, default=None)
    parser.add_argument("--num-nodes", type=int, default=None)
    main(parser.parse_args())
