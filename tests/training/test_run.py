"""A run ends the same however often it is stopped, and says in one sentence what it cannot do."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from implicature.cli.main import main
from implicature.evaluation.held_out import held_out_games
from implicature.spaces import number_sets
from implicature.training.config import Config
from implicature.training.resolve import resolve
from implicature.training.runs.run import Run, open_run, read_config, start_run
from implicature.training.stages import stages
from implicature.training.task import make_task

COMMAND = str(Path(sys.executable).with_name("implicature"))
PATIENCE = 300


def rows(folder: Path) -> list[str]:
    path = folder / "metrics.csv"
    return path.read_text().splitlines()[1:] if path.exists() else []


def metrics(folder: Path) -> list[str]:
    """All but the last column, the seconds."""
    return [line.rsplit(",", 1)[0] for line in (folder / "metrics.csv").read_text().splitlines()]


def weights(folder: Path) -> dict[str, np.ndarray]:
    """All weights, of all phases."""
    files = sorted(folder.glob("phase-*.safetensors"))
    return {f"{file.stem} {name}": array for file in files for name, array in load_file(file).items()}


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """To the last bit."""
    assert one.keys() == other.keys()
    assert len(one) > 0
    for name, array in one.items():
        assert array.dtype == other[name].dtype
        assert array.tobytes() == other[name].tobytes(), name


def assert_same_run(one: Path, other: Path) -> None:
    assert_same(weights(one), weights(other))
    assert metrics(one) == metrics(other)


def finish(run: Run) -> list[str]:
    """Train to the end; the warnings on the way."""
    warnings: list[str] = []
    for _ in run.train(warnings.append):
        pass
    return warnings


@pytest.fixture
def unfinished(whole_run, tmp_path: Path) -> Path:
    """A run as a kill in its last chunk leaves it: two checkpoints, and no file of the last phase."""
    folder = tmp_path / "run"
    shutil.copytree(whole_run.folder, folder)
    (folder / "phase-1.safetensors").unlink()
    return folder


# Stopped and resumed


@dataclass(frozen=True)
class Stop:
    signal: signal.Signals
    code: int
    output: str


@dataclass(frozen=True)
class Stopped:
    folder: Path
    stops: list[Stop]


def stop(process: subprocess.Popen[str], number: signal.Signals, when: Callable[[], bool]) -> Stop:
    started = time.monotonic()
    while not when():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - started < PATIENCE
        time.sleep(0.002)
    process.send_signal(number)
    _, output = process.communicate(timeout=PATIENCE)
    return Stop(number, process.returncode, output)


@pytest.fixture(scope="module")
def stopped(tiny: list[str], whole_run, tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    """One run: interrupted after its first chunk, killed in the student's half and in the teacher's, then resumed. The
    whole run comes first, so that all programs are compiled."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    moments: list[tuple[signal.Signals, Callable[[], bool]]] = [
        (signal.SIGINT, lambda: len(rows(folder)) >= 1),
        (signal.SIGKILL, lambda: len(rows(folder)) >= 4),
        (signal.SIGKILL, lambda: len(rows(folder)) >= 14),
    ]
    stops: list[Stop] = []
    for number, when in moments:
        arguments = ["train", "--resume", str(folder)] if stops else [*tiny, "--out", str(folder)]
        process = subprocess.Popen(
            [COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        stops.append(stop(process, number, when))
        assert not (folder / "phase-1.safetensors").exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["implicature", "train", "--resume", str(folder), "--quiet"])
        main()
    return Stopped(folder, stops)


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_bit_identical(stopped: Stopped, whole_run):
    kills = [one for one in stopped.stops if one.signal == signal.SIGKILL]
    assert [one.code for one in kills] == [-signal.SIGKILL] * 2
    assert_same_run(stopped.folder, whole_run.folder)


def test_control_c_says_how_to_resume(stopped: Stopped):
    interrupted = stopped.stops[0]
    assert interrupted.signal == signal.SIGINT
    assert interrupted.code == 130
    assert f"implicature train --resume {stopped.folder}\n" in interrupted.output
    assert "Traceback" not in interrupted.output


def test_a_truncated_checkpoint_is_refused_and_training_resumes_from_the_one_before_it(unfinished: Path, whole_run):
    path = unfinished / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    (warning,) = finish(open_run(unfinished))
    assert warning.startswith(f"{path} is not a whole checkpoint")
    assert warning.endswith("Going back to the checkpoint before it.")
    assert "\n" not in warning
    assert_same_run(unfinished, whole_run.folder)


@pytest.mark.slow
def test_without_a_whole_checkpoint_a_run_starts_again(unfinished: Path, whole_run):
    # A kill may also leave a file half written, and lines without a header or without an end.
    for name in ("checkpoint", "previous"):
        path = unfinished / f"{name}.safetensors"
        path.write_bytes(path.read_bytes()[:1000])
    (unfinished / "checkpoint.safetensors.partial").write_bytes(b"half")
    (unfinished / "metrics.csv").write_text("stage,pha")
    assert len(finish(open_run(unfinished))) == 2
    assert_same_run(unfinished, whole_run.folder)


def test_a_line_half_written_is_written_again(unfinished: Path, whole_run):
    path = unfinished / "metrics.csv"
    path.write_text(path.read_text()[:-10])
    assert finish(open_run(unfinished)) == []
    assert_same_run(unfinished, whole_run.folder)


def test_a_kill_between_two_checkpoints_loses_nothing(unfinished: Path, whole_run):
    # The old one is renamed before the new one is written.
    (unfinished / "checkpoint.safetensors").unlink()
    assert finish(open_run(unfinished)) == []
    assert_same_run(unfinished, whole_run.folder)


def test_resuming_a_finished_run_changes_nothing(whole_run, tmp_path: Path, monkeypatch, capsys):
    folder = tmp_path / "run"
    shutil.copytree(whole_run.folder, folder)

    def files() -> dict[Path, tuple[bytes, int]]:
        return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}

    before = files()
    monkeypatch.setattr(sys, "argv", ["implicature", "train", "--resume", str(folder)])
    main()
    assert files() == before
    # The summary is printed again.
    assert capsys.readouterr().out == whole_run.said.replace(str(whole_run.folder), str(folder))


