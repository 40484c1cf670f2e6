#!/usr/bin/env python3
# autofit estimate from outside: every option, every table, every refusal.
# SPDX-License-Identifier: MIT
import json
import os
import re

from lib import Place, check, equal, finish, holds, lacks

GIB = 1 << 30
SIM = os.path.join(os.environ["BUILD"], "sim")
SMALL = ["gpt2"]
LLAMA = ["--sequence", "1024", "llama-3.1-8b"]
LORA = ["--lora", "8", *LLAMA]
GRPO = ["--task", "grpo", "--completion-tokens", "256", *LLAMA]
PPO = ["--task", "ppo", *LLAMA]
INFERENCE = ["--task", "inference", "--batch", "16", *LLAMA]
SHARED = ["--num-gpus", "8", *LLAMA]

# Option, what it is added to, and how the process changes: less, more, same
# (the same bytes) or any (another number of parameters or of bytes).
RUN_OPTIONS = [
    ("task", ["inference"], LLAMA, "less"),
    ("batch", ["8"], LORA, "more"),
    ("sequence", ["512"], ["--lora", "8", "llama-3.1-8b"], "less"),
    ("completion-tokens", ["64"], ["--task", "grpo", "--lora", "8", *LLAMA],
     "less"),
    ("decoder-sequence", ["64"], ["--batch", "64", "t5-base"], "less"),
    ("accumulation", ["4"], SMALL + ["--batch", "32"], "more"),
    ("precision", ["bf16"], LLAMA, "less"),
    ("optimizer", ["adamw_8bit"], LLAMA, "less"),
    ("fused-step", [], LLAMA, "less"),
    ("optimizer-in-backward", [], LLAMA, "less"),
    ("keep-gradients", [], SMALL + ["--batch", "32"], "more"),
    ("ema", [], LLAMA, "more"),
    ("lora", ["8"], LLAMA, "less"),
    ("peft", ["freeze", "--trained-layers", "2"], LLAMA, "less"),
    ("rank", ["512"], ["--peft", "dora", *LLAMA], "more"),
    ("targets", ["all"], LORA, "more"),
    ("half-adapters", [], LORA, "less"),
    ("adapter-dropout", [], LORA, "more"),
    ("trained-layers", ["16"],
     ["--peft", "freeze", "--trained-layers", "2", *LLAMA], "more"),
    ("quantize", ["nf4"], LORA, "less"),
    ("checkpointing", [], LORA, "less"),
    ("attention", ["eager"], LORA, "more"),
    ("loss", ["fused"], LORA, "less"),
    ("residual", ["16"], ["--quantize", "nf4", "--checkpointing", *LORA],
     "less"),
    ("lightning-quantizer", [],
     ["--quantize", "nf4", "--residual", "16", *LORA], "less"),
    ("repeat-kv", [], LORA, "more"),
    ("compiled", [], LORA, "less"),
    ("dropout", ["10%"], LORA, "more"),
    ("sharding", ["fsdp"], SHARED, "less"),
    ("num-gpus", ["16"], ["--sharding", "fsdp", "--num-gpus", "2", *LLAMA],
     "less"),
    ("tensor-parallel", ["2"], SHARED, "less"),
    ("pipeline-parallel", ["2"], SHARED, "less"),
    ("context-parallel", ["2"], ["--lora", "8", *SHARED], "less"),
    ("expert-parallel", ["4"], ["--num-gpus", "8", "mixtral-8x7b"], "less"),
    ("sequence-parallel", [],
     ["--tensor-parallel", "4", "--lora", "8", *SHARED], "less"),
    ("offload", ["optimizer"], LLAMA, "less"),
    ("bucket-views", [], SHARED, "less"),
    ("evaluator", ["14b:int8"], LLAMA, "more"),
    ("reference", [], ["--task", "dpo", *LLAMA], "more"),
    ("value-model", [], PPO, "more"),
    ("reward-model", [], PPO, "more"),
    ("generated", ["512"], INFERENCE, "more"),
    ("kv-bits", ["8"], INFERENCE, "less"),
    ("engine-share", ["30%"], ["--gpu-memory", "80", "--lora", "8", *GRPO],
     "more"),
    ("engine-sleeps", [],
     ["--engine-share", "30%", "--gpu-memory", "80", "--lora", "8", *GRPO],
     "less"),
    ("kv-block", ["1000"], INFERENCE, "more"),
    ("prefill-chunk", ["512"], INFERENCE, "less"),
    ("gpu-memory-utilization", ["0.9"], ["--gpu-memory", "80", *INFERENCE],
     "less"),
    ("gpu-memory", ["24"], LLAMA, "same"),
]
SIZES = ["--layers", "8", "--hidden", "512", "--heads", "8"]
SHAPE = ["--family", "llama", *SIZES, "--vocab", "32000", "--ffn", "1536"]
EXPERTS = ["--family", "moe", *SIZES, "--vocab", "32000", "--kv-heads", "8",
           "--experts", "8", "--experts-per-token", "2", "--expert-ffn",
           "1024"]
