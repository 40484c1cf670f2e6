# Stands in for diffusion by options in a file of absl.
# SPDX-License-Identifier: MIT
import torch
from absl import app, flags

FLAGS = flags.FLAGS
flags.DEFINE_bool("train", False, help="train from scratch")
flags.DEFINE_bool("eval", False, help="load ckpt.pt and evaluate")
flags.DEFINE_integer("ch", 128, help="base channel of UNet")
flags.DEFINE_float("lr", 2e-4, help="target learning rate")
flags.DEFINE_integer("total_steps", 800000, help="total training steps")
flags.DEFINE_integer("batch_size", 128, help="batch size")
flags.DEFINE_bool("parallel", False, help="multi gpu training")
flags.DEFINE_string("logdir", "./logs", help="log directory")
flags.DEFINE_integer("num_images", 50000, help="generated images")


def train():
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size=FLAGS.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


def main(argv):
    if FLAGS.train:
        train()


if __name__ == "__main__":
    app.run(main)
