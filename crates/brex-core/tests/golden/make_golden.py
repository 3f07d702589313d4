"""Writes arviz.json: what ArviZ says about sequences that tests/arviz.rs makes again.

    pip install arviz-stats && python make_golden.py > arviz.json

The sequences use only +, -, *, / on doubles, so both languages get the same bits.
"""

import json
import sys

import arviz_stats
import numpy as np
from arviz_stats.base import array_stats as az

PROBABILITIES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.95]

# name, chains, draws, lag-one correlation, kind
CASES = [
    ("independent", 4, 1000, 0.0, "normal"),
    ("positive", 4, 1000, 0.7, "normal"),
    ("slow, by Fourier transform", 4, 2000, 0.98, "normal"),
    ("negative", 4, 1000, -0.6, "normal"),
    ("chains disagree", 4, 500, 0.3, "disagree"),
    ("scales disagree", 4, 500, 0.3, "scales"),
    ("a drifting chain", 2, 400, 0.5, "drift"),
    ("heavy tails", 4, 1000, 0.0, "heavy"),
    ("heavy and slow", 3, 700, 0.9, "heavy"),
    ("ties", 4, 300, 0.5, "ties"),
    ("two values", 2, 200, 0.5, "binary"),
    ("far from zero", 4, 500, 0.5, "far"),
    ("four draws", 4, 4, 0.0, "normal"),
    ("five draws", 2, 5, 0.0, "normal"),
    ("seven draws", 3, 7, 0.2, "normal"),
    ("ten draws", 4, 10, 0.0, "normal"),
    ("odd number of draws", 4, 501, 0.4, "normal"),
    ("one chain", 1, 1000, 0.6, "normal"),
    ("one short odd chain", 1, 33, 0.3, "normal"),
    ("many chains", 64, 50, 0.5, "normal"),
]


def uniforms(seed):
    state = seed
    while True:
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        yield (state >> 11) / 2**53


def sequence(seed, chains, draws, correlation, kind):
    source = uniforms(seed)
    values = np.empty((chains, draws))
    for chain in range(chains):
        previous = 0.0
        for draw in range(draws):
            noise = 0.0
            for _ in range(12):
                noise += next(source)
            noise -= 6.0
            if kind == "heavy":
                noise /= next(source)
            value = previous = correlation * previous + noise
            if kind == "disagree":
                value += chain * 0.25
            elif kind == "scales":
                value *= 1.0 + chain * 0.25
            elif kind == "drift":
                value += draw / draws
            elif kind == "ties":
                value = np.floor(value * 2.0)
            elif kind == "binary":
                value = 1.0 if value > 0.5 else 0.0
            elif kind == "far":
                value += 10000.0
            values[chain, draw] = value
    return values


def rhat(values):
    if len(values) > 1:
        return az.rhat(values)
    # ArviZ refuses one chain; the same formula on its halves
    split = az._split_chains(values)
    return max(az._rhat(az._z_scale(split)), az._rhat(az._z_fold(split)))


def main():
    cases = []
    for seed, (name, chains, draws, correlation, kind) in enumerate(CASES, start=1):
        values = sequence(seed, chains, draws, correlation, kind)
        cases.append(
            {
                "name": name,
                "seed": seed,
                "chains": chains,
                "draws": draws,
                "correlation": correlation,
                "kind": kind,
                "mean": float(values.mean()),
                "sd": float(values.std(ddof=1)),
                "rhat": float(rhat(values)),
                "ess_bulk": float(az.ess(values)),
                "ess_tail": float(az.ess(values, method="tail", prob=(0.05, 0.95))),
                "ess_mean": float(az.ess(values, method="mean")),
                "ess_sd": float(az.ess(values, method="sd")),
                "mcse_mean": float(az.mcse(values)),
                "mcse_sd": float(az.mcse(values, method="sd")),
                "quantiles": [
                    {
                        "probability": p,
                        "ess": float(az.ess(values, method="quantile", prob=p)),
                        "mcse": float(az.mcse(values, method="quantile", prob=p)),
                    }
                    for p in PROBABILITIES
                ],
            }
        )
    json.dump({"arviz_stats": arviz_stats.__version__, "cases": cases}, sys.stdout, indent=1)
    print()


main()