MODEL_OPTIONS = [
    ("params", ["13b"], ["--params", "7b"], "more"),
    ("model-size", ["26"], ["--model-size", "14"], "more"),
    ("family", ["llama"], SIZES + ["--vocab", "32000", "--ffn", "2048"],
     "any"),
    ("layers", ["12"], SHAPE, "more"),
    ("hidden", ["1024"], SHAPE, "more"),
    ("heads", ["16"], ["--head-dim", "64", *SHAPE], "more"),
    ("kv-heads", ["2"], SHAPE, "less"),
    ("head-dim", ["128"], SHAPE, "more"),
    ("ffn", ["4096"], SHAPE, "more"),
    ("vocab", ["64000"], SHAPE, "more"),
    ("positions", ["4096"], SIZES, "more"),
    ("experts", ["16"], EXPERTS, "more"),
    ("experts-per-token", ["4"], EXPERTS, "more"),
    ("expert-ffn", ["2048"], EXPERTS, "more"),
    ("tied", [], SHAPE, "less"),
    ("gated", [], SIZES + ["--family", "gpt2"], "any"),
    ("field", ["vocab=64000"], SHAPE, "more"),
]
ASKED = {"compare", "gpus", "generation", "fit", "need", "phantom", "profile",
         "method", "tables"}

# Words, and what the one line on stderr says.
WRONG = [
    ([], r"no model is named: autofit estimate MODEL"),
    (["--batch", "0", "gpt2"], r"--batch: '0'"),
    (["--batch", "-1", "gpt2"], r"--batch: '-1'"),
    (["--batch", "99999999999999999999", "gpt2"], r"--batch: '9999"),
    (["--params", "0"], r"--params: '0'"),
    (["--params", "7"], r"'7' is fewer parameters .*: 7b, 7M\?"),
    (["lama-3.1-8b"], r"near it: meta-llama/Llama-3.1-8B"),
    (["--qlora", "gpt2"], r"unknown option --qlora: write --quantize nf4"),
    (["--model", "gpt2"], r"--model: a model stands without one"),
    (["--lora", "8", "vgg16"], r"no\s+matrices for adapters"),
    (["--field", "image=20", "vgg16"], r"image 20 is too small"),
    (["--params", "9999999T"], r"--params: '9999999T'"),
    (["--params", "nan"], r"--params: 'nan'"),
    (["--hidden", "99999999", "gpt2"], r"hidden is 99999999"),
    (["--kv-heads", "5", "gpt2"], r"kv_heads"),
    (["--layers", "12"], r"(hidden|heads)"),
    (["--field", "nothing=3", "gpt2"], r"--field: .*nothing"),
    (["--precision", "int3", "gpt2"], r"--precision: 'int3' is not fp32"),
    (["--optimizer", "best", "gpt2"], r"--optimizer: 'best' is none of"),
    (["--family", "foo", *SIZES], r"--family: 'foo' is none of"),
    (["--quantize", "nf3", "gpt2"], r"--quantize: 'nf3'"),
    (["--evaluator", "7b:foo", "gpt2"], r"--evaluator: 'foo'"),
    (["--num-gpus", "3", "--tensor-parallel", "2", "gpt2"],
     r"--num-gpus 3 is no multiple"),
    (["--gpus", "--num-gpus", "3", "--effective-batch", "64", "gpt2"],
     r"--effective-batch 64 is no multiple of the 3"),
    (["--fit", "1K"], r"--fit"),
    (["--fit", "voodoo2"], r"--fit"),
    (["--as", "a100", "gpt2"], r"--as"),
    (["--need", "gpt2", "opt-125m"], r"name one"),
    (["no-such-model-at-all"], r"no-such-model-at-all"),
    (["gpt2", "gpt2-xl"], r"does not take 'gpt2-xl'"),
    (["--tables", "gpt2"], r"--tables needs --profile"),
    (["--profile", "nope"], r"nope.*there are agi2"),
    (["--profile", "agi2"], r"--profile agi2"),
]


def estimate(place, *words):
    return place.run("estimate", "--device", "host", *words)


def process(answer):
    return answer.result["peak"]["process"]["bytes"]


def options_of_help(place, *titles):
    """The options below these titles of estimate's help."""
    text = place.start("estimate", "--help").communicate()[0].decode()
    found = []
    for title in titles:
        part = text.split("\n%s:\n" % title, 1)[1].split("\n\n", 1)[0]
        found += re.findall(r"^ {6}--([a-z-]+)", part, re.MULTILINE)
    return found


