# Stands in for speech recognition whose sizes are in a YAML.
# SPDX-License-Identifier: MIT
def add_model_args(parser):
    parser.add_argument("--config", required=True, help="config file")
    parser.add_argument("--model_dir", required=True)
    parser.add_argument("--data_type", default="raw")
    parser.add_argument("--train_data", required=True)
    parser.add_argument("--cv_data", required=True)
    parser.add_argument("--num_workers", default=0, type=int)
    parser.add_argument("--prefetch", default=100, type=int)
    parser.add_argument("--pin_memory", action="store_true", default=False)
    parser.add_argument("--ddp.dist_backend", dest="dist_backend",
                        default="nccl")


def batch_backward(loss, optimizer, batch_idx, accum_grad):
    (loss / accum_grad).backward()
    if (batch_idx + 1) % accum_grad == 0:
        optimizer.step()
        optimizer.zero_grad()
