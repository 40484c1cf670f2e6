# Stands in for recommendation with defaults in a library.
# SPDX-License-Identifier: MIT
import argparse

from recbole.quick_start import run

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", "-m", type=str, default="BPR")
    parser.add_argument("--dataset", "-d", type=str, default="ml-100k")
    parser.add_argument("--config_files", type=str, default=None)
    parser.add_argument("--nproc", type=int, default=1,
                        help="the number of process in this group")
    parser.add_argument("--world_size", type=int, default=-1)
    args, _ = parser.parse_known_args()
    config_files = args.config_files.split(" ") if args.config_files else None
    run(args.model, args.dataset, config_file_list=config_files,
        nproc=args.nproc, world_size=args.world_size)
