# Stands in for video generation in buckets.
# SPDX-License-Identifier: MIT
dataset = dict(type="video_text", transform_name="resize_crop")
bucket_config = {
    "256px": {1: (1.0, 45), 129: (1.0, 1)},
    "768px": {1: (0.5, 13)},
}
accumulation_steps = 2
lr = 1e-5
