# Stands in for point clouds by a config in Python.
# SPDX-License-Identifier: MIT
batch_size = 12  # bs: total bs in all gpus
num_worker = 24
mix_prob = 0.8
enable_amp = True
epoch = 900
model = dict(type="DefaultSegmentor", backbone=dict(in_channels=9))
