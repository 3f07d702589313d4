#!/usr/bin/env python3
"""Steps of PPO a second, learning included, in Stable-Baselines3 and in brex, in turns.

Both have the pocket network, 32 environments that cost nothing, 64 steps between updates, four epochs of
minibatches of 256. `cargo xtask bench-ppo` makes the environment and runs both: the words after this
script are the command that starts brex's side.
"""
import os
import subprocess
import sys
import time

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

ROUNDS = int(os.environ.get("ROUNDS", "5"))
ENVIRONMENTS, HORIZON, UPDATES = 32, 64, 8
FRAMES = gymnasium.spaces.Box(0, 255, (4, 24, 24), np.uint8)


class Blank(VecEnv):
    """Frames that change a little, episodes of a hundred steps."""

    def __init__(self):
        super().__init__(ENVIRONMENTS, FRAMES, gymnasium.spaces.Discrete(4))
        self.seen = np.zeros((ENVIRONMENTS, 4, 24, 24), np.uint8)
        self.steps = 0

    def reset(self):
        self.seen[:] = 0
        self.steps = 0
        return self.seen.copy()

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        self.steps += 1
        self.seen.reshape(ENVIRONMENTS, -1)[:, self.steps * 7] = 255
        over = self.steps == 100
        infos = [{} for _ in range(ENVIRONMENTS)]
        if over:
            last = self.seen.copy()
            infos = [{"terminal_observation": last[i]} for i in range(ENVIRONMENTS)]
            self.reset()
        rewards = (self.actions == 1).astype(np.float32)
        return self.seen.copy(), rewards, np.full(ENVIRONMENTS, over), infos

    def close(self):
        pass

    def get_attr(self, name, indices=None):
        return [None] * ENVIRONMENTS

    def set_attr(self, name, value, indices=None):
        pass

    def env_method(self, name, *words, indices=None, **named):
        return [None] * ENVIRONMENTS

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * ENVIRONMENTS


class Features(BaseFeaturesExtractor):
    """The pocket network up to its hidden layer."""

    def __init__(self, space):
        super().__init__(space, 256)
        self.body = nn.Sequential(
            nn.Conv2d(4, 16, 4, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(),
            nn.Flatten(), nn.Linear(800, 256), nn.ReLU(),
        )

    def forward(self, x):
        return self.body(x)


def theirs(threads):
    torch.set_num_threads(threads)
    model = PPO(
        "CnnPolicy", Blank(), n_steps=HORIZON, batch_size=256, n_epochs=4, learning_rate=1e-3,
        ent_coef=0.01, clip_range_vf=0.2, device="cpu",
        policy_kwargs={"features_extractor_class": Features, "net_arch": []},
    )
    model.learn(ENVIRONMENTS * HORIZON)
    start = time.perf_counter()
    model.learn(ENVIRONMENTS * HORIZON * UPDATES, reset_num_timesteps=True)
    return ENVIRONMENTS * HORIZON * UPDATES / (time.perf_counter() - start)


def main():
    brex = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ours(threads):
        brex.stdin.write(f"{threads}\n")
        brex.stdin.flush()
        return float(brex.stdout.readline())

    print(f"steps a second, the most of {ROUNDS} rounds in turns; torch {torch.__version__}")
    print(f"{'threads':>8} {'brex':>10} {'SB3':>10} {'ratio':>7}")
    for threads in (1, 2):
        pairs = [(ours(threads), theirs(threads)) for _ in range(ROUNDS)]
        best = [max(side) for side in zip(*pairs)]
        print(f"{threads:>8} {best[0]:>10,.0f} {best[1]:>10,.0f} {best[0] / best[1]:>7.1f}")
    brex.stdin.close()
    brex.wait()


main()
