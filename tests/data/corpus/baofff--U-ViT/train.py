# Stands in for diffusion under accelerate with settings of ml_collections.
# SPDX-License-Identifier: MIT
import accelerate
import torch
from absl import app, flags
from ml_collections import config_flags

FLAGS = flags.FLAGS
config_flags.DEFINE_config_file("config", None, "Training configuration.",
                                lock_config=False)
flags.DEFINE_string("workdir", None, "Work unit directory.")


def train(config):
    accelerator = accelerate.Accelerator()
    assert config.train.batch_size % accelerator.num_processes == 0
    mini_batch_size = config.train.batch_size // accelerator.num_processes
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8),
                                         batch_size=mini_batch_size)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x in loader:
        optimizer.zero_grad()
        accelerator.backward(model(x).mean())
        optimizer.step()


def main(argv):
    train(FLAGS.config)


if __name__ == "__main__":
    app.run(main)
