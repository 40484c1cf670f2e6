# Trainings that know how many optimizer steps they made, for gpu-check.
# SPDX-License-Identifier: MIT
"""Each meets once, with that number; the step hook has counted its own."""
import os
import shutil
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch  # noqa: E402

from meet import DEVICE, meet, run, skip  # noqa: E402

STEPS = 7
ACCUM = 3


class Toy:
    def __init__(self):
        self.model = torch.nn.Sequential(
            torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 1)
        ).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def backward(self, model=None):
        x = torch.randn(16, 32, device=DEVICE)
        loss = (model or self.model)(x).square().mean()
        loss.backward()

    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def plain():
    toy = Toy()
    for _ in range(STEPS):
        toy.backward()
        toy.step()
    meet("steps", steps=STEPS)


def accumulation():
    toy = Toy()
    for _ in range(STEPS):
        for _ in range(ACCUM):
            toy.backward()
        toy.step()
    meet("steps", steps=STEPS)


def amp():
    """The scaler leaves out steps whose gradients are infinite."""
    if DEVICE != "cuda":
        skip("the scaler needs a GPU")
    toy = Toy()
    if hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"):
        scaler = torch.amp.GradScaler("cuda", init_scale=2.0 ** 40)
    else:
        scaler = torch.cuda.amp.GradScaler(init_scale=2.0 ** 40)
    made = left_out = 0
    while made < STEPS and made + left_out < 200:
        x = torch.randn(16, 32, device=DEVICE)
        with torch.autocast(DEVICE, dtype=torch.float16):
            loss = toy.model(x).square().mean()
        scaler.scale(loss).backward()
        before = scaler.get_scale()
        scaler.step(toy.optimizer)
        scaler.update()
        toy.optimizer.zero_grad(set_to_none=True)
        if scaler.get_scale() < before:
            left_out += 1
        else:
            made += 1
    meet("steps", steps=made, left_out=left_out)


def compiled():
    if not hasattr(torch, "compile"):
        skip("this PyTorch has no torch.compile")
    if not (shutil.which("cc") or shutil.which("gcc")):
        skip("torch.compile needs a C compiler, and there is none")
    toy = Toy()
    model = torch.compile(toy.model)
    for _ in range(STEPS):
        toy.backward(model)
        toy.step()
    meet("steps", steps=STEPS)


def trainer():
    """HF Trainer on a tiny model that is made here, not downloaded."""
    try:
        import transformers
    except ImportError:
        skip("transformers is not installed")
    folder = tempfile.mkdtemp()
    config = transformers.GPT2Config(
        vocab_size=128, n_positions=32, n_embd=32, n_layer=1, n_head=2,
        bos_token_id=0, eos_token_id=0)
    rows = [{"input_ids": [1 + i % 100] * 16, "labels": [1 + i % 100] * 16}
            for i in range(256)]
    args = transformers.TrainingArguments(
        output_dir=folder, max_steps=STEPS, per_device_train_batch_size=2,
        gradient_accumulation_steps=ACCUM, report_to=[], save_strategy="no",
        disable_tqdm=True, logging_steps=1000)
    hf = transformers.Trainer(
        model=transformers.GPT2LMHeadModel(config), args=args,
        train_dataset=rows,
        data_collator=lambda batch: {
            key: torch.tensor([row[key] for row in batch])
            for key in ("input_ids", "labels")})
    hf.train()
    shutil.rmtree(folder, ignore_errors=True)
    meet("steps", steps=hf.state.global_step,
         version=transformers.__version__)


def lightning():
    try:
        import lightning.pytorch as pl
    except ImportError:
        try:
            import pytorch_lightning as pl
        except ImportError:
            skip("lightning is not installed")

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(32, 1)

        def training_step(self, batch, _):
            return self.layer(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    loader = torch.utils.data.DataLoader(torch.randn(256, 32), batch_size=4)
    folder = tempfile.mkdtemp()
    fitting = pl.Trainer(
        max_steps=STEPS, accumulate_grad_batches=ACCUM, logger=False,
        enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=folder, devices=1,
        accelerator="gpu" if DEVICE == "cuda" else "cpu")
    fitting.fit(Module(), loader)
    shutil.rmtree(folder, ignore_errors=True)
    meet("steps", steps=fitting.global_step, version=pl.__version__)


run({"plain": plain, "accumulation": accumulation, "amp": amp,
     "compile": compiled, "trainer": trainer, "lightning": lightning})
