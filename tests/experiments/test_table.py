"""A table is data, and the same in Markdown, in HTML and on a terminal."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from implicature.experiments.results import mean_and_std, read_results, write_results
from implicature.experiments.table import MISSING, Comparison, MeanStd, Number, Row, Table

TABLE = Table(
    "table-1",
    ["numbers-4", "numbers-7", "note"],
    [
        Row("ours", [Comparison(MeanStd(99.92, 0.01), 98.9), MISSING, "1/|o|"], "hard", "ours"),
        Row("theirs", [Comparison(MeanStd(71.62, 0.62), 79.3), MeanStd(1.25, 0.5), "<b>&"], "hard", "baseline"),
        Row("exact", [Number(99.785, 1), Number(0.5, 3, signed=True, note="(n = 6)"), ""], "easy", "exact"),
    ],
)


def test_markdown_has_a_line_for_each_row_with_its_group_before_the_label():
    assert TABLE.to_markdown().splitlines() == [
        "| table-1 | numbers-4 | numbers-7 | note |",
        "|---|---|---|---|",
        "| hard: ours | 99.92 ± 0.01 ▲ (98.9) | – | 1/\\|o\\| |",
        "| hard: theirs | 71.62 ± 0.62 ▽ (79.3) | 1.25 ± 0.50 | <b>& |",
        "| easy: exact | 99.8 | +0.500 (n = 6) |  |",
    ]


def test_html_marks_what_reaches_the_papers_mean_and_names_each_group_once():
    html = TABLE.to_html()
    assert re.findall(r'rowgroup">(\w+)<', html) == ["hard", "easy"]
    assert re.findall(r'scope="row">(\w+)<', html) == ["ours", "theirs", "exact"]
    assert '<td class="win"><b>99.92</b> <small>± 0.01</small>' in html
    assert '<td class="miss"><b>71.62</b>' in html
    assert "paper 79.3" in html
    assert "<td><b>1.25</b> <small>± 0.50</small></td>" in html
    # The last column has no number, so it is set as text, and nothing in it is taken for a tag.
    assert '<td class="text">&lt;b&gt;&amp;</td>' in html
    assert '<th scope="col">numbers-4</th>' in html


def test_a_terminal_shows_the_same_cells():
    out = io.StringIO()
    Console(width=120, file=out).print(TABLE.to_rich())
    for text in ("hard: ours", "99.92 ± 0.01 ▲ (98.9)", "1/|o|", "+0.500 (n = 6)"):
        assert text in out.getvalue()


@pytest.mark.parametrize(("mean", "reached"), [(98.84, False), (98.86, True), (98.9, True), (99.0, True)])
def test_means_are_compared_to_one_decimal_as_the_paper_prints_them(mean: float, reached: bool):
    assert Comparison(MeanStd(mean, 0.0), 98.9).at_least is reached


def test_every_row_has_a_cell_for_each_column():
    with pytest.raises(ValueError, match="'hard: a' has 1 cells for 2 columns"):
        Table("t", ["x", "y"], [Row("a", ["1"], "hard")])


def test_mean_and_std_are_those_of_the_results_that_have_the_figure():
    # Of 1 and 4: mean 2.5, standard deviation 1.5.
    assert mean_and_std([{"a": "1"}, {"a": ""}, {"a": 4}], "a") == MeanStd(2.5, 1.5)
    assert mean_and_std([{"a": ""}], "a") is MISSING


def test_results_replace_the_file_at_once_or_not_at_all(tmp_path: Path):
    path = tmp_path / "new folder" / "results.csv"
    assert read_results(path) == []
    write_results(path, [{"game": "numbers-4", "accuracy": 1}])
    write_results(path, [{"game": "objects, 4", "accuracy": 2}])
    assert path.read_text(encoding="utf-8") == 'game,accuracy\n"objects, 4",2\n'
    assert read_results(path) == [{"game": "objects, 4", "accuracy": "2"}]
    with pytest.raises(ValueError, match="surrogates not allowed"):
        write_results(path, [{"game": "numbers-4", "accuracy": 3}, {"game": "\ud800", "accuracy": 3}])
    assert path.read_text(encoding="utf-8") == 'game,accuracy\n"objects, 4",2\n'
    # A result of a later version has another column: nothing of either is lost.
    write_results(path, [{"game": "numbers-7", "accuracy": 4}, {"game": "objects-4", "valid": 5}])
    assert path.read_text(encoding="utf-8") == "game,accuracy,valid\nnumbers-7,4,\nobjects-4,,5\n"
    assert [file.name for file in path.parent.iterdir()] == ["results.csv"]
