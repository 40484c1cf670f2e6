# Stands in for time series by Hydra and Lightning.
# SPDX-License-Identifier: MIT
import hydra
import lightning as L
from hydra.utils import instantiate
from torch.utils.data import DataLoader


class DataModule(L.LightningDataModule):
    def __init__(self, cfg, train_dataset):
        super().__init__()
        self.cfg = cfg
        self.train_dataset = train_dataset

    def train_dataloader(self):
        return DataLoader(self.train_dataset, self.train_batch_size)

    @property
    def train_batch_size(self):
        return self.cfg.train_dataloader.batch_size // (
            self.trainer.world_size * self.trainer.accumulate_grad_batches
        )


@hydra.main(version_base="1.3", config_name="default.yaml")
def main(cfg):
    trainer = instantiate(cfg.trainer)
    trainer.fit(instantiate(cfg.model), DataModule(cfg, instantiate(cfg.data)))


if __name__ == "__main__":
    main()
