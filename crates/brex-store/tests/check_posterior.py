"""Opens what examples/write_posterior.rs wrote with xarray and ArviZ, warnings being errors.

    cargo run -p brex-store --example write_posterior -- /tmp/out
    python crates/brex-store/tests/check_posterior.py /tmp/out/posterior.zarr

Needs numpy, xarray, zarr and arviz; any arviz from 1.0 has from_zarr.
"""

import sys
import warnings

import numpy as np
import xarray as xr


def check(tree):
    posterior = tree["posterior"]
    w = posterior["w"]
    assert w.dims == ("chain", "draw", "feature"), w.dims
    assert w.shape == (4, 250, 3) and w.dtype == np.float64
    chain, draw, feature = np.meshgrid(range(4), range(250), range(3), indexing="ij")
    assert (w.values == 10000 * chain + 10 * draw + feature).all()
    for name, size in [("chain", 4), ("draw", 250), ("feature", 3)]:
        coordinate = posterior.coords[name]
        assert coordinate.dtype == np.int64 and (coordinate.values == np.arange(size)).all()
    assert posterior.attrs["inference_library"] == "brex"
    assert posterior.attrs["sampler"] == "hmc" and "created_at" not in posterior.attrs

    stats = tree["sample_stats"]
    count = np.arange(1000).reshape(4, 250)
    assert stats["lp"].dims == ("chain", "draw") and (stats["lp"].values == -0.5 * count).all()
    assert stats["diverging"].dtype == bool and (stats["diverging"].values == (count == 7)).all()
    assert stats["n_steps"].dtype == np.int64 and (stats["n_steps"].values == count).all()

    label = tree["log_likelihood"]["preference_label"]
    assert label.dims == ("chain", "draw", "preference") and label.dtype == np.float32
    expected = -(np.arange(250)[:, None] + np.arange(5) / 8)
    assert (label.values == expected).all()
    assert (tree["log_likelihood"].coords["preference"].values == np.arange(5)).all()


def main():
    path = sys.argv[1]
    warnings.simplefilter("error")
    check(xr.open_datatree(path, engine="zarr"))
    check(xr.open_datatree(path, engine="zarr", consolidated=True))
    with xr.open_dataset(path, group="posterior", engine="zarr") as dataset:
        assert dataset["w"].shape == (4, 250, 3)
    print("xarray", xr.__version__, "reads it")
    # Other packages may warn while they are imported.
    warnings.simplefilter("ignore")
    try:
        import arviz
    except ImportError:
        print("arviz is not installed")
        return
    warnings.simplefilter("error")
    if int(arviz.__version__.split(".")[0]) >= 1:
        check(arviz.from_zarr(path))
        print("arviz", arviz.__version__, "reads it")
    else:
        print("arviz", arviz.__version__, "is too old to read Zarr version 3")


main()
