# Stands in for a policy whose minibatch follows from three numbers.
# SPDX-License-Identifier: MIT

import argparse

import torch


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--env-id", type=str, default="CartPole-v1")
    parser.add_argument("--total-timesteps", type=int, default=500000)
    parser.add_argument("--num-envs", type=int, default=4,
                        help="the number of parallel game environments")
    parser.add_argument("--num-steps", type=int, default=128,
                        help="the number of steps to run in each environment"
                             " per policy rollout")
    parser.add_argument("--num-minibatches", type=int, default=4,
                        help="the number of mini-batches")
    parser.add_argument("--update-epochs", type=int, default=4)
    args = parser.parse_args()
    args.batch_size = int(args.num_envs * args.num_steps)
    args.minibatch_size = int(args.batch_size // args.num_minibatches)
    return args


if __name__ == "__main__":
    args = parse_args()
    agent = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Linear(64, 2))
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4)
    for update in range(args.total_timesteps // args.batch_size):
        seen = torch.zeros(args.num_steps, args.num_envs, 4)
        for step in range(args.num_steps):
            seen[step] = torch.randn(args.num_envs, 4)
            with torch.no_grad():
                agent(seen[step])
        flat = seen.reshape(-1, 4)
        for epoch in range(args.update_epochs):
            order = torch.randperm(args.batch_size)
            for start in range(0, args.batch_size, args.minibatch_size):
                rows = order[start : start + args.minibatch_size]
                loss = agent(flat[rows]).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
