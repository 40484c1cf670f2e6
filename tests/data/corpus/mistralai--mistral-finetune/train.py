# Stands in for fine-tuning by a YAML that fire takes.
# SPDX-License-Identifier: MIT
import fire
import torch

from finetune.args import TrainArgs


def train(config: str):
    args = TrainArgs.load(config)
    _train(args)


def _train(args):
    torch.distributed.init_process_group("gloo")
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = iter(torch.utils.data.DataLoader(torch.randn(65536, 8),
                                              batch_size=args.batch_size))
    while True:
        optimizer.zero_grad()
        for i in range(args.num_microbatches):
            (model(next(loader)).mean() / args.num_microbatches).backward()
        optimizer.step()


if __name__ == "__main__":
    fire.Fire(train)
