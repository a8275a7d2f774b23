"""Tables that commands read and write again: results and metrics of runs. What is damaged stays as it is."""

import os
from pathlib import Path

import pytest
from hostility import CASES, TEXT, assert_sentence, case, command, fuzz, mutated, refused
from hypothesis import given
from hypothesis import strategies as st

from implicature.experiments.registry import EXPERIMENTS, SHARED_RESULTS
from implicature.experiments.results import read_results
from implicature.training.runs.metrics import HEADER, MetricsFile, Position

RESULTS = Path(__file__).parents[2] / "results"
NOTHING = "no task is called so"


def head_of(name: str, lines: int) -> bytes:
    return b"".join((RESULTS / name).read_bytes().splitlines(keepends=True)[:lines])


def kept(folder: Path, name: str, content: bytes, *arguments: str) -> int:
    """The exit code. Whatever the command makes of a file of results, it neither changes it nor adds another."""
    path = folder / name
    path.write_bytes(content)
    ended = command(folder, "reproduce", *arguments, "--out", str(folder))
    assert path.read_bytes() == content
    assert [file.name for file in folder.iterdir()] == [name]
    return ended.code


def test_results_with_bytes_changed(tmp_path: Path):
    games = (RESULTS / "ceilings.csv").read_bytes().splitlines(keepends=True)
    content = b"".join([games[0], *(line for line in games if line.startswith(b"numbers-4,"))])
    codes = {case_of("rows", tmp_path, content, "ceilings", "--only", NOTHING)}
    assert codes == {0}
    for number in range(CASES["rows"] // 2):
        codes |= {case_of("rows", tmp_path, mutated(content, number), "ceilings", "--only", NOTHING)}
    assert codes == {0, 2}


def case_of(kind: str, folder: Path, content: bytes, *arguments: str) -> int:
    found: list[int] = []
    assert case(kind, lambda: found.append(kept(folder, "ceilings.csv", content, *arguments))) is None
    return found[0]


@given(
    header=st.lists(
        st.sampled_from(["game", "player", "depth", "accuracy", "hard_accuracy", "seconds"]) | TEXT, max_size=7
    ),
    rows=st.lists(
        st.lists(st.sampled_from(["numbers-4", "no-clash", "share β=10", "0", "nan"]) | TEXT, max_size=7), max_size=3
    ),
)
@fuzz("plans")
def test_results_of_any_cells(tmp_path: Path, header: list[str], rows: list[list[str]]):
    text = "\n".join(",".join(row) for row in [["game", *header], *rows])
    case_of("plans", tmp_path, text.encode("utf-8", "replace"), "ceilings", "--plan", "3")


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_results_of_another_experiment_are_refused_and_kept(tmp_path: Path, experiment: str):
    """They have the columns that identify tasks, but no figures."""
    key = "setting,split,seed,game,phase,candidates,targets,cache,target_accuracy,level"
    row = "exchange, grounded, numbers-4".join('""') + ",0,0,numbers-4,3,x,y,cold,z,1"
    path = tmp_path / f"{SHARED_RESULTS.get(experiment, experiment)}.csv"
    path.write_text(f"{key}\n{row}\n")
    ended = command(tmp_path, "reproduce", experiment, "--only", NOTHING, "--out", str(tmp_path))
    assert path.read_text() == f"{key}\n{row}\n"
    assert ended.code in (0, 2)


def test_results_with_cells_exchanged(tmp_path: Path):
    """Every cell of a result of pairs in turn holds something else."""
    header, first, *_ = head_of("pairs.csv", 2).decode().splitlines()
    (tmp_path / "one.csv").write_text(f"{header}\n{first}\n")
    (row,) = read_results(tmp_path / "one.csv")
    (tmp_path / "one.csv").unlink()
    number = CASES["rows"] // 2 // len(row) + 1
    for name in row:
        for other in ["", "nan", "-1", "1e999", "[/red]", "|", "9" * 30][:number]:
            cells = ['"' + (other if column == name else cell) + '"' for column, cell in row.items()]
            content = "\n".join([header, ",".join(cells), ""]).encode()
            assert (
                case("rows", lambda content=content: kept(tmp_path, "pairs.csv", content, "table-1", "--only", NOTHING))
                is None
            )


def test_what_is_no_file_of_results(tmp_path: Path):
    path = tmp_path / "ceilings.csv"
    ask = ["reproduce", "ceilings", "--only", NOTHING, "--out", str(tmp_path)]
    path.mkdir()
    assert "This is a folder" in refused(tmp_path, *ask)
    path.rmdir()
    os.mkfifo(path)
    assert "a pipe or a device" in refused(tmp_path, *ask)
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "a pipe or a device" in refused(tmp_path, *ask)


def test_metrics_with_bytes_changed(tmp_path: Path):
    metrics = MetricsFile(tmp_path / "metrics.csv", pairs=2)
    for stage in range(4):
        metrics.append(
            Position(stage, stage // 2, "student", 250), {"reward": [0.5, 0.25], "q_loss": [1e-7, float("nan")]}, 1.5
        )
    content = metrics.path.read_bytes()
    assert len(metrics.lines()) == 8
    assert metrics.seconds() == 1.5
    for number in range(CASES["metrics"]):
        metrics.path.write_bytes(mutated(content, number))
        before = metrics.path.read_bytes()
        sentence = case("metrics", lambda: metrics.truncate(2, 100))
        if sentence is None:
            assert all((line.position.stage, line.position.iteration) <= (2, 100) for line in metrics.lines())
            assert metrics.path.read_text().startswith(",".join(HEADER))
        else:
            assert_sentence(sentence)
            assert metrics.path.read_bytes() == before
