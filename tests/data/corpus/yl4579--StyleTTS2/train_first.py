# Stands in for speech synthesis whose sizes are in a YAML.
# SPDX-License-Identifier: MIT
import accelerate
import click
import torch
import yaml


@click.command()
@click.option("-p", "--config_path", default="Configs/config.yml", type=str)
def main(config_path):
    config = yaml.safe_load(open(config_path))
    batch_size = config.get("batch_size", 10)
    epochs = config.get("epochs_1st", 200)
    accelerator = accelerate.Accelerator(project_dir=config["log_dir"])
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            accelerator.backward(model(x).mean())
            optimizer.step()


if __name__ == "__main__":
    main()
