# Stands in for translation by batches of tokens.
# SPDX-License-Identifier: MIT
import configargparse
import torch


def train_opts(parser):
    group = parser.add_argument_group("General")
    group.add("--config", "-config", is_config_file_arg=True)
    group.add("--data", "-data", type=str, default=None)
    group.add("--save_model", "-save_model", default="model")
    group.add("--gpu_ranks", "-gpu_ranks", default=[], nargs="*", type=int)
    group.add("--world_size", "-world_size", default=1, type=int,
              help="total number of distributed processes.")
    group.add("--batch_size", "-batch_size", type=int, default=64,
              help="Maximum batch size for training")
    group.add("--batch_type", "-batch_type", default="sents",
              choices=["sents", "tokens"])
    group.add("--normalization", "-normalization", default="sents")
    group.add("--accum_count", "-accum_count", type=int, nargs="+",
              default=[1], help="Accumulate gradient this many times.")
    group.add("--valid_batch_size", "-valid_batch_size", type=int, default=32)
    group.add("--max_generator_batches", "-max_generator_batches", type=int,
              default=32)


def main():
    parser = configargparse.ArgumentParser(description="train.py")
    train_opts(parser)
    opt = parser.parse_args()
    torch.multiprocessing.spawn(run, nprocs=opt.world_size, args=(opt,))


if __name__ == "__main__":
    main()