def test_options(place):
    rows = MODEL_OPTIONS + RUN_OPTIONS
    equal("every option has a row here",
          sorted(options_of_help(
              place, "The model, instead of MODEL or beside it",
              "The run and its GPU")),
          sorted(row[0] for row in rows))
    equal("and every question", set(options_of_help(place, "What is asked")),
          ASKED)
    for name, value, base, change in rows:
        before = estimate(place, *base)
        after = estimate(place, "--" + name, *value, *base)
        # A word of the base that is given again wins, as it comes later.
        if name in ("family", "layers", "hidden", "heads", "ffn", "vocab",
                    "experts", "experts-per-token", "expert-ffn", "params",
                    "model-size", "num-gpus", "trained-layers", "sequence",
                    "completion-tokens", "batch", "field"):
            after = estimate(place, *base, "--" + name, *value)
        if not check("--%s is taken" % name,
                     before.status == 0 and after.status == 0,
                     "%s\n%s" % (before, after)):
            continue
        was, now = process(before), process(after)
        good = {"less": now < was, "more": now > was, "same": now == was,
                "any": now != was or before.result["model"] !=
                after.result["model"]}[change]
        check("--%s: %s memory" % (name, change), good,
              "%d, then %d\n%s" % (was, now, after.out))


def test_errors(place):
    for words, says in WRONG:
        answer = estimate(place, *words)
        name = "estimate " + " ".join(words)
        equal(name + ": 125, nothing printed", (answer.status, answer.out),
              (125, ""))
        holds(name + ": says why", answer.err, says)
        equal(name + ": one line", answer.err.count("\n"), 1)
    for value, status in (("4", 0), ("junk", 125)):
        answer = place.run("estimate", "--device", "host", "gpt2",
                           env={"AUTOFIT_BATCH": value})
        equal("AUTOFIT_BATCH=%s" % value, answer.status, status)
    equal("a variable of estimate stops nothing else",
          place.run("presets", "hf", env={"AUTOFIT_BATCH": "junk"}).status, 0)
    answer = place.run("--batch", "8", "--", "true")
    holds("an option of estimate elsewhere", answer.err,
          "--batch belongs to autofit estimate")


def test_object(place):
    words = ["--lora", "8", "--as", "rtx4090", "--device", "host", *LLAMA]
    process_ = place.start("estimate", "--json", "-", *words)
    out = process_.communicate()[0].decode()
    check("the schema comes first", out.startswith(
        '{\n  "schema": "autofit.estimate/1",'), out[:80])
    result = json.loads(out)
    equal("parameters are exact", result["parameters"], 8030261248)
    # 32 layers, 8 x (4096 + 4096) of q and 8 x (4096 + 1024) of v.
    equal("so are trained ones", result["trained_parameters"],
          32 * 8 * (4096 + 4096 + 4096 + 1024))
    total = 0
    for tier in ("allocated", "reserved", "process"):
        total += sum(line["bytes"] for line in result["lines"]
                     if line["tier"] == tier)
        peak = result["peak"][tier]
        equal("the lines add up to " + tier, total, peak["bytes"])
        check("%s lies in its interval" % tier,
              peak["low_bytes"] <= peak["bytes"] <= peak["high_bytes"], peak)
    equal("the peak is that of its phase", result["peak"]["allocated"]["bytes"],
          result["allocated_bytes"][result["phase"]])
    equal("fixed and one sample are the forward phase",
          result["fixed_bytes"] + result["sample_bytes"],
          result["allocated_bytes"]["forward"])
    equal("the GPU is named", result["gpu"]["name"], "NVIDIA GeForce RTX 4090")
    equal("what was not asked is null",
          [result[key] for key in ("compare", "gpus", "generation", "fit",
                                   "need", "profile")], [None] * 6)
    answer = place.run("estimate", *words)
    equal("a file has the same", answer.result, result)
    for line in filter(lambda each: each["bytes"], result["lines"]):
        holds("the text has the line " + line["part"], answer.out,
              re.escape(line["part"]) + r" +[0-9.]+ [KMGT]?i?B " +
              line["tier"])
    holds("and all else", answer.out, r"8,030,261,248 parameters",
          r"allocated +\S+ \S+ from \S+ \S+ to", r"peak +" + result["phase"],
          r"RTX 4090, 23.6 GiB")
    lacks("no picture in a file", answer.out, r"\|#")
    holds("but where colours are wanted",
          place.run("estimate", "--color", "always", *words).out, r"\|#+ *\|")


