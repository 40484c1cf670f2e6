# Stands in for a generative training whose batch is split twice.
# SPDX-License-Identifier: MIT
import click
import torch


def subprocess_fn(rank, c):
    data = torch.utils.data.DataLoader(
        torch.randn(65536, 8), batch_size=c.batch_size // c.num_gpus
    )
    generator = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(generator.parameters())
    for phase_real_img in data:
        optimizer.zero_grad()
        for real_img in phase_real_img.split(c.batch_gpu):
            generator(real_img).mean().backward()
        optimizer.step()


@click.command()
@click.option("--outdir", metavar="DIR", required=True)
@click.option("--cfg", type=click.Choice(["stylegan3-t", "stylegan3-r"]))
@click.option("--data", metavar="[ZIP|DIR]", type=str, required=True)
@click.option("--gpus", help="Number of GPUs to use", metavar="INT",
              type=click.IntRange(min=1), required=True)
@click.option("--batch", help="Total batch size", metavar="INT",
              type=click.IntRange(min=1), required=True)
@click.option("--gamma", type=click.FloatRange(min=0), required=True)
@click.option("--batch-gpu", help="Limit batch size per GPU", metavar="INT",
              type=click.IntRange(min=1))
@click.option("--mirror", type=bool, default=False)
@click.option("--kimg", type=click.IntRange(min=1), default=25000)
@click.option("--snap", type=click.IntRange(min=1), default=50)
def main(**kwargs):
    opts = click.get_current_context().params
    c = type("Config", (), {})()
    c.num_gpus = opts["gpus"]
    c.batch_size = opts["batch"]
    c.batch_gpu = opts["batch_gpu"] or opts["batch"] // opts["gpus"]
    torch.multiprocessing.spawn(fn=subprocess_fn, args=(c,),
                                nprocs=c.num_gpus)


if __name__ == "__main__":
    main()
