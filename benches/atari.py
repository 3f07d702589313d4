#!/usr/bin/env python3
"""Steps per second of ale-py's own vector environment, next to brex in the same run.

    atari.py [GAME...] --brex COMMAND...

Eight environments on one thread and on two, random actions, four stacked frames, resets included,
rewards not clipped, the best of several runs in turns. A step is four raw frames. Both are held to as
many cores as they have threads, where the system can do that: brex's workers are processes of their
own, and must not count on more cores than ale-py's threads have. Last comes the processor time of a step
on one core, all processes together and without their start, which says more on a busy machine. `cargo
xtask bench-atari` makes the environment and runs both.
"""
import os
import resource
import subprocess
import sys
import time

import numpy as np
from ale_py import AtariVectorEnv

ENVIRONMENTS = 8
STEPS = 8_000
RUNS = 3
ALL_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
GAMES = ["breakout", "space-invaders", "seaquest", "beam-rider", "enduro"]


def ale_rate(game, threads, steps=STEPS):
    """Steps per second of one run of ale-py."""
    rom = game.replace("-", "_")
    env = AtariVectorEnv(rom, ENVIRONMENTS, num_threads=threads, reward_clipping=False)
    env.reset(seed=0)
    random = np.random.default_rng(0)
    actions = int(env.single_action_space.n)
    rounds = steps // ENVIRONMENTS
    start = time.perf_counter()
    for _ in range(rounds):
        env.step(random.integers(0, actions, ENVIRONMENTS))
    rate = rounds * ENVIRONMENTS / (time.perf_counter() - start)
    env.close()
    return rate


def brex_rate(command, game, threads, steps=STEPS):
    """Steps per second of one run of brex's own benchmark."""
    words = ["atari:" + game, str(ENVIRONMENTS), str(threads), str(steps)]
    run = subprocess.run(command + words, check=True, stdout=subprocess.PIPE, text=True)
    return float(run.stdout)


def processor_time():
    """Seconds that this program and those that it has started and that are over have taken."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def cost(rate, *arguments):
    """Microseconds of processor time of a step: a long run less a short one, so without the start."""

    def least(steps):
        times = []
        for _ in range(2):
            start = processor_time()
            rate(*arguments, 1, steps)
            times.append(processor_time() - start)
        return min(times)

    return (least(STEPS) - least(STEPS // 4)) / (STEPS - STEPS // 4) * 1e6


def hold_to_cores(count):
    """Lets this program and what it starts use so many cores only."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, ALL_CORES[:count])


def main():
    split = sys.argv.index("--brex")
    games, command = sys.argv[1:split] or GAMES, sys.argv[split + 1 :]
    print(f"{'steps a second':24} {'threads':>8} {'brex':>10} {'ale-py':>10} {'ratio':>8}", flush=True)
    for game in games:
        for threads in (1, 2):
            hold_to_cores(threads)
            ours = theirs = 0.0
            for _ in range(RUNS):
                ours = max(ours, brex_rate(command, game, threads))
                theirs = max(theirs, ale_rate(game, threads))
            ratio = ours / theirs
            name = "atari:" + game
            print(f"{name:24} {threads:>8} {ours:>10,.0f} {theirs:>10,.0f} {ratio:>8.2f}", flush=True)
    hold_to_cores(1)
    print(f"\n{'microseconds a step':24} {'':>8} {'brex':>10} {'ale-py':>10} {'ratio':>8}", flush=True)
    for game in games:
        ours, theirs = cost(brex_rate, command, game), cost(ale_rate, game)
        name = "atari:" + game
        print(f"{name:24} {'':>8} {ours:>10,.0f} {theirs:>10,.0f} {theirs / ours:>8.2f}", flush=True)


main()
