# Stands in for fine-tuning and reinforcement learning by Hydra.
# SPDX-License-Identifier: MIT
import hydra
import torch


class FSDPSFTTrainer:
    def __init__(self, config):
        self.config = config
        dp_size = torch.distributed.get_world_size()
        self.config.data.train_batch_size //= dp_size
        assert (self.config.data.train_batch_size
                % self.config.data.micro_batch_size_per_gpu == 0)

    def training_step(self, batch):
        micro_batches = batch.split(self.config.data.micro_batch_size_per_gpu)
        for micro_batch in micro_batches:
            (self.model(micro_batch).mean() / len(micro_batches)).backward()
        self.optimizer.step()


@hydra.main(config_path="config", config_name="sft_trainer")
def main(config):
    FSDPSFTTrainer(config).fit()


if __name__ == "__main__":
    main()
