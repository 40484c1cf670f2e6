# Stands in for speech synthesis by Lightning with the Trainer's own options.
# SPDX-License-Identifier: MIT
import pytorch_lightning as pl
import torch


class VitsModel(pl.LightningModule):
    @staticmethod
    def add_model_specific_args(parent_parser):
        parser = parent_parser.add_argument_group("VitsModel")
        parser.add_argument("--batch-size", type=int, required=True)
        parser.add_argument("--validation-split", type=float, default=0.1)
        parser.add_argument("--num-test-examples", type=int, default=5)

    def train_dataloader(self):
        rows = self.hparams.batch_size
        return torch.utils.data.DataLoader(torch.randn(65536, 8), rows)
