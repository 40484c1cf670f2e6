# Stands in for pretraining whose total is divided twice.
# SPDX-License-Identifier: MIT
def train_one_epoch(model, data, optimizer, args):
    for inputs in data:
        optimizer.zero_grad()
        per_batch = inputs.shape[0] // args.accum_freq
        for piece in inputs.split(per_batch):
            (model(piece).mean() / args.accum_freq).backward()
        optimizer.step()
