# One tool that finds a batch size inside its own process, as its users call it.
# SPDX-License-Identifier: MIT
#
# tool.py TOOL PROGRAM: prints "answer MICRO TRIALS". The process is under the
# limit that the training is to live in. Tools write into the current folder.
import gc
import random
import sys
import warnings

import torch

import cases
import programs

warnings.filterwarnings("ignore")
NAME = sys.argv[2]
EFFECTIVE = cases.EFFECTIVE[NAME]
trials = [0]


def steps(rows, count=3):
    trials[0] += 1
    gc.collect()
    programs.train(NAME, rows, 1, count)


def is_oom(error):
    text = str(error)
    return "out of memory" in text or "allocate memory" in text


def doubling():
    """What most write themselves: twice as many until it fails."""
    best, rows = 0, 1
    while rows <= EFFECTIVE:
        try:
            steps(rows)
        except RuntimeError as error:
            if not is_oom(error):
                raise
            break
        best, rows = rows, 2 * rows
    return best


def accelerate():
    from accelerate.utils import find_executable_batch_size

    found = []

    @find_executable_batch_size(starting_batch_size=EFFECTIVE)
    def search(batch_size):
        steps(batch_size)
        found.append(batch_size)

    search()
    return found[-1]


class Rows(torch.utils.data.Dataset):
    """One sample for each index; those of one batch have one length."""

    def __len__(self):
        return 4 * EFFECTIVE

    def __getitem__(self, index):
        return index


def collate(indices):
    return programs.batch(NAME, len(indices))


def lightning(mode):
    import lightning.pytorch as pl
    from lightning.pytorch.tuner import Tuner

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.body = programs.make(NAME)
            self.batch_size = 2

        def training_step(self, batch, index):
            if index == 0:
                trials[0] += 1
            return self.body(batch)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-4)

        def train_dataloader(self):
            return torch.utils.data.DataLoader(
                Rows(), batch_size=self.batch_size, collate_fn=collate)

    module = Module()
    trainer = pl.Trainer(accelerator="cpu", logger=False, max_epochs=1,
                         enable_checkpointing=False,
                         enable_progress_bar=False,
                         enable_model_summary=False)
    Tuner(trainer).scale_batch_size(module, mode=mode, max_trials=12)
    return module.batch_size


def hf():
    import transformers

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = programs.make(NAME)

        def forward(self, x):
            return {"loss": self.body(x)}

    class Trainer(transformers.Trainer):
        def _inner_training_loop(self, *args, **kwargs):
            trials[0] += 1
            return super()._inner_training_loop(*args, **kwargs)

    arguments = transformers.TrainingArguments(
        output_dir="out", max_steps=3, use_cpu=True,
        per_device_train_batch_size=EFFECTIVE, auto_find_batch_size=True,
        report_to=[], save_strategy="no", disable_tqdm=True,
        remove_unused_columns=False)
    trainer = Trainer(model=Model(), args=arguments, train_dataset=Rows(),
                      data_collator=lambda rows: {"x": collate(rows)})
    trainer.train()
    return trainer._train_batch_size


TOOLS = {
    "doubling": doubling,
    "accelerate": accelerate,
    "lightning-power": lambda: lightning("power"),
    "lightning-binsearch": lambda: lightning("binsearch"),
    "hf": hf,
}

random.seed(1)
torch.set_num_threads(1)
answer = TOOLS[sys.argv[1]]()
print("answer %d %d" % (answer, trials[0]), flush=True)