def test_a_finished_run_whose_last_phase_is_damaged_is_repaired(whole_run, tmp_path: Path):
    folder = tmp_path / "run"
    shutil.copytree(whole_run.folder, folder)
    path = folder / "phase-1.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    warnings = finish(open_run(folder))
    assert len(warnings) == 1
    assert "Training its last part again." in warnings[0]
    assert_same_run(folder, whole_run.folder)


# Seeds


@pytest.mark.slow
def test_the_same_config_gives_the_same_pair_in_another_process(whole_run, tmp_path: Path):
    assert finish(start_run(tmp_path / "again", read_config(whole_run.folder))) == []
    assert_same_run(tmp_path / "again", whole_run.folder)


@pytest.mark.slow
def test_two_pairs_differ_and_each_is_that_of_its_own_seed(two_pairs: Path, whole_run, tmp_path: Path):
    config = read_config(whole_run.folder)
    finish(start_run(tmp_path / "second", config.replace(seed=config.optimiser.seed + 1, phases=0)))
    both, first, second = weights(two_pairs), weights(whole_run.folder), weights(tmp_path / "second")
    assert both.keys() == second.keys()
    assert {name.split()[0] for name in both} == {"phase-0"}
    for name, array in both.items():
        assert array.shape == (2, *first[name].shape[1:])
        assert np.allclose(array[0], first[name][0], atol=1e-4), name
        assert np.allclose(array[1], second[name][0], atol=1e-4), name
    assert any(not np.allclose(array[0], array[1], atol=1e-2) for array in both.values())
    # Lines of both pairs take turns.
    assert [line.split(",")[4] for line in rows(two_pairs)] == ["0", "1"] * 2


