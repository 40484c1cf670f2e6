# Stands in for depth by options in a class of another module.
# SPDX-License-Identifier: MIT
from options import MonodepthOptions
from trainer import Trainer

options = MonodepthOptions()
opts = options.parse()

if __name__ == "__main__":
    trainer = Trainer(opts)
    trainer.train()