def test_bands(place):
    need = process(estimate(place, *LORA))
    high = estimate(place, *LORA).result["peak"]["process"]["high_bytes"]
    for name, usable, fits in (("does not fit", need - 1, False),
                               ("tight", need, False), ("ok", high, True),
                               ("roomy", 2 * high + 2, True)):
        answer = estimate(place, "--gpu-memory", "%dB" % usable, *LORA)
        gpu = answer.result["gpu"]
        equal("%s: band and fits" % name, (gpu["band"], gpu["fits"]),
              (name, fits))
        equal("%s: done all the same" % name, answer.status, 0)
        equal("%s: options where they are needed" % name,
              answer.result["options"] is not None, not fits)
    answer = estimate(place, "--gpu-memory", "16", "--batch", "8", *LLAMA)
    options = answer.result["options"]
    saved = [option["saved_bytes"] for option in options]
    equal("options are ranked", saved, sorted(saved, reverse=True))
    check("each saves what it says", all(
        option["process_bytes"] + option["saved_bytes"] == process(answer)
        for option in options), options)
    check("fits is by the upper edge", all(
        option["fits"] == (option["high_bytes"] <= 16 * GIB)
        for option in options), options)
    names = {option["option"] for option in options}
    check("of all sorts", {"checkpointing", "precision", "optimizer", "lora",
                           "quantize", "offload_optimizer", "sequence"} <=
          names, names)
    check("one GPU is not told to share", "sharding" not in names, names)
    several = estimate(place, "--gpu-memory", "12", "--batch", "8",
                       "--num-gpus", "4", *LLAMA).result["options"]
    check("several are", "sharding" in {option["option"] for option in several},
          several)
    holds("and what fits together", answer.out, r"fits with .+ \+ .+: up to")
    answer = estimate(place, "--gpu-memory", "40", "--evaluator", "14b",
                      "--task", "grpo", "--batch", "8",
                      "--completion-tokens", "512", *LORA)
    names = {option["option"] for option in answer.result["options"]}
    check("evaluators and completions too", {
        "evaluator_int8", "evaluator_nf4", "evaluator_smaller", "completion",
        "accumulation"} <= names, names)


def test_serving(place):
    serve = ["--task", "inference", "--sequence", "8192",
             "--gpu-memory-utilization", "0.9"]
    answer = estimate(place, "--as", "h200", "--num-gpus", "8", *serve,
                      "deepseek-v3")
    # 671 GB in fp8, as they are stored, on 8 x 141 GB.
    weights = {line["part"]: line["bytes"]
               for line in answer.result["lines"]}["weights"]
    check("DeepSeek-V3 in fp8 on 8 H200: its weights",
          0.99 < weights * 8 / 671026404352 < 1.01, weights)
    check("fit, and a cache beside them", answer.result["gpu"]["fits"] and
          answer.result["engine"]["kv_cache_tokens"] > 100000, answer.out)
    holds("as they are stored, shared by the GPUs", answer.out,
          r"precision fp8, as its weights", r"tensor\s+parallel",
          r"sequences of 8192")
    cache = [estimate(place, "--num-gpus", gpus, *serve[:4], "deepseek-v3")
             for gpus in ("4", "8")]
    equal("compressed keys lie on each GPU", *[
        {line["part"]: line["bytes"] for line in one.result["lines"]}[
            "KV cache"] for one in cache])
    llama = ["--as", "h100", "--num-gpus", "2", *serve, "llama-3.3-70b"]
    answer = estimate(place, "--precision", "fp8", *llama)
    check("Llama-3.3-70B in fp8 on 2 H100 fits",
          answer.result["gpu"]["fits"] and
          answer.result["engine"]["sequences"] >= 20, answer.out)
    answer = estimate(place, *llama)
    check("in bf16 it does not", not answer.result["gpu"]["fits"], answer.out)
    names = {option["option"] for option in answer.result["options"]}
    check("what is advised is for generation", "weights_fp8" in names and
          not names & {"quantize", "int8", "lora"}, names)
    lacks("no adapters are spoken of", answer.out, r"adapter|LoRA|frozen")
    equal("no engine, no cache of its own", estimate(
        place, *INFERENCE).result["engine"], None)


VIEWS = [[], ["--compare"], ["--generation"], ["--gpus"],
         ["--fit", "24GiB"], ["--gpu-memory", "12", "--batch", "8"]]


def test_widths(place):
    calls = [view + ["llama-3.1-8b"] for view in VIEWS] + [
        ["--need", "llama-3.1-8b"], ["--fit", "rtx4090"]]
    for columns in ("", "60", "80", "120"):
        for words in calls:
            answer = place.run("estimate", "--device", "host", *words,
                               env={"COLUMNS": columns})
            lines = answer.out.split("\n")
            widest = max(len(line) for line in lines)
            most = int(columns or 80)
            check("COLUMNS=%s estimate %s: no line is wider" % (
                columns, " ".join(words)), widest <= most,
                [line for line in lines if len(line) > most])
    answer = estimate(place, "llama-3.1-8b")
    holds("what amp costs is said first", answer.out,
          r"assumed +precision amp: fp32 weights, cast "
          r"\(--precision bf16: [\d.]+ GiB\)")
    rows = estimate(place, "--need", "llama-3.1-8b").result["need"]
    check("an instance stands with its own GPU", all(
        row["instance_gpu"] and row["instance_gpus"] for row in rows), rows)


