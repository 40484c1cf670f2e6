# Stands in for a generative training of two optimizers.
# SPDX-License-Identifier: MIT
import argparse
import os

import torch


def train(args, loader, generator, discriminator, g_optim, d_optim):
    for real in loader:
        noise = torch.randn(args.batch, 8)
        d_optim.zero_grad()
        discriminator(torch.cat([real, generator(noise)])).mean().backward()
        d_optim.step()
        g_optim.zero_grad()
        discriminator(generator(noise)).mean().backward()
        g_optim.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="StyleGAN2 trainer")
    parser.add_argument("path", type=str, help="path to the lmdb dataset")
    parser.add_argument("--arch", type=str, default="stylegan2")
    parser.add_argument("--iter", type=int, default=800000)
    parser.add_argument("--batch", type=int, default=16,
                        help="batch sizes for each gpus")
    parser.add_argument("--n_sample", type=int, default=64)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--path_batch_shrink", type=int, default=2,
                        help="batch size reducing factor for the path length")
    parser.add_argument("--local_rank", type=int, default=0)
    args = parser.parse_args()
    n_gpu = int(os.environ["WORLD_SIZE"]) if "WORLD_SIZE" in os.environ else 1
    if n_gpu > 1:
        torch.distributed.init_process_group("gloo")
    generator, discriminator = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
    data = torch.utils.data.DataLoader(torch.randn(65536, 8), args.batch)
    train(args, data, generator, discriminator,
          torch.optim.Adam(generator.parameters()),
          torch.optim.Adam(discriminator.parameters()))
