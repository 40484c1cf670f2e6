# Stands in for pretraining by Lightning, started by a shell script.
# SPDX-License-Identifier: MIT
from argparse import ArgumentParser

import torch
from pytorch_lightning import Trainer

if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--load_model", default="", type=str)
    parser.add_argument("--proj_dir", default="out", type=str)
    parser.add_argument("--ctx_len", default=1024, type=int)
    parser.add_argument("--epoch_steps", default=1000, type=int)
    parser.add_argument("--micro_bsz", default=12, type=int)
    parser.add_argument("--n_layer", default=6, type=int)
    parser.add_argument("--n_embd", default=512, type=int)
    parser.add_argument("--accelerator", default="gpu", type=str)
    parser.add_argument("--devices", default=1, type=int)
    parser.add_argument("--num_nodes", default=1, type=int)
    parser.add_argument("--strategy", default="auto", type=str)
    parser.add_argument("--accumulate_grad_batches", default=1, type=int)
    args = parser.parse_args()
    args.real_bsz = int(args.num_nodes) * int(args.devices) * args.micro_bsz
    args.epoch_steps = 40320 // args.real_bsz
    trainer = Trainer(accelerator=args.accelerator, devices=args.devices,
                      accumulate_grad_batches=args.accumulate_grad_batches)
    data = torch.randn(40320, 8)
    trainer.fit(None, torch.utils.data.DataLoader(
        data, batch_size=args.micro_bsz, drop_last=True))