TORCHTUNE = """
model:
  _component_: torchtune.models.llama3_1.%slora_llama3_1_8b
  lora_rank: 16
checkpointer:
  checkpoint_dir: /not/here/Meta-Llama-3.1-8B-Instruct
tokenizer: {max_seq_len: 4096}
batch_size: 2
gradient_accumulation_steps: 16
optimizer: {_component_: torch.optim.AdamW}
dtype: bf16
enable_activation_checkpointing: true
"""
AXOLOTL = """
base_model: NousResearch/Llama-2-7b-hf
load_in_8bit: true
adapter: lora
lora_r: 32
sequence_len: 4096
gradient_accumulation_steps: 4
micro_batch_size: 2
optimizer: adamw_bnb_8bit
bf16: auto
gradient_checkpointing: true
"""


def test_training_files(place):
    """What a config of torchtune, and of axolotl, says of model and run."""
    place.write("lora.yaml", TORCHTUNE % "")
    place.write("qlora.yaml", TORCHTUNE % "q")
    place.write("axolotl.yml", AXOLOTL)
    tune = ["--", "tune", "run", "lora_finetune_single_device", "--config"]
    answer = estimate(place, *tune, "lora.yaml")
    holds("torchtune: the model by what builds it", answer.out,
          "8,030,261,248 parameters")
    holds("torchtune: its run", answer.out, "lora of rank 16, .* bf16, "
          "batch 2 x 4096 tokens, .* adamw, checkpointing full, "
          "accumulation 16", r"assumed +adapters on q and v \(--targets\)")
    lacks("torchtune: nothing is quantised", answer.out, "nf4")
    answer = estimate(place, *tune, "qlora.yaml")
    holds("torchtune: qlora", answer.out, "weights in nf4, bf16, batch 2")
    answer = estimate(place, "--", "axolotl", "train", "axolotl.yml")
    holds("axolotl: the model", answer.out, "6,738,415,616 parameters")
    holds("axolotl: its run", answer.out, "lora of rank 32, .* weights in "
          "int8, amp, batch 2 x 4096 tokens, .* adamw_bnb_8bit, "
          "checkpointing full, accumulation 4")


def test_unsaid(place):
    tower = {"model_type": "gemma3", "text_config": {
        "model_type": "gemma3_text", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
        "intermediate_size": 128, "vocab_size": 1000},
        "vision_config": {"hidden_size": 64, "num_hidden_layers": 2}}
    place.write("tower/config.json", json.dumps(tower))
    answer = estimate(place, "tower")
    holds("a tower is told", answer.out, r"not read +vision_config: about")
    tower.pop("vision_config")
    place.write("text/config.json", json.dumps(tower))
    check("and counted", answer.result["parameters"] >
          estimate(place, "text").result["parameters"], answer.out)
    place.write("train.py", "import argparse\n"
                "p = argparse.ArgumentParser()\n"
                "p.add_argument('--per_device_train_batch_size')\n")
    train = ["--num-gpus", "4", "--", "python", "train.py",
             "--per_device_train_batch_size", "4", "--model_name_or_path",
             "gpt2", "--deepspeed"]
    answer = estimate(place, *train, "missing.json")
    check("a DeepSpeed file that is missing is told", any(
        "missing.json" in note for note in answer.result["not_read"]),
        answer.out)
    place.write("there.json", json.dumps({"zero_optimization": {"stage": 2}}))
    equal("one that is there is not", estimate(
        place, *train, "there.json").result["not_read"], [])


def test_tables(place):
    answer = estimate(place, "--compare", *LLAMA)
    rows = {row["technique"]: row for row in answer.result["compare"]}
    check("fp32 needs more than bf16", all(
        row["fp32"] >= row["bf16"] for row in rows.values()), rows)
    check("LoRA less than all", rows["LoRA"]["bf16"] < rows["full"]["bf16"],
          rows)
    equal("no parts beside a table", re.findall("optimizer states", answer.out),
          [])

    answer = estimate(place, "--gpus", "--effective-batch", "96",
                      "--num-gpus", "2", *LORA)
    gpus = answer.result["gpus"]
    check("the whole catalogue", len(gpus) > 60, len(gpus))
    largest = [gpu["largest_batch"] or 0 for gpu in
               sorted(gpus, key=lambda gpu: gpu["usable_bytes"])]
    equal("more memory, no smaller batch", largest, sorted(largest))
    check("the split is exact", all(
        gpu["micro_batch"] * gpu["grad_accum"] * 2 == 96 and
        gpu["micro_batch"] <= gpu["largest_batch"]
        for gpu in gpus if gpu["largest_batch"]), gpus)
    check("what does not fit has none", all(
        not gpu["micro_batch"] for gpu in gpus if not gpu["largest_batch"]) and
        not gpus[0]["largest_batch"], gpus[0])

    answer = estimate(place, "--generation", *SMALL)
    train, generate = answer.result["generation"]
    check("training takes more", train["process_bytes"] >
          generate["process_bytes"] and train["ratio_percent"] > 100, train)
    check("only generation has a cache", not train["kv_cache_bytes"] and
          generate["kv_cache_bytes"] > 0, generate)


