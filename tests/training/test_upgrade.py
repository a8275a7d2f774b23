"""A run of version 0.1 still opens, and its pair plays as it did."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

from implicature.training.runs.checkpoint import read_notes
from implicature.training.runs.run import open_run, read_config
from implicature.training.runs.upgrade import upgrade_config, upgrade_weight_name
from implicature.training.seeds import accuracies, encode_all

OLD_RUN = Path(__file__).parent / "old_run"
"""The pair that version 0.1 shipped with: before phase 1 and after phase 3, with fewer training games in its config."""


@pytest.mark.slow
def test_an_old_run_opens_and_its_pair_plays_with_its_old_accuracy():
    assert read_notes(OLD_RUN / "phase-3.safetensors")["format"] == "implicature-1"
    run = open_run(OLD_RUN)
    assert run.finished
    task = run.task
    for phase, accuracy in ((0, 0.9265), (3, 0.9995)):  # of version 0.1 on the same 2,000 validation games
        pairs = run.pairs_after(phase)
        features = encode_all(pairs, task.data.observations)
        assert accuracies(pairs, features, task.data, task.validation, task.rules)[0] == pytest.approx(
            accuracy, abs=6e-4
        )


def test_an_old_config_has_its_settings_under_their_new_names():
    config = read_config(OLD_RUN)
    assert (config.optimiser.candidate_sets, config.optimiser.iterations) == (256, 2000)
    assert (config.network.width, config.network.q_hidden, config.network.layers) == (16, 32, 3)
    assert config.grounding.pretraining_iterations == 3000
    assert open_run(OLD_RUN).config.network.freeze_semantics is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"network": "paper", "width": 16, "depth": 2},
            {"network": "deep-sets", "width": 64, "layers": 2, "q_hidden": 32},
        ),
        ({"network": "exchange", "width": 8}, {"width": 8, "q_hidden": 16}),
        ({"method": "la-2017", "width": 8, "beta": None}, {"method": "la-2017", "width": 32, "filters": 8}),
        ({"sight": "cached"}, {"encoder": "frozen"}),
        ({"sight": "end-to-end"}, {"encoder": "finetuned"}),
        ({"sight": "symbols"}, {"encoder": "none"}),
        ({"sight": "auto", "first": "auto"}, {"encoder": None, "first_learner": None}),
        ({"lessons": "beliefs", "answers": "one"}, {"grounding_target": "belief", "credit": "sampled"}),
        ({"lexicon": True}, {"freeze_semantics": None}),
        ({"lexicon": False}, {"freeze_semantics": False}),
        (
            {"instances": 0.7, "split": 3, "pictures": "x"},
            {"train_instance_fraction": 0.7, "split_seed": 3, "images": "x"},
        ),
    ],
)
def test_old_settings_become_new_ones(old: dict[str, Any], new: dict[str, Any]):
    upgraded = upgrade_config(old)
    assert {name: upgraded[name] for name in new} == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".teacher.eyes.fine[0].weight", ".teacher_encoder.fine[0].weight"),
        (".student.eyes.out.bias", ".student_encoder.out.bias"),
        (".teacher.belief.blocks[1][0].weight", ".teacher.net.blocks[1][0].weight"),
        (".teacher.belief.gather.weight", ".teacher.net.readout.weight"),
        (".teacher.belief.out.weight", ".teacher.net.out.weight"),
        (".teacher.belief.encoder.weight", ".teacher.net.encoder.weight"),
        (".student.slope", ".student.wait_slope"),
    ],
)
def test_old_weights_have_new_names(old: str, new: str):
    assert upgrade_weight_name(old) == new


def test_names_of_new_weights_stay_as_they_are():
    folder = Path(__file__).parents[2] / "src" / "implicature" / "training" / "pretrained" / "numbers-4"
    names = load_file(folder / "phase-3.safetensors").keys()
    assert names == {upgrade_weight_name(name) for name in load_file(OLD_RUN / "phase-3.safetensors")}
    assert names == {upgrade_weight_name(name) for name in names}


def test_an_unfinished_old_run_is_not_overwritten(tmp_path: Path):
    shutil.copytree(OLD_RUN, tmp_path / "run")
    (tmp_path / "run" / "phase-3.safetensors").rename(tmp_path / "run" / "checkpoint.safetensors")
    run = open_run(tmp_path / "run")
    with pytest.raises(ValueError, match="is of an earlier version: finish this run with that one, or train another"):
        next(run.train())
    assert (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_a_config_of_a_later_format_is_refused(tmp_path: Path):
    content = json.loads((OLD_RUN / "config.json").read_text())
    assert "format" not in content
    (tmp_path / "config.json").write_text(json.dumps({"format": 3, **content}))
    with pytest.raises(ValueError, match="cannot be read as the config of a run"):
        read_config(tmp_path)
