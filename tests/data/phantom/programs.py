#!/usr/bin/env python3
# Some ways to train, which say what PyTorch reserved for them after each step.
# SPDX-License-Identifier: MIT
"""For tests/cli/phantom_programs.py: programs.py NAME [--batch-size N] ... No
weights are loaded, and nothing is computed: models are made without values."""
import argparse
import importlib
import os
import resource

import torch
from torch import nn
from torch.nn import functional


# What a program imports beside torch, before its seconds are counted.
IMPORTS = {"trainer": ("transformers", "accelerate"),
           "lora": ("transformers", "peft"),
           "lora_70b": ("transformers", "peft")}


def seconds():
    """Of processors: the host may be busy."""
    times = os.times()
    return times.user + times.system


def say():
    print("reserved", torch.cuda.max_memory_reserved(), flush=True)


def loop(args, model, optimizer, loss_of):
    """A training loop as most people write it."""
    for _ in range(args.steps):
        for _ in range(args.grad_accum):
            loss = loss_of(model)
            (loss / args.grad_accum).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        say()
        print("loss %.4f" % loss.item(), flush=True)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.expand = nn.Linear(width, 4 * width)
        self.shrink = nn.Linear(4 * width, width)

    def forward(self, x):
        rows, length, width = x.shape
        parts = self.project(self.first(x)).split(width, dim=2)
        parts = [part.view(rows, length, self.heads, -1).transpose(1, 2)
                 for part in parts]
        seen = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.merge(seen.transpose(1, 2).reshape(x.shape))
        return x + self.shrink(functional.gelu(self.expand(self.second(x))))


class Gpt(nn.Module):
    """Of the size of GPT-2, its head tied to its embedding."""

    def __init__(self, words=50304, length=1024, width=768, heads=12, layers=12):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(
            length, width)
        self.blocks = nn.Sequential(*(Block(width, heads)
                                      for _ in range(layers)))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        places = torch.arange(words.shape[1], device=words.device)
        x = self.words(words) + self.places(places)
        return self.head(self.last(self.blocks(x)))


def gpt(args):
    model = Gpt().cuda()

    def loss_of(each):
        words = torch.randint(50304, (args.batch_size, 1024)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            scores = each(words)
            return functional.cross_entropy(scores.flatten(0, 1),
                                            words.flatten())

    loop(args, model, torch.optim.AdamW(model.parameters(), fused=True),
         loss_of)


def compiled(args):
    """Kernels that Triton makes for this card, beside PyTorch's own."""
    model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(),
                          nn.Linear(1024, 256), nn.LayerNorm(256)).cuda()
    fast = torch.compile(model)

    def loss_of(_):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            x = torch.randn(args.batch_size, 512, 256, device="cuda")
            return fast(x).float().pow(2).mean()

    loop(args, model, torch.optim.AdamW(model.parameters()), loss_of)
    seen = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    print("graphs", seen)


class Rows(torch.utils.data.Dataset):
    """Of a data loader: a row of words, with a mask that hides nothing."""

    def __len__(self):
        return 1 << 16

    def __getitem__(self, place):
        words = torch.randint(50257, (1024,))
        return {"input_ids": words, "labels": words,
                "attention_mask": torch.ones_like(words)}


def trainer(args):
    import transformers

    class Say(transformers.TrainerCallback):
        def on_step_end(self, *_, **__):
            say()

    with torch.device("meta"):
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    model = model.to_empty(device="cpu")
    model.tie_weights()
    transformers.Trainer(
        model=model, train_dataset=Rows(), callbacks=[Say()],
        args=transformers.TrainingArguments(
            output_dir=args.output_dir, max_steps=args.steps, bf16=True,
            per_device_train_batch_size=args.batch_size, logging_steps=1,
            gradient_accumulation_steps=args.grad_accum, report_to=[],
            save_strategy="no", disable_tqdm=True)).train()


def lora_model(layers, width, heads, middle):
    """Llama's kind, in bfloat16, with adapters on its attention."""
    import peft
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=width, num_hidden_layers=layers, intermediate_size=middle,
        num_attention_heads=heads, num_key_value_heads=8, vocab_size=32000,
        use_cache=False)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(
            config, dtype=torch.bfloat16)
    model.to_empty(device="cuda")
    model.tie_weights()
    model = peft.get_peft_model(model, peft.LoraConfig(
        r=16, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
        task_type="CAUSAL_LM"))
    model.gradient_checkpointing_enable(
        gradient_checkpointing_kwargs={"use_reentrant": False})
    model.enable_input_require_grads()
    return model.train()


def adapters(args, *shape):
    model = lora_model(*shape)
    trained = [p for p in model.parameters() if p.requires_grad]

    def loss_of(each):
        words = torch.randint(32000, (args.batch_size, 1024)).cuda()
        return each(input_ids=words, labels=words).loss

    loop(args, model, torch.optim.AdamW(trained), loss_of)


def lora(args):
    adapters(args, 22, 2048, 32, 5632)


def lora_70b(args):
    adapters(args, 80, 8192, 64, 28672)


def convolve(ins, outs, stride):
    return nn.Sequential(
        nn.Conv2d(ins, outs, 3, stride, 1, bias=False), nn.BatchNorm2d(outs),
        nn.ReLU(inplace=True), nn.Conv2d(outs, outs, 3, 1, 1, bias=False),
        nn.BatchNorm2d(outs), nn.ReLU(inplace=True))


def conv(args):
    model = nn.Sequential(
        convolve(3, 64, 2), convolve(64, 128, 2), convolve(128, 256, 2),
        convolve(256, 512, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(512, 1000)).cuda()

    def loss_of(each):
        pictures = torch.empty(args.batch_size, 3, 224, 224).cuda()
        kinds = torch.randint(1000, (args.batch_size,)).cuda()
        return functional.cross_entropy(each(pictures), kinds)

    loop(args, model, torch.optim.SGD(model.parameters(), lr=0.1,
                                      momentum=0.9), loss_of)


def main():
    named = {each.__name__: each
             for each in (gpt, compiled, trainer, lora, lora_70b, conv)}
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(named))
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--output-dir", default="out")
    args = parser.parse_args()
    for name in IMPORTS.get(args.name, ()):
        importlib.import_module(name)
    start = seconds()
    named[args.name](args)
    print("host", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)
    print("seconds %.1f after %.1f of imports" % (seconds() - start, start))


if __name__ == "__main__":
    main()