def test_fit_and_need(place):
    answer = estimate(place, "--fit", "24GiB")
    rows = answer.result["fit"]
    equal("no model is needed", answer.result["parameters"], None)
    check("sizes rise", [row["parameters"] for row in rows] ==
          sorted(row["parameters"] for row in rows), rows)
    check("less is trained in less memory", all(
        row["full_bytes"] > row["lora_bytes"] > row["qlora_bytes"]
        for row in rows if row["parameters"] > 1e9), rows)
    small, large = rows[0], rows[-1]
    check("all of a small one, nothing of a large one",
          small["full_batch"] and small["generation_batch"] and
          not large["full_batch"] and not large["qlora_batch"], rows)
    for words in (["24"], ["rtx3090"]):
        equal("--fit %s is much the same" % words[0], len(
            estimate(place, "--fit", *words).result["fit"]), len(rows))
    one = estimate(place, "--fit", "24GiB", "llama-3.1-8b").result["fit"]
    equal("or of one model", [row["parameters"] for row in one], [8030261248])

    answer = estimate(place, "--need", "llama-3.1-8b")
    rows = answer.result["need"]
    equal("four ways, three levels", [(row["recipe"], row["level"])
                                      for row in rows],
          [(way, level) for way in ("QLoRA", "LoRA", "full", "generation")
           for level in ("minimum", "recommended", "ideal")])
    check("each has a GPU and an instance", all(
        row["gpu"] and row["instance"] and row["provider"] for row in rows),
        rows)
    check("QLoRA needs no more than LoRA, LoRA than all", rows[0]["gpus"] == 1
          and rows[0]["gpu_bytes"] < rows[3]["gpu_bytes"], rows)


def test_gpu(place):
    env = {"LD_LIBRARY_PATH": SIM, "AUTOFIT_SIM_DEVICES": "Tesla T4:8G;B:4G",
           "AUTOFIT_SIM_STATE": place.path("sim")}
    answer = place.run("estimate", "gpt2", env=env)
    equal("without a name the first GPU that is there",
          answer.result["gpu"]["name"], "Tesla T4")
    check("with the memory it has", 7 * GIB <
          answer.result["gpu"]["usable_bytes"] <= 8 * GIB, answer.result["gpu"])
    equal("none where the host is meant", place.run(
        "estimate", "--device", "host", "gpt2", env=env).result["gpu"], None)


def test_models(place):
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"],
              "num_hidden_layers": 22, "hidden_size": 2048,
              "intermediate_size": 5632, "num_attention_heads": 32,
              "num_key_value_heads": 4, "vocab_size": 32000,
              "tie_word_embeddings": False}
    place.write("tiny/config.json", json.dumps(config))
    place.write("tiny.toml", "\n".join([
        "[model]", 'family = "llama"', "layers = 22", "hidden = 2048",
        "ffn = 5632", "heads = 32", "kv_heads = 4", "vocab = 32000", ""]))
    numbers = ["--family", "llama", "--layers", "22", "--hidden", "2048",
               "--ffn", "5632", "--heads", "32", "--kv-heads", "4", "--vocab",
               "32000"]
    for words in (["tiny"], ["tiny/config.json"], ["tiny.toml"], numbers,
                  ["TinyLlama/TinyLlama-1.1B-Chat-v1.0"]):
        equal("TinyLlama as " + words[0],
              estimate(place, *words).result["parameters"], 1100048384)
    more = estimate(place, "--layers", "23", "tiny")
    equal("an option wins over the file", more.result["parameters"],
          1100048384 + 2 * 2048 * 2048 + 2 * 2048 * 256 + 3 * 2048 * 5632 +
          2 * 2048)
    place.write("home/config/models.csv",
                "name,family,layers,hidden,heads,vocab,positions\n"
                "ours/own-model,gpt2,2,64,2,100,32\n")
    equal("a model of the user's table", estimate(
        place, "own-model").result["model"]["name"], "ours/own-model")
    place.write("home/config/instances.csv",
                "name,provider,gpu,count\nours-1,us,T4,1\nbad,us,nothing,1\n")
    answer = estimate(place, "--need", "own-model")
    holds("a bad line of the user's instances is told",
          answer.out + answer.err, r"instances\.csv:3")


