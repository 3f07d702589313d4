"""Files that Python libraries write are read, whatever the format, to the same posterior."""

import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy as st


def npy(folder, features):
    np.save(folder / "f.npy", features)
    return folder / "f.npy"


def npy_fortran(folder, features):
    np.save(folder / "f.npy", np.asfortranarray(features))
    return folder / "f.npy"


def npy_big_endian(folder, features):
    np.save(folder / "f.npy", features.astype(">f8"))
    return folder / "f.npy"


def npz(folder, features):
    np.savez(folder / "f.npz", features=features)
    return folder / "f.npz"


def npz_compressed(folder, features):
    np.savez_compressed(folder / "f.npz", features=features)
    return folder / "f.npz"


def safetensors(folder, features):
    st.save_file({"features": features}, folder / "f.safetensors")
    return folder / "f.safetensors"


def parquet(folder, features):
    table = pa.table({f"f{j:03}": features[:, j] for j in range(features.shape[1])})
    pq.write_table(table, folder / "f.parquet")
    return folder / "f.parquet"


def parquet_list(folder, features):
    table = pa.table({"phi": pa.array(list(features), type=pa.list_(pa.float64()))})
    pq.write_table(table, folder / "f.parquet", compression="zstd")
    return folder / "f.parquet"


def csv(folder, features):
    np.savetxt(folder / "f.csv", features, delimiter=",", fmt="%.17g")
    return folder / "f.csv"


WRITERS = [
    npy, npy_fortran, npy_big_endian, npz, npz_compressed,
    safetensors, parquet, parquet_list, csv,
]  # fmt: skip


def contents(folder: pathlib.Path):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "run.toml"
    }


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_every_format_gives_the_same_posterior(brex, problem, tmp_path, writer):
    features, preferences = problem.write(tmp_path)
    other = writer(tmp_path, problem.features)
    for file, out in ((features, "expected"), (other, "found")):
        words = ["--features", file, "--preferences", preferences, "--out", tmp_path / out]
        # Until converged: how many draws that takes depends on the processor's rounding.
        brex("sample", *words, "--quiet")
    assert contents(tmp_path / "found") == contents(tmp_path / "expected")


def test_single_precision_is_read(brex, problem, tmp_path):
    _, preferences = problem.write(tmp_path)
    small = problem.features.astype(np.float32)
    reports = []
    for file in (npy(tmp_path, small), safetensors(tmp_path, small), parquet(tmp_path, small)):
        words = ["--features", file, "--preferences", preferences, "--json"]
        reports.append(json.loads(brex("check", *words)))
    assert reports[0]["features"] == 64
    assert reports[0] == reports[1] == reports[2]


def test_ids_and_lengths_come_along(brex, tmp_path):
    ids = ["worst", "middle", "best"]
    table = pa.table({"id": ids, "length": [10, 20, 30], "x": [0.0, 1.0, 2.0], "y": [1.0, 0.5, 2.0]})
    pq.write_table(table, tmp_path / "f.parquet")
    lines = [json.dumps({"rejected": a, "chosen": b}) for a, b in zip(ids, ids[1:])]
    (tmp_path / "p.jsonl").write_text("\n".join(lines) + "\n")
    words = ["--features", tmp_path / "f.parquet", "--preferences", tmp_path / "p.jsonl"]
    report = json.loads(brex("check", *words, "--json"))
    assert report["features"] == 2
    assert report["lowest_ranked"] == "worst"


def test_policies_from_any_matrix_file(brex, run, tmp_path):
    phi = 20 * np.random.default_rng(1).standard_normal((3, 64))
    policies = {str(row): {"phi": list(vector)} for row, vector in enumerate(phi)}
    (tmp_path / "p.json").write_text(json.dumps(policies))
    expected = json.loads(
        brex("evaluate", "--posterior", run.folder, "--policies", tmp_path / "p.json", "--json")
    )
    for file in (npy(tmp_path, phi), safetensors(tmp_path, phi), parquet(tmp_path, phi)):
        found = json.loads(brex("evaluate", "--posterior", run.folder, "--policies", file, "--json"))
        assert found == expected


def test_draws_that_others_made(brex, tmp_path):
    rng = np.random.default_rng(2)
    draws = rng.standard_normal((4, 2000, 3))
    np.save(tmp_path / "chains.npy", draws)
    np.save(tmp_path / "flat.npy", draws.reshape(-1, 3))
    (tmp_path / "p.json").write_text(json.dumps({"A": {"phi": [1, 2, 3]}}))
    for name, file in (("chains", "chains.npy"), ("flat", "flat.npy")):
        words = ["--posterior", tmp_path / file, "--policies", tmp_path / "p.json", "--json"]
        (entry,) = json.loads(brex("evaluate", *words))
        returns = np.sort(draws.reshape(-1, 3) @ [1, 2, 3])
        assert entry["var"] == pytest.approx(returns[400], abs=1e-9), name
        assert entry["converged"], name
