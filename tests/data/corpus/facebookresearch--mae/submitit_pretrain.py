# Stands in for masked autoencoders.
# SPDX-License-Identifier: MIT
import argparse

import main_pretrain as trainer
import submitit


def parse_args():
    parents = [trainer.get_args_parser()]
    parser = argparse.ArgumentParser("Submitit", parents=parents)
    parser.add_argument("--ngpus", default=8, type=int)
    parser.add_argument("--nodes", default=2, type=int)
    parser.add_argument("--job_dir", default="", type=str)
    return parser.parse_args()


def main():
    args = parse_args()
    executor = submitit.AutoExecutor(folder=args.job_dir)
    executor.update_parameters(
        gpus_per_node=args.ngpus, tasks_per_node=args.ngpus, nodes=args.nodes
    )
    executor.submit(trainer.main, args)


if __name__ == "__main__":
    main()
