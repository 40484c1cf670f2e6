# A training by JAX: --device gpu asks for one, auto takes what there is.
# SPDX-License-Identifier: MIT
import argparse

import jax
from jax import numpy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=4)
    parser.add_argument("--device", choices=("auto", "gpu"), default="auto")
    args = parser.parse_args()
    if args.device == "gpu":
        jax.config.update("jax_platforms", "cuda")
    weights = numpy.ones((64, 64))

    def loss_of(weights, rows):
        return ((rows @ weights) ** 2).mean()

    step = jax.jit(jax.grad(loss_of))
    for each in range(10):
        gradient = sum(step(weights, numpy.ones((args.batch_size, 64)))
                       for _ in range(args.grad_accum))
        weights -= 0.01 * gradient / args.grad_accum
        print("step %d %.3f" % (each, weights.sum()), flush=True)


main()
