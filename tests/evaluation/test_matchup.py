"""Any two players in one matchup: runs, exact players and custom agents; their dialogues are measured and exported."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Trained
from safetensors.numpy import load_file

from implicature.cli.main import main

AGENTS = """
import numpy as np

def teacher(observation):
    return np.where(observation.candidates[observation.target] > 0, -observation.candidates.sum(axis=0), -np.inf)

class Student:
    def __call__(self, observation):
        received = observation.messages[observation.messages >= 0]
        candidates = observation.candidates
        return candidates[:, received].prod(axis=1) / candidates.sum(axis=1) + 1e-6, 0.0

number = 3

def short(observation):
    return [1, 2]

def broken(observation):
    raise KeyError("colour")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of agents, to run commands in."""
    (tmp_path / "agents_for_tests.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "agents_for_tests", raising=False)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", ["implicature", *(str(argument) for argument in arguments)])
    main()
    return capsys.readouterr().out


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda *arguments: run(monkeypatch, capsys, *arguments)


CUSTOM = ("--teacher", "agents_for_tests:teacher", "--student", "agents_for_tests:Student", "--games", "500")


def test_literal_agents_of_ones_own_play_about_as_the_literal_pair(here: Path, ask: Any):
    custom = json.loads(ask("evaluate", *CUSTOM, "--json"))
    literal = json.loads(ask("evaluate", "--teacher", "literal", "--student", "literal", "--games", 500, "--json"))
    assert custom["valid"] == literal["valid"] == 1
    assert custom["by_level"]["0"]["accuracy"] == literal["by_level"]["0"]["accuracy"] == 1
    assert abs(custom["accuracy"] - literal["accuracy"]) < 0.05


@pytest.mark.slow
def test_a_run_plays_with_anybody_and_with_itself(here: Path, ask: Any, whole_run: Trained):
    folder = whole_run.folder
    own = json.loads(ask("evaluate", folder, "--games", 500, "--json"))
    both = json.loads(ask("evaluate", "--teacher", folder, "--student", f"{folder}:0", "--games", 500, "--json"))
    assert both == own
    mixed = ask("evaluate", folder, "--teacher", "agents_for_tests:teacher", "--games", 500)
    assert "agents_for_tests:teacher teaches" in mixed.replace("\n", " ")
    taught = json.loads(ask("evaluate", folder, "--student", "exact", "--games", 500, "--json"))
    assert 0.25 < taught["accuracy"] <= 1
    assert taught != own


@pytest.mark.slow
def test_pairs_of_two_runs_play_one_by_one(here: Path, ask: Any, whole_run: Trained, two_pairs: Path):
    crossed = json.loads(
        ask("evaluate", "--teacher", whole_run.folder, "--student", two_pairs, "--games", 200, "--json")
    )
    assert crossed["pairs"] == 2
    alone = json.loads(
        ask("evaluate", "--teacher", whole_run.folder, "--student", f"{two_pairs}:1", "--games", 200, "--json")
    )
    assert alone == crossed["each"][1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Who is the teacher? Name a run, or say it with --teacher."),
        (["--teacher", "exact"], "Who is the student?"),
        (["--teacher", "exact", "--student", "nowhere"], "nowhere is not a run"),
        (["--teacher", "nowhere:agent", "--student", "exact"], "nowhere:agent cannot be imported (ModuleNotFoundError"),
        (["--teacher", "agents_for_tests:nobody", "--student", "exact"], "cannot be imported (AttributeError"),
        (["--teacher", "agents_for_tests:number", "--student", "exact"], "agents_for_tests:number is not a function"),
        (
            ["--teacher", "agents_for_tests:short", "--student", "exact"],
            "gave values of shape (2,): a teacher gives one",
        ),
        (
            ["--teacher", "agents_for_tests:broken", "--student", "exact"],
            "stopped with KeyError: 'colour' (agents_",
        ),
        (["--teacher", "exact", "--student", "exact", "--games", "2"], "2 games are too few"),
    ],
)
def test_who_cannot_play_is_refused_in_one_sentence(
    here: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, capsys, "evaluate", "--games", "20", *arguments)
    said = capsys.readouterr()
    assert end.value.code == 2
    assert said.out == ""
    assert sentence in said.err
    assert "Traceback" not in said.err


def test_language_is_shown_as_a_table_and_as_json(here: Path, ask: Any, two_pairs: Path):
    figures = json.loads(ask("language", two_pairs, "--games", 200, "--json"))
    assert figures["pairs"] == 2
    assert np.isclose(figures["purity"], np.mean([one["purity"] for one in figures["each"]]))
    assert "causal influence of a message" in ask("language", two_pairs, "--games", 200)


# Export


def export(ask: Any, name: str, rounds: int = 2) -> str:
    return ask("export", "--teacher", "exact", "--student", "exact", "--games", 50, "--rounds", rounds, "--out", name)


def test_a_tidy_table_has_a_row_for_each_round_as_csv_and_as_parquet(here: Path, ask: Any):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(ask, "d.csv") == "50 games in d.csv\n"
    export(ask, "d.parquet")
    rows = list(csv.DictReader(Path("d.csv").read_text(encoding="utf-8").splitlines()))
    assert parquet.read_table("d.parquet").to_pylist()[3]["message"] == rows[3]["message"]
    assert parquet.read_table("d.parquet").num_rows == len(rows) > 50
    assert {row["game"] for row in rows} == {str(i) for i in range(1, 51)}
    for row in rows:
        # She says what is true of the target; whom he picks is the candidate that he believes in most.
        assert row["message"] in row["target"]
        assert row["target"] == row[f"candidate_{row['target_position']}"]
        beliefs = [float(row[f"belief_{i}"]) for i in range(1, 5)]
        assert abs(sum(beliefs) - 1) < 1e-4
        picked = row[f"candidate_{1 + int(np.argmax(beliefs))}"]
        assert row["action"] in (picked, "wait")
        assert float(row["reward"]) == (row["action"] == row["target"]) == int(row["success"])


def test_eggs_layouts_hold_the_same_games(here: Path, ask: Any):
    export(ask, "d.safetensors")
    export(ask, "d.txt")
    read = load_file("d.safetensors")
    # The fields of egg.core.Interaction.
    assert {name for name in read if "/" not in name} == {
        "sender_input", "receiver_input", "labels", "message", "receiver_output", "message_length",
    }  # fmt: skip
    rows = np.arange(50)
    # The target is where the receiver's label says; the message is true of it, and 0 ends it.
    assert np.array_equal(read["receiver_input"][rows, read["labels"]], read["sender_input"])
    assert read["sender_input"][rows, read["message"][:, 0] - 1].all()
    assert (read["message"][rows, read["message_length"] - 1] == 0).all()
    assert set(read["message_length"].tolist()) == {2, 3}
    assert np.array_equal(read["aux/acc"], read["receiver_output"].argmax(axis=1) == read["labels"])
    for line, sender, message, length, label in zip(
        Path("d.txt").read_text().splitlines(),
        *(read[name] for name in ("sender_input", "message", "message_length", "labels")),
        strict=True,
    ):
        # As EGG's external game prints it, and takes its input from.
        seen, said, answer, right = line.split(";")
        assert [float(x) for x in seen.split()] == sender.tolist()
        assert [int(x) for x in said.split()] == message[:length].tolist()
        assert int(right) == label
        assert 0 <= int(answer) < 4


@pytest.mark.parametrize(("out", "sentence"), [("d.xls", "not as 'd.xls'"), ("no/d.csv", "name a file in a folder")])
def test_what_cannot_be_written_is_refused_before_anything_is_played(
    here: Path, out: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, capsys, "export", "--teacher", "nobody", "--student", "nobody", "--out", out)
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err


def test_a_result_of_custom_agents_is_shown_below_the_papers_table(here: Path, ask: Any):
    ask("evaluate", *CUSTOM, "--row", here / "results" / "external.csv", "--json")
    pairs = Path(__file__).parents[2] / "results" / "pairs.csv"
    (here / "results" / "pairs.csv").write_bytes(pairs.read_bytes())
    shown = ask("reproduce", "table-1", "--only", "exchange, ungrounded, numbers-4 10 ")
    with (here / "results" / "external.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["game"], row["valid"], row["games"]) == ("numbers-4", "100.0", "500")
    assert "external agents" in shown
    assert f"{float(row['accuracy']):.2f}" in shown[shown.index("external agents") :]