def test_command(place):
    place.write("train.py", "import argparse\n"
                "p = argparse.ArgumentParser()\n"
                "p.add_argument('--per_device_train_batch_size')\n")
    train = ["--", "python", "train.py", "--per_device_train_batch_size", "4",
             "--gradient_accumulation_steps", "8"]
    answer = estimate(place, *train, "--model_name_or_path", "gpt2-xl",
                      "--bf16", "True", "--optim", "adamw_torch_fused",
                      "--lora_r", "16", "--load_in_4bit", "True",
                      "--gradient_checkpointing", "--max_seq_length", "512")
    run = answer.result["run"]
    equal("the command is read",
          [run[key] for key in ("micro_batch", "grad_accum", "effective_batch",
                                "sequence", "optimizer", "peft", "rank",
                                "quantize", "checkpointing")],
          [4, 8, 32, 512, "adamw_torch_fused", "lora", 16, "nf4", "full"])
    equal("its model too", answer.result["model"]["name"],
          "openai-community/gpt2-xl")
    place.write("model/config.json", json.dumps({
        "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 256,
        "num_attention_heads": 4, "intermediate_size": 512,
        "vocab_size": 32000}))
    litgpt = ["--", "litgpt", "finetune_lora", "--checkpoint_dir", "model"]
    answers = [estimate(place, *litgpt, "--quantize", words).result
               for words in ("bnb.nf4", "bnb.nf4-dq", "bnb.int8")]
    equal("how LitGPT quantises",
          [answer["run"]["quantize"] for answer in answers],
          ["nf4", "nf4-double", "int8"])
    head = 32000 * 256
    plain, lightning = [
        {line["part"]: line["bytes"] for line in estimate(
            place, "--task", "inference", "--quantize", "nf4", *options,
            "model").result["lines"]}
        for options in ([], ["--lightning-quantizer"])]
    equal("the head is quantised too",
          plain["weights"] - lightning["weights"], head * (2 - 0.5625))
    equal("and dequantised in two copies, where the largest matrix was one",
          lightning["one layer at work"] - plain["one layer at work"],
          head * 4 - 256 * 512 * 2)
    place.write("ds.json", json.dumps({"zero_optimization": {
        "stage": 3, "offload_optimizer": {"device": "cpu"}}}))
    shared = estimate(place, "--num-gpus", "4", *train,
                      "--model_name_or_path", "gpt2", "--deepspeed",
                      "ds.json").result["run"]
    equal("how its ranks share it", (shared["sharding"], shared["offload"]),
          ("zero3", "optimizer"))
    shared = estimate(place, "--num-gpus", "4", "--sharding", "ddp",
                      "--offload", "none", *train, "--model_name_or_path",
                      "gpt2", "--deepspeed", "ds.json").result["run"]
    equal("an option of autofit wins", (shared["sharding"],
                                        shared["offload"]), ("ddp", "none"))
    answer = estimate(place, "--batch", "2", "--precision", "fp32", *train,
                      "--model_name_or_path", "gpt2", "--bf16")
    equal("options win", (answer.result["run"]["micro_batch"],
                          answer.result["run"]["precision"]), (2, "fp32"))
    answer = estimate(place, "--params", "7b", *train)
    equal("a model beside the command", answer.result["parameters"],
          7000000000)
    answer = estimate(place, *train)
    equal("without a model it is told", answer.status, 125)
    holds("how to name one", answer.err, "no model is named")
    answer = estimate(place, "--", "python", "missing.py", "--bs", "3")
    equal("a script that is not there", answer.status, 121)


def test_profiles(place):
    answer = estimate(place, "--profile", "latentwire-code", "--model-size",
                      "14", "--gpu-memory", "80", "--num-gpus", "1",
                      "--optimizer", "adamw")
    holds("a guide's calculator with its own words", answer.out,
          r"largest batch 6", r"safe batch 4", r"effective batch 32")
    equal("the same for programs", answer.result["profile"]["profile"],
          "latentwire-code")
    answer = estimate(place, "--profile", "agi2", "--batch", "24",
                      "--layers", "6", "--hidden", "384", "--heads", "6",
                      "--sequence", "512", "--vocab", "50257")
    holds("and how far it is from the estimate", answer.out,
          r"the guide says \d+% less")
    answer = estimate(place, "--profile", "stateset-table", "--method",
                      "qlora", "--params", "7b")
    equal("a method of it", answer.result["profile"]["method"], "qlora")
    answer = estimate(place, "--profile", "nanogpt-guide", "--tables")
    holds("its tables", answer.out, r"150M", r"~8 GB")
    check("for programs too", answer.result["profile"]["tables"], answer.out)