# What a run is


def test_a_grounded_run_is_pretraining_and_two_halves_a_phase():
    def plan(**settings: Any) -> list[tuple[int, str, int]]:
        config = resolve(Config.of(**settings), number_sets(5, 2), candidates=3)
        return [(stage.phase, stage.agent, stage.iterations) for stage in stages(config)]

    # A grounded teacher knows the literal student already, so that he adapts first.
    halves = [(phase, agent, 9) for phase in (1, 2) for agent in ("student", "teacher")]
    assert plan(phases=2, pretraining_iterations=7, iterations=9) == [(0, "student", 7), (0, "teacher", 7), *halves]
    assert [agent for _, agent, _ in plan(phases=1, grounded=False)] == ["teacher", "student"]
    assert [phase for phase, _, _ in plan(phases=2, grounded=False)] == [1, 1, 2, 2]


def test_a_run_folder_has_its_config_and_every_chunk(whole_run):
    config = read_config(whole_run.folder)
    assert config == open_run(whole_run.folder).config
    assert (config.optimiser.iterations, config.grounding.pretraining_iterations) == (2500, 250)
    # Stage and iteration: pretraining in one chunk, each half in ten.
    places = [tuple(map(int, np.array(line.split(","))[[0, 3]])) for line in rows(whole_run.folder)]
    assert places == [(0, 250), (1, 250), *((stage, n) for stage in (2, 3) for n in range(250, 2501, 250))]
    assert {file.name for file in whole_run.folder.glob("phase-*")} == {"phase-0.safetensors", "phase-1.safetensors"}


def test_a_run_is_not_overwritten(whole_run):
    with pytest.raises(ValueError, match="holds a run already: go on with --resume, or choose another --out"):
        start_run(whole_run.folder, Config())


def test_a_run_needs_a_folder(tmp_path: Path):
    (tmp_path / "taken").touch()
    with pytest.raises(ValueError, match="taken cannot be made into a folder"):
        start_run(tmp_path / "taken", Config.of(train_games=2000))


# What cannot be trained

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no candidate sets": ({"candidate_sets": 0}, "--candidate-sets is 0: give a number from 1 to 65,536."),
    "phases -1": ({"phases": -1}, "--phases is -1: give a number from 0 to 1,000."),
    "pretraining -1": (
        {"pretraining_iterations": -1},
        "--pretraining-iterations is -1: give a number from 0 to 1,000,000,000.",
    ),
    "no training games": ({"train_games": 0}, "--train-games is 0: give a number from 1 to 100,000,000."),
    "no layers": ({"layers": 0}, "--layers is 0: the exchange network has 1 or more."),
    "an unknown game": ({"game": "chess"}, "No game is called 'chess': choose one of numbers-4, "),
    "too many candidates": (
        {"candidates": 400},
        "400 candidates, but this space has only 385 instances: ask for 385 or",
    ),
    "one candidate": ({"candidates": 1}, "1 candidates leave nothing to guess: ask for 2 or more."),
    "no candidates": ({"candidates": 0}, "0 candidates leave nothing to guess: ask for 2 or more."),
    "message cost 2": ({"message_cost": 2.0}, "A message cost of 2.0 is not in [0, 1): a right answer is worth 1."),
    "no rounds": ({"rounds": 0}, "A game of 0 rounds has no message: ask for 1 or more."),
    "no instances": ({"train_instance_fraction": 0.0}, "--train-instance-fraction is 0.0: give a number above 0 to 1."),
    "too few unseen": ({"train_instance_fraction": 0.995}, "4 candidates, but only 2 instances to draw them from: "),
    "learning rate nan": ({"learning_rate": float("nan")}, "--learning-rate is nan: give a number above 0 to 0.999."),
    "weight decay -1": ({"weight_decay": -1.0}, "--weight-decay is -1.0: give a number from 0 to 10."),
    "lapse rate 2": ({"lapse_rate": 2.0}, "--lapse-rate is 2.0: give a number from 0 to 0.999."),
    "gamma nan": ({"gamma": float("nan")}, "--gamma is nan: give a number from 0 to 1."),
    "epsilon 0": ({"epsilon": (0.0, 0.5)}, "--epsilon takes two probabilities from 0.000001 to 1, "),
    "beta nan": ({"beta": float("nan")}, "--beta is nan: give a number from 0 to 10,000."),
    "a seed too large": ({"seed": 2**40}, "--seed is 1,099,511,627,776: give a number from 0 to "),
    "a negative split": ({"split_seed": -1}, "--split-seed is -1: give a number from 0 to "),
}


