"""Shared by the checks: the built command, and problems with their files."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest


@pytest.fixture(scope="session")
def brex():
    """Runs the command that BREX_BIN names; gives its standard output."""
    program = os.environ.get("BREX_BIN")
    if not program:
        pytest.exit("BREX_BIN is not set; run `cargo xtask test python`", returncode=1)

    def run(*words, code=0):
        done = subprocess.run(
            [program, *map(str, words)], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


class Problem:
    """Features and preferences in memory, shaped like the paper's: 12 ranked demonstrations."""

    def __init__(self, seed=7, rows=12, k=64):
        rng = np.random.default_rng(seed)
        unit = lambda v: v / np.linalg.norm(v)
        quality = np.sort(rng.random(rows))
        length = 1000 + 2000 * quality * (0.8 + 0.4 * rng.random(rows))
        common, good = unit(rng.standard_normal(k)), unit(rng.standard_normal(k))
        noise = rng.standard_normal((rows, k)) / np.sqrt(k)
        per_step = 0.03 * common + np.outer(quality, 0.02 * good) + 0.01 * noise
        self.features = length[:, None] * per_step
        self.pairs = [(i, j) for i in range(rows) for j in range(i + 1, rows)]

    def write(self, folder: pathlib.Path):
        np.save(folder / "features.npy", self.features)
        lines = ["worse,better", *(f"{i},{j}" for i, j in self.pairs)]
        (folder / "preferences.csv").write_text("\n".join(lines) + "\n")
        return folder / "features.npy", folder / "preferences.csv"


@pytest.fixture(scope="session")
def problem():
    return Problem()


class Run:
    """A finished `brex sample`."""

    def __init__(self, folder, report):
        self.folder = folder
        self.report = report


@pytest.fixture(scope="session")
def run(brex, problem, tmp_path_factory):
    """8,000 draws of the problem in 8 chains."""
    folder = tmp_path_factory.mktemp("run")
    features, preferences = problem.write(folder)
    out = folder / "out"
    words = ["--features", features, "--preferences", preferences, "--out", out]
    report = json.loads(brex("sample", *words, "--draws", 8000, "--chains", 8, "--json"))
    return Run(out, report)
