"""What a training leaves, as others read it."""

import csv

import pytest
from safetensors import safe_open
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


@pytest.fixture(scope="module")
def training(brex, tmp_path_factory):
    out = tmp_path_factory.mktemp("training") / "out"
    words = "train pocket:breakout --steps 4096 --environments 8 --horizon 32 --quiet --out"
    brex(*words.split(), out)
    return out


def test_tensorboard_reads_the_curve(training):
    events = EventAccumulator(str(training / "tensorboard"))
    events.Reload()
    rows = list(csv.DictReader((training / "curve.csv").open()))
    assert len(rows) == 16
    names = {"losses/policy": "policy_loss", "losses/entropy": "entropy", "charts/score": "score"}
    assert set(names) <= set(events.Tags()["scalars"])
    for name, column in names.items():
        there = {event.step: event.value for event in events.Scalars(name)}
        here = {int(row["steps"]): float(row[column]) for row in rows if row[column]}
        assert there.keys() == here.keys() and here
        for step, value in here.items():
            assert there[step] == pytest.approx(value, rel=1e-6)


def test_safetensors_reads_the_policy(training):
    with safe_open(training / "policies/000016.safetensors", framework="numpy") as file:
        assert '"environment":"pocket:breakout"' in file.metadata()["brex"]
        shapes = {name: file.get_tensor(name).shape for name in file.keys()}
    assert shapes["convolutions.0.weight"] == (16, 4, 4, 4)
    assert shapes["policy.weight"] == (256, 4)