@pytest.mark.parametrize(("changed", "sentence"), BAD.values(), ids=BAD)
def test_what_cannot_be_trained_is_one_sentence_and_leaves_nothing(changed: dict, sentence: str, tmp_path: Path):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        start_run(tmp_path / "run", Config.of(**changed))
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_a_space_of_ones_own_needs_a_number_of_candidates_and_games_of_every_split(tmp_path: Path):
    path = tmp_path / "space.json"
    path.write_text(json.dumps([[str(i)] for i in range(4)]))
    with pytest.raises(ValueError, match="make a game"):
        make_task(Config.of(space=str(path)))
    # Four instances make one combination of four, which is in one split only.
    with pytest.raises(ValueError, match=r"4 instances make only 1 combinations of 4.*, or .*--whole-class"):
        make_task(Config.of(space=str(path), candidates=4))


def test_a_whole_class_is_trained_and_tested_as_it_is(tmp_path: Path):
    task = make_task(Config.of(space="singletons-3", whole_class=True, train_games=20))
    assert task.rules.candidates == task.config.game.candidates == 4
    for games in (task.data.games, task.validation, held_out_games(task, 20, seed=0)):
        assert np.array_equal(np.sort(games.candidates, axis=1), np.tile(np.arange(4), (len(games.target), 1)))
    with pytest.raises(ValueError, match="takes all 4 instances of singletons-3 as candidates, not 3"):
        make_task(Config.of(space="singletons-3", whole_class=True, candidates=3))
    with pytest.raises(ValueError, match="leaves no instance unseen"):
        make_task(Config.of(space="singletons-3", whole_class=True, train_instance_fraction=0.7))


UNREADABLE = " cannot be read as the config of a run."
CONFIGS: dict[str, tuple[bytes, str]] = {
    "garbage": (b"garbage", UNREADABLE),
    "no text": (b"\xff\xfe", UNREADABLE),
    "a list": (b"[]", UNREADABLE),
    "no config": (b"{}", UNREADABLE),
    "a flat config": (b'{"format": 2, "config": {"iterations": 9}}', UNREADABLE),
    "an unknown setting": (
        b'{"format": 2, "config": {"optimiser": {"speed": 9}}}',
        " has settings that this version does not know: optimiser.speed.",
    ),
    "an unknown network": (
        b'{"format": 2, "config": {"network": {"network": "x"}}}',
        ": --network is 'x': choose one of exchange, deep-sets, or name an object of your own as module:object.",
    ),
    "a setting of another type": (
        b'{"format": 2, "config": {"optimiser": {"candidate_sets": "9"}}}',
        ": --candidate-sets is '9': give a whole number.",
    ),
    "an old setting of another type": (
        b'{"config": {"batch": "9"}}',
        ": --candidate-sets is '9': give a whole number.",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), CONFIGS.values(), ids=CONFIGS)
def test_an_unreadable_config_is_one_sentence(content: bytes, sentence: str, tmp_path: Path):
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        open_run(tmp_path)
    assert str(refused.value) == f"{tmp_path / 'config.json'}{sentence}"


def test_a_folder_without_a_config_is_no_run(tmp_path: Path):
    with pytest.raises(ValueError, match=r"is not a run: it has no config\.json"):
        open_run(tmp_path)
