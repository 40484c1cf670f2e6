#!/usr/bin/env python3
# LoRA training on a phantom T4, beside what was measured on real ones.
# SPDX-License-Identifier: MIT
"""phantom_t4.py AUTOFIT PYTHON: prints the accuracy table of docs/phantom.md.

PYTHON has the CUDA build of PyTorch, transformers and peft; no weights are
needed. Each row is a configuration of the archive of Anassbzdd/fitcheck (Tesla
T4, torch 2.10 and 2.14, fp16, LoRA of rank 32 on q, k, v and o, checkpointing,
AdamW on fp32 adapters; the efficient kernel of scaled_dot_product_attention with
keys and values expanded, or attention written out; data/measurements, commits
1e72b19a and 83aea542): the peak of the second step, allocated and reserved, in
MiB.
"""
import json
import subprocess
import sys

MIB = 1 << 20
SHAPES = {
    "Qwen2.5-1.5B": ("Qwen2", dict(
        hidden_size=1536, num_hidden_layers=28, num_attention_heads=12,
        num_key_value_heads=2, intermediate_size=8960, vocab_size=151936,
        tie_word_embeddings=True)),
    "SmolLM2-1.7B": ("Llama", dict(
        hidden_size=2048, num_hidden_layers=24, num_attention_heads=32,
        num_key_value_heads=32, intermediate_size=8192, vocab_size=49152,
        tie_word_embeddings=True)),
    "SmolLM2-135M": ("Llama", dict(
        hidden_size=576, num_hidden_layers=30, num_attention_heads=9,
        num_key_value_heads=3, intermediate_size=1536, vocab_size=49152,
        tie_word_embeddings=True)),
    "TinyLlama": ("Llama", dict(
        hidden_size=2048, num_hidden_layers=22, num_attention_heads=32,
        num_key_value_heads=4, intermediate_size=5632, vocab_size=32000,
        tie_word_embeddings=False)),
}
# Model, batch, length; on the real card with the efficient kernel, allocated and
# reserved, and the same with attention written out.
ROWS = [
    ("SmolLM2-135M", 2, 512, (1026.9, 1070), (1027.3, 1104)),
    ("SmolLM2-135M", 1, 4096, (3148.1, 3284), (3180.1, 4476)),
    ("TinyLlama", 2, 1024, (3287.8, 3532), (3518.1, 4226)),
    ("TinyLlama", 2, 2048, (4354.1, 4696), (6616.1, 7662)),
    ("SmolLM2-1.7B", 1, 2048, (4977.0, 5398), (5706.2, 7146)),
    ("SmolLM2-1.7B", 4, 1024, (6528.7, 7094), (6536.7, 7734)),
    ("Qwen2.5-1.5B", 2, 1024, (7401.8, 7766), (7405.8, 7910)),
]
KERNELS = ("sdpa", "eager")
RANK = 32


def expand_heads():
    """The efficient kernel takes as many heads of keys as of queries."""
    import torch

    attend = torch.nn.functional.scaled_dot_product_attention

    def expanded(query, key, value, *args, **kwargs):
        groups = query.size(-3) // key.size(-3)
        if groups > 1:
            key = key.repeat_interleave(groups, dim=-3)
            value = value.repeat_interleave(groups, dim=-3)
        kwargs.pop("enable_gqa", None)
        return attend(query, key, value, *args, **kwargs)

    torch.nn.functional.scaled_dot_product_attention = expanded


def make_model(name, kernel):
    import peft
    import torch
    import transformers

    family, shape = SHAPES[name]
    config = getattr(transformers, family + "Config")(
        **shape, max_position_embeddings=8192, use_cache=False,
        attn_implementation=kernel)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(
            config, dtype=torch.float16)
    # Loaded to the host, and moved: a weight that is used twice is moved once.
    model.to_empty(device="cpu")
    model.tie_weights()
    model.cuda()
    model = peft.get_peft_model(model, peft.LoraConfig(
        r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, bias="none",
        task_type="CAUSAL_LM",
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj"]))
    model.gradient_checkpointing_enable(
        gradient_checkpointing_kwargs={"use_reentrant": False})
    model.enable_input_require_grads()
    return model.train()


def train(name, batch, length, kernel):
    """In the process on the phantom card."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    expand_heads()
    model = make_model(name, kernel)
    trained = [p for p in model.parameters() if p.requires_grad]
    for parameter in trained:
        parameter.data = parameter.data.float()
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    words = torch.randint(1000, (batch, length), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        # As there: the scores live until the step is over.
        answer = model(input_ids=words, labels=words)
        answer.loss.backward()
        optimizer.step()

    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        step()
        torch.cuda.reset_peak_memory_stats()
        step()
    print(json.dumps([torch.cuda.max_memory_allocated(),
                      torch.cuda.max_memory_reserved()]))


def print_row(autofit, python, row, real):
    done = subprocess.run(
        [autofit, "phantom", "t4", "--", python, __file__, "--row",
         json.dumps(row)], stdout=subprocess.PIPE, check=False, text=True)
    print("| %s, %d x %d, %s |" % row, end="")
    try:
        seen = [n / MIB for n in json.loads(done.stdout.splitlines()[-1])]
    except (IndexError, ValueError):
        print(" failed |")
        return
    print(" %.1f | %.1f (%+.2f%%) | %.0f | %.0f (%+.1f%%) |" % (
        real[0], seen[0], 100 * (seen[0] / real[0] - 1),
        real[1], seen[1], 100 * (seen[1] / real[1] - 1)), flush=True)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--row":
        train(*json.loads(sys.argv[2]))
        return
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    autofit, python = sys.argv[1:]
    print("| model, batch x length, attention | allocated on a T4 | on a phantom "
          "| reserved on a T4 | on a phantom |\n|---|---|---|---|---|")
    for row in ROWS:
        for kernel, real in zip(KERNELS, row[3:]):
            print_row(autofit, python, row[:3] + (kernel,), real)


if __name__ == "__main__":
    main()
