#!/usr/bin/env python3
"""Steps per second of MinAtar, on the games that it shares with brex, next to brex in the same run.

One core, random actions, the observation included, the best of several runs in turns. MinAtar is run
as a separate program. `cargo xtask bench-games` makes the environment and runs both.
"""
import random
import re
import subprocess
import sys
import time

from minatar import Environment

STEPS = 20_000
RUNS = 5
SHARED = {
    "breakout": "pocket:breakout",
    "space_invaders": "pocket:space-invaders",
    "seaquest": "pocket:seaquest",
}


def minatar_rate(game):
    """Steps per second of one run."""
    env = Environment(game)
    env.seed(1)
    env.reset()
    actions = env.num_actions()
    start = time.perf_counter()
    for _ in range(STEPS):
        _, over = env.act(random.randrange(actions))
        env.state()
        if over:
            env.reset()
    return STEPS / (time.perf_counter() - start)


def brex_rates(command):
    """Steps per second on one thread, by game, from the output of brex's own benchmark."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(text)
    return {name: float(rate) for name, rate in re.findall(r"^(pocket:\S+)\s+(\d+)", text, re.M)}


def main():
    ours = brex_rates(sys.argv[1:])
    print(f"{'game':24} {'brex':>12} {'MinAtar':>10} {'ratio':>8}")
    for theirs, name in SHARED.items():
        rate = max(minatar_rate(theirs) for _ in range(RUNS))
        print(f"{name:24} {ours[name]:>12,.0f} {rate:>10,.0f} {ours[name] / rate:>8.1f}")


main()
