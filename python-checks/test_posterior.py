"""posterior.zarr is what ArviZ and xarray expect, and their diagnostics agree with ours."""

import json

import arviz as az
import numpy as np
import pytest
import xarray as xr
import zarr


def group(run, name):
    return xr.open_zarr(run.folder / "posterior.zarr", group=name, consolidated=False)


def test_xarray_opens_every_group(run, problem):
    weights = group(run, "posterior")["w"]
    assert weights.dims[:2] == ("chain", "draw")
    assert weights.shape == (8, 1000, 64)
    assert np.allclose(np.linalg.norm(weights, axis=2), 1, atol=1e-5)
    stats = group(run, "sample_stats")
    assert stats["diverging"].dtype == bool
    assert stats["lp"].shape == (8, 1000)
    assert ((0 <= stats["acceptance_rate"]) & (stats["acceptance_rate"] <= 1)).all()
    each = group(run, "log_likelihood")
    (name,) = each.data_vars
    assert each[name].shape == (8, 1000, len(problem.pairs))


def test_log_likelihoods_are_those_of_the_model(run, problem):
    weights = group(run, "posterior")["w"].values
    returns = weights @ problem.features.T
    worse, better = np.array(problem.pairs).T
    gap = returns[..., better] - returns[..., worse]
    expected = -np.logaddexp(0, -gap)
    each = group(run, "log_likelihood")
    (name,) = each.data_vars
    assert np.allclose(each[name], expected, rtol=1e-4, atol=1e-4)
    stats = group(run, "sample_stats")
    assert np.allclose(stats["lp"], expected.sum(axis=2), rtol=1e-4, atol=1e-3)


def test_arviz_opens_it(run):
    tree = xr.open_datatree(run.folder / "posterior.zarr", engine="zarr", consolidated=False)
    data = az.InferenceData.from_datatree(tree)
    assert data.posterior["w"].shape == (8, 1000, 64)
    summary = az.summary(data, var_names=["w"])
    assert len(summary) == 64
    assert float(data.sample_stats["diverging"].sum()) == run.report["divergences"]


def test_rhat_and_ess_agree_with_arviz(run, problem):
    """The worst over all weights and all returns of trajectories, and those of the likelihood."""
    weights = group(run, "posterior")["w"].values
    returns = weights @ problem.features.T
    data = az.from_dict({"x": np.concatenate([weights, returns], axis=2)})
    likelihood = group(run, "sample_stats")["log_likelihood"].values
    worst = lambda result, by: float(by(result["x"].values))
    delta = run.report["delta"]
    checks = {
        "max_rhat": worst(az.rhat(data), np.max),
        "min_ess_bulk": worst(az.ess(data, method="bulk"), np.min),
        "min_ess_tail": worst(az.ess(data, method="tail"), np.min),
        "min_ess_quantile": worst(az.ess(data, method="quantile", prob=delta), np.min),
        "log_likelihood_rhat": float(az.rhat(likelihood)),
        "log_likelihood_ess_bulk": float(az.ess(likelihood, method="bulk")),
    }
    for name, expected in checks.items():
        assert run.report[name] == pytest.approx(expected, rel=0.01), name


def test_attributes_tell_how_it_was_made(run):
    attributes = zarr.open_group(run.folder / "posterior.zarr", mode="r")["posterior"].attrs
    assert attributes["sampler"] == "hmc"
    assert attributes["prior"] == "sphere"
    assert attributes["seed"] == 0


def test_export_gives_all_chains_in_order(brex, run, tmp_path):
    brex("export", "--posterior", run.folder, "--draws", tmp_path / "draws.npy")
    draws = np.load(tmp_path / "draws.npy")
    weights = group(run, "posterior")["w"].values
    assert draws.dtype == np.float64
    assert np.array_equal(draws, weights.reshape(-1, 64))


def test_bounds_are_those_of_the_definition(brex, run, tmp_path):
    rng = np.random.default_rng(0)
    phi = {name: 30 * rng.standard_normal(64) for name in "ABC"}
    policies = {name: {"phi": list(vector)} for name, vector in phi.items()}
    (tmp_path / "policies.json").write_text(json.dumps(policies))
    words = ["--posterior", run.folder, "--policies", tmp_path / "policies.json"]
    found = json.loads(brex("evaluate", *words, "--delta", 0.05, "--json"))
    draws = group(run, "posterior")["w"].values.reshape(-1, 64)
    for entry in found:
        returns = np.sort(draws @ phi[entry["policy"]])
        assert entry["mean"] == pytest.approx(returns.mean(), abs=1e-9)
        assert entry["sd"] == pytest.approx(returns.std(ddof=1), rel=1e-9)
        assert entry["var"] == pytest.approx(returns[int(0.05 * len(returns))], abs=1e-9)
    bounds = [entry["var"] for entry in found]
    assert bounds == sorted(bounds, reverse=True)
