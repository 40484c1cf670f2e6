# Stands in for radiance fields, rays are its batch.
# SPDX-License-Identifier: MIT
import configargparse
import torch


def config_parser():
    parser = configargparse.ArgumentParser()
    parser.add_argument("--config", is_config_file=True,
                        help="config file path")
    parser.add_argument("--expname", type=str, help="experiment name")
    parser.add_argument("--N_rand", type=int, default=32*32*4,
                        help="batch size (number of random rays per step)")
    parser.add_argument("--chunk", type=int, default=1024*32,
                        help="number of rays processed in parallel")
    parser.add_argument("--no_batching", action="store_true",
                        help="only take random rays from 1 image at a time")
    parser.add_argument("--render_only", action="store_true",
                        help="do not optimize, reload weights and render")
    return parser


def train():
    args = config_parser().parse_args()
    N_rand = args.N_rand
    if args.render_only:
        return
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), N_rand)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    train()