# What readers of the five guides type, in the guides' own words: the profile,
# the words, and what is printed.
GUIDES = [
    # StateSet's tables: training 7B, its methods, and inference.
    ("stateset-table", ["--params", "7b"], r"full fine-tuning +56 GB"),
    ("stateset-table", ["--params", "7b", "--method", "lora"], r"LoRA +16 GB"),
    ("stateset-table", ["--params", "7b", "--method", "qlora"],
     r"4 bit +8 GB"),
    ("stateset-table", ["--params", "13b", "--method", "inference"],
     r"weights, 16 bit +26 GB"),
    ("stateset-table", ["--params", "70b"], r"full fine-tuning +560 GB"),
    # Its formula, for Llama-2-7B: 14 + 56 + 14 + 0.54.
    ("stateset-formula", ["--params", "7b", "--hidden", "4096", "--layers",
                          "32", "--seq_len", "2048", "--batch_size", "1"],
     r"weights +14 GB", r"optimizer states +56 GB", r"total +84\.5"),
    # LatentWire's text and its calculator.
    ("latentwire-doc", ["--gpu-memory", "80"], r"before any sample +60 GB",
     r"batch at 1 GB a sample +20"),
    ("latentwire-doc", ["--gpu-memory", "40"], r"left for samples, GB +-20",
     r"does not fit"),
    ("latentwire-code", ["--model_size_gb", "14", "--gpu_memory_gb", "80",
                         "--num_gpus", "4", "--optimizer", "adamw"],
     r"one sample, GB +3\.24", r"largest batch +6", r"safe batch +4",
     r"accumulation +2", r"effective batch +32"),
    # AGI2: its file, its options, both precisions in one call.
    ("agi2", ["lilwill.toml"], r"weights +0\.056", r"in float32, GB +0\.53",
     r"in float16, GB +0\.3", r"saved by float16, GB +0\.22",
     r"parameters +3\.0117e\+07", r"reasonable"),
    ("agi2", ["--model-embd", "768", "--model-layer", "12", "--batch-size",
              "8", "--mixed-precision"], r"total +1\.03", r"1\.2394e\+08"),
    # The nanoGPT guide: sizes, batches, blocks, generation.
    ("nanogpt-guide", ["--params", "150M"], r"total +8000 MB"),
    ("nanogpt-guide", ["--params", "250M"], r"total +12000 MB"),
    ("nanogpt-guide", ["--params", "150M", "--batch_size", "8"],
     r"total +4000 MB"),
    ("nanogpt-guide", ["--params", "150M", "--batch_size", "64"],
     r"total +14000 MB"),
    ("nanogpt-guide", ["--params", "150M", "--block_size", "512"],
     r"total +12000 MB"),
    ("nanogpt-guide", ["--params", "150M", "--method", "generation",
                       "--block_size", "1024"], r"total +1500 MB"),
    ("nanogpt-guide", ["--params", "350M", "--method", "training-1024"],
     r"total, 1024 tokens +18000 MB"),
    # Qwen GRPO with an evaluator: batches, the small model, verdicts.
    ("qwen-grpo-guide", [], r"total +94-103"),
    ("qwen-grpo-guide", ["--batch", "32"], r"total +130-160"),
    ("qwen-grpo-guide", ["--batch", "128"], r"total +250-350"),
    ("qwen-grpo-guide", ["--method", "0.5b", "--batch", "128"],
     r"total +14-22"),
    ("qwen-grpo-guide", ["--gpu-memory", "141"], r"total +94-103",
     r"verdict: \S+"),
]
LILWILL = "\n".join([
    "model_embd = 384", "model_layer = 6", "model_head = 6",
    "model_positions = 512", "batch_size = 24", "seq_len = 512",
    "num_epochs = 3", "learning_rate = 0.001", ""])


def test_guides(place):
    place.write("lilwill.toml", LILWILL)
    for profile, words, *says in GUIDES:
        answer = estimate(place, "--profile", profile, *words)
        name = " ".join([profile, *words])
        equal(name + ": is answered", answer.status, 0)
        holds(name, answer.out, *says)
    answer = estimate(place, "lilwill.toml")
    equal("what the file says of the run counts", [
        answer.result["run"][key] for key in ("micro_batch", "sequence")],
        [24, 512])
    holds("what it says beside that is told", answer.out,
          r"not read +keys of the file: num_epochs, learning_rate")
    answer = estimate(place, "--profile", "stateset-table", "--method", "qlora",
                      "llama-2-7b")
    holds("the footer is of the same run", answer.out,
          r"the same run \(qlora, bf16, batch 1, 2048 tokens\)")
    answer = estimate(place, "--profile", "nanogpt-guide", "--params", "150M",
                      "--batch", "64")
    holds("with the guide's batch and tokens", answer.out,
          r"\(training, fp32, batch 64, 256 tokens\)")


def main():
    with Place("estimate") as place:
        test_guides(place)
        test_object(place)
        test_options(place)
        test_errors(place)
        test_bands(place)
        test_serving(place)
        test_unsaid(place)
        test_training_files(place)
        test_widths(place)
        test_tables(place)
        test_fit_and_need(place)
        test_command(place)
        test_profiles(place)
        test_models(place)
        test_gpu(place)
    finish()


if __name__ == "__main__":
    main()
