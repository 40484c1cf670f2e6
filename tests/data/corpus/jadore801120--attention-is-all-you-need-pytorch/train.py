# Stands in for a training with an optimizer of its own around torch's.
# SPDX-License-Identifier: MIT

import argparse

import torch


class ScheduledOptim:
    def __init__(self, optimizer, warmup):
        self._optimizer, self.warmup, self.count = optimizer, warmup, 0

    def step_and_update_lr(self):
        self.count += 1
        for group in self._optimizer.param_groups:
            group["lr"] = 1e-3 * min(1, self.count / self.warmup)
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-data_pkl", default=None)
    parser.add_argument("-epoch", type=int, default=10)
    parser.add_argument("-b", "--batch_size", type=int, default=2048)
    parser.add_argument("-d_model", type=int, default=512)
    parser.add_argument("-warmup", "--n_warmup_steps", type=int, default=4000)
    parser.add_argument("-output_dir", type=str, default=None)
    parser.add_argument("-embs_share_weight", action="store_true")
    parser.add_argument("-proj_share_weight", action="store_true")
    parser.add_argument("-label_smoothing", action="store_true")
    opt = parser.parse_args()
    net = torch.nn.Transformer(16, 2, 1, 1, 32, batch_first=True)
    optimizer = ScheduledOptim(
        torch.optim.Adam(net.parameters()), opt.n_warmup_steps
    )
    for epoch in range(opt.epoch):
        for i in range(200):
            x = torch.randn(opt.batch_size, 8, 16)
            optimizer.zero_grad()
            net(x, x).square().mean().backward()
            optimizer.step_and_update_lr()


main()
