#!/usr/bin/env python3
"""NumPyro, nutpie and BlackJAX on the benchmark problems, next to brex in the same run.

Prints the smallest effective sample size per CPU second over all weights and returns. Warm-up is
counted, compilation is not. Everything runs on one core. `cargo xtask peers` makes the
environment, writes the problems and sets BREX_BIN.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Before JAX and numba are imported: one thread, no accelerators.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

CHAINS = 4
MOST_RETURNS = 64
BREX_DRAWS = {"S": 100_000, "M": 64_000, "L": 4_000}


class Problem:
    """Features, and comparisons as pairs of (worse, better) rows."""

    def __init__(self, folder):
        self.folder = folder
        self.features = np.load(folder / "features.npy")
        with open(folder / "preferences.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        if "worse" in rows[0]:
            pairs = [(int(row["worse"]), int(row["better"])) for row in rows]
        else:
            pairs = [
                (int(row["a"]), int(row["b"])) if row["label"] == "b" else (int(row["b"]), int(row["a"]))
                for row in rows
            ]
        self.worse, self.better = np.array(pairs).T

    def weights(self, z):
        """Weights on the sphere from draws of z: chain, draw, feature."""
        z = np.asarray(z, dtype=np.float64)
        return z / np.linalg.norm(z, axis=-1, keepdims=True)

    def quality(self, weights):
        """The smallest bulk ESS and the largest R-hat over weights and returns."""
        import arviz

        rows = len(self.features)
        watched = self.features[:: -(-rows // MOST_RETURNS)]
        quantities = np.concatenate([weights, weights @ watched.T], axis=-1)
        data = arviz.convert_to_dataset({"x": quantities})
        ess = arviz.ess(data, method="bulk")["x"].min()
        return float(ess), float(arviz.rhat(data)["x"].max())


def jax_log_density(problem):
    """log p(z), z standard normal and the weights z / |z|, for JAX."""
    import jax
    import jax.numpy as jnp

    features = jnp.asarray(problem.features)
    worse, better = jnp.asarray(problem.worse), jnp.asarray(problem.better)

    def log_density(z):
        returns = features @ (z / jnp.linalg.norm(z))
        return jax.nn.log_sigmoid(returns[better] - returns[worse]).sum() - 0.5 * z @ z

    return log_density


def cpu_seconds(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def numpyro(problem, options):
    import jax
    from numpyro.infer import NUTS

    log_density = jax_log_density(problem)
    kernel = NUTS(potential_fn=lambda z: -log_density(z))

    # The kernel as MCMC.run drives it; MCMC.run itself would compile at every call.
    def one_chain(key):
        start_key, key = jax.random.split(key)
        start = jax.random.normal(start_key, (problem.features.shape[1],))
        state = kernel.init(key, options.tune, start, model_args=(), model_kwargs={})

        def step(state, _):
            state = kernel.sample(state, (), {})
            return state, state.z

        draws = jax.lax.scan(step, state, length=options.tune + options.draws)[1]
        return draws[options.tune :]

    return jax_chains(one_chain)


def jax_chains(one_chain):
    """Chain after chain, compiled beforehand."""
    import jax

    all_chains = jax.jit(lambda keys: jax.lax.map(one_chain, keys))

    def run(seed):
        keys = jax.random.split(jax.random.key(seed), CHAINS)
        return np.asarray(all_chains(keys).block_until_ready())

    run(0)  # compiles
    return lambda seed: cpu_seconds(lambda: run(seed))


def blackjax(problem, options):
    import blackjax
    import jax

    log_density = jax_log_density(problem)

    def one_chain(key):
        start_key, tune_key, draw_key = jax.random.split(key, 3)
        start = jax.random.normal(start_key, (problem.features.shape[1],))
        adaptation = blackjax.window_adaptation(blackjax.nuts, log_density)
        (state, parameters), _ = adaptation.run(tune_key, start, options.tune)
        kernel = blackjax.nuts(log_density, **parameters)

        def step(state, key):
            state, _ = kernel.step(key, state)
            return state, state.position

        return jax.lax.scan(step, state, jax.random.split(draw_key, options.draws))[1]

    return jax_chains(one_chain)


def nutpie(problem, options):
    import nutpie
    import pymc
    import pytensor.tensor as pt

    with pymc.Model() as model:
        z = pymc.Normal("z", shape=problem.features.shape[1])
        returns = pt.dot(problem.features, z / pt.sqrt((z**2).sum()))
        gaps = returns[problem.better] - returns[problem.worse]
        pymc.Potential("preferences", -pt.softplus(-gaps).sum())
    compiled = nutpie.compile_pymc_model(model)

    def run(seed):
        trace = nutpie.sample(
            compiled,
            chains=CHAINS,
            cores=1,
            tune=options.tune,
            draws=options.draws,
            seed=seed,
            progress_bar=False,
        )
        return trace.posterior["z"].values

    return lambda seed: cpu_seconds(lambda: run(seed))


PEERS = {"numpyro": numpyro, "nutpie": nutpie, "blackjax": blackjax}


def brex(problem, binary, name, seed):
    """(seconds, smallest ESS, largest R-hat) as brex itself reports them, on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            binary, "sample", "--features", problem.folder / "features.npy",
            "--preferences", problem.folder / "preferences.csv",
            "--out", pathlib.Path(folder) / "run", "--log-likelihood", "never",
            "--draws", BREX_DRAWS[name], "--threads", 1, "--seed", seed, "--quiet", "--json",
        ]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    # 3: done, but not converged, which the numbers show.
    if done.returncode not in (0, 3):
        sys.exit(f"brex failed: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    return report["seconds"], report["min_ess_bulk"], report["max_rhat"]


def report(options, problem, name, peer, results):
    """The best run of a peer."""
    seconds, ess, rhat = max(results, key=lambda result: result[1] / result[0])
    line = {
        "problem": name,
        "sampler": peer,
        "runs": len(results),
        "seconds": round(seconds, 4),
        "min_ess": round(ess, 1),
        "max_rhat": round(rhat, 4),
        "min_ess_per_second": float(f"{ess / seconds:.4g}"),
    }
    if options.json:
        print(json.dumps(line), flush=True)
    else:
        note = "" if rhat < 1.01 and ess >= 400 else "  not converged"
        print(
            f"{name}  {peer:<10} {len(results)} runs  {seconds:9.3f} s  min ESS {ess:9.0f}  "
            f"R-hat {rhat:.4f}  {line['min_ess_per_second']:>11,.4g} per second{note}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["S"], metavar="S|M|L", help="problems [S]")
    parser.add_argument("--problems", type=pathlib.Path, required=True, help="folder with S/features.npy and so on")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--runs", type=int, default=3, help="runs of each, after compiling; the best counts [3]")
    parser.add_argument("--tune", type=int, default=500, help="warm-up steps of a peer's chain [500]")
    parser.add_argument("--draws", type=int, default=1000, help="draws of a peer's chain [1000]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    binary = os.environ.get("BREX_BIN")
    for name in options.names:
        problem = Problem(options.problems / name)
        runners = {peer: PEERS[peer](problem, options) for peer in options.peers}
        results = {peer: [] for peer in ["brex", *options.peers]}
        for seed in range(1, options.runs + 1):
            if binary:
                results["brex"].append(brex(problem, binary, name, seed))
            for peer, run in runners.items():
                z, seconds = run(seed)
                results[peer].append((seconds, *problem.quality(problem.weights(z))))
        for peer, found in results.items():
            if found:
                report(options, problem, name, peer, found)


if __name__ == "__main__":
    main()
