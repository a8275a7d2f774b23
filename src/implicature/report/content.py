"""The sections of the report, and the small table of README."""

import re
from functools import cache
from importlib.resources import files
from os.path import relpath
from pathlib import Path

import implicature
from implicature.evaluation.human.scores import HALVES
from implicature.experiments.paper.tables import DEPTH_10, NAMES, paper_mean
from implicature.experiments.registry import ALL, Folders, is_figure
from implicature.experiments.table import MISSING, Cell, Comparison, Number, Row, Table
from implicature.games.registry import GAMES
from implicature.report.section import Section
from implicature.report.status import missing_results, provenance, summary

LEGEND = (
    "Percent, mean ± std over runs (3 splits × 2 runs when complete); in brackets the paper's mean. ▲ at least the "
    "paper's, ▽ below it, both to one decimal; – no results so far. Test games share no candidate set with training or "
    "validation games; both agents are greedy."
)
ABOUT: dict[str, tuple[str, str]] = {
    "table-1": (
        "Table 1: random start",
        "Total accuracy, and accuracy on hard games: the tenth of games whose distractors are most similar to the "
        "target. Exact players compute what pairs learn; depth is the number of steps of the recursion, and depth 10 "
        "is its limit, which pairs may exceed; the ceiling is no-clash. The t-test is paired by split and seed; the "
        f"paper reports p < 0.001 in all settings. {LEGEND}",
    ),
    "table-2": (
        "Table 2: grounded start",
        "In equivalent games the student sees renamed candidates and receives the renamed message, so a protocol that "
        "left the grounded word meanings fails there. Valid messages are true of the target.",
    ),
    "table-3": (
        "Table 3: novel targets",
        "Grounded pairs trained with 80 % of the objects; every target is one of the others. Agents see images.",
    ),
    "figure-2": (
        "Figure 2: example games",
        "What the teacher would say of the target (left, her message in red) and what the student then believes, "
        "before the first phase and after each.",
    ),
    "figure-3": (
        "Figure 3: accuracy by level",
        "The level of a target is the number of steps of the recursion after which it is identified with certainty; "
        "none: no number of steps suffices. Each phase should add levels. Percent, mean ± std over runs.",
    ),
    "figure-4": (
        "Figure 4: messages and distractors",
        "Covariance of a message (rows) and the fraction of distractors with an attribute (columns), 58 novel targets "
        "× 100 games; categories are outlined. Blue on the diagonal: a word is avoided where distractors share it.",
    ),
    "cross-play": (
        "Cross-play",
        "Beyond the paper: the teacher of one run with the student of another run of the same setting and split. "
        "Grounded pairs should understand each other; ungrounded protocols should not transfer.",
    ),
    "multi-round": (
        "Games of up to four rounds",
        "Beyond the paper: numbers-7, each message at a cost of 0.1, by the target's positive recursive teaching "
        "dimension (RTD) and level, beside the pair with one message.",
    ),
    "n-candidates": (
        "Other numbers of candidates",
        "Beyond the paper: pairs trained with one number of candidates, and pairs trained with 2 to 12 at once, whose "
        "layers share their weights, play with 2 to 12 candidates and with more or fewer layers.",
    ),
    "own-words": (
        "Words of one's own",
        "Beyond the paper: word costs, graded words, a prior, channel noise and messages of two words. Grounded pairs "
        "beside exact players with the same costs, prior and noise, on the same games. Exact players cannot tell "
        "candidates apart of which the same words are true; a pair that agrees on one word for each may be above them. "
        "The best protocol is the bound for both: no other choice of a true word for each target earns more.",
    ),
    "ladder": (
        "From the paper as written to ours",
        "One choice at a time, each step with those before it; test games after phase 3. F-numbers: the fidelity list.",
    ),
    "feedback": (
        "Less than a belief",
        "What the student returns to the teacher in training: his belief, only his answer, only whether it was right, "
        "or nothing. The divergence is that of her prediction from his belief. Half phases have twice the iterations "
        "where he returns less than a belief.",
    ),
    "teaching": (
        "Learning from a helpful teacher",
        "Linear regression from examples: a student who knows that a helpful teacher chose them learns faster.",
    ),
    "concepts": (
        "Teaching concepts",
        "Beyond the paper: candidates are concepts, messages are labelled examples at a cost of 0.1 each. The mean "
        "number of examples of exact and learned pairs, beside the teaching dimension (TD) and the recursive one "
        "(RTD) of the same targets; accuracy and true examples in percent.",
    ),
    "novices": (
        "Novices",
        "Beyond the paper: a new network that knows no word of numbers-4 learns from a fixed partner, by cross-entropy "
        "on the revealed target. Games until 95 % and accuracy at the end, on held-out games; mean over novices.",
    ),
    "appointment": (
        "The appointment game",
        "Two players look for a slot that is free in both calendars, each knowing its own. In expectation over all "
        "pairs of the 255 calendars; a message costs 0.1.",
    ),
    "strangers": (
        "Strangers",
        "Beyond the paper: partners that have never met, everybody with everybody. Exact players of several depths and "
        "utilities, people's mixture of depths, a noisy one and a liar; in numbers-4 also learned pairs.",
    ),
    "populations": (
        "Populations",
        "Beyond the paper: teachers and students who change partners in every batch, beside as many pairs trained "
        "alone. Who understands whom; then the first pair of each with the suite of strangers, and the games until a "
        "new student finds 95 % of the targets.",
    ),
    "robustness": (
        "Jittered images",
        "Beyond the paper: pairs trained on clean images of the objects, or on eight jittered ones of each, tested on "
        "clean images and on four other jittered ones.",
    ),
    "ablations": (
        "Ablations",
        "Choices that the paper leaves open (F-numbers: the fidelity list), one change at a time. Validation games; "
        "objects-4 where it says so, else numbers-4; at most two runs each.",
    ),
    "baseline-search": (
        "Hyper-parameters of the baselines",
        "Chosen on validation games of split 0, which no table uses; objects as attributes, one run each. The tables "
        "use the best of each game.",
    ),
    "appointment-search": (
        "Hyper-parameters of the appointment game's baseline",
        "The return of REINFORCE with every learning rate and entropy bonus, on split 0, which no table uses; one run "
        "each. The table of the game uses the best for each number of messages.",
    ),
    "time-to-accuracy": (
        "Time to accuracy",
        "Seconds until validation accuracy first reaches the test accuracy of the paper's ungrounded pairs, on an idle "
        "machine. Cold cache: some program had to be compiled.",
    ),
    "pairs": (
        "All pairs",
        "All settings after their last phase, including those beyond the tables (six phases); then "
        "phase by phase beside the exact recursion of the same depth on the same games.",
    ),
    "people": (
        "Players against people",
        "How well each model predicts what people answered in published reference games, the best on held-out people "
        f"first. Log-likelihood a decision in nats, in-sample and held out ({HALVES} random halves of the people: "
        "parameters of one, log-likelihood of the other; mean ± std over halves), k fitted parameters, Pearson's r "
        "over cells, calibration error, AIC, BIC, and fitted rationality and lapse rate (docs/people.md).",
    ),
    "ceilings": (
        "Exact players",
        "No learning: accuracy in percent of students of depth t with the teachers who respond to them. The last rows "
        "of each game are the fraction of targets with a true word of their own (no-clash) and of each level.",
    ),
}


def result_sections(folders: Folders, figures: bool = False, images_from: Path | None = None) -> list[Section]:
    """All results, what is missing, and where they come from. Figures are drawn, or linked from a folder."""
    if not any(folders.results_file(name).exists() for name in ALL):
        return [Section("No results so far", [no_results(folders)])]
    shown = [experiment_section(name, folders, figures, images_from) for name in ABOUT]
    return [summary(folders), *shown, missing_results(folders), provenance(folders)]


def no_results(folders: Folders) -> str:
    flag = " --smoke" if folders.smoke else ""
    folder = folders.results_file("pairs").parent
    return f"There are no results in {folder}: run `implicature reproduce all{flag}`."


def experiment_section(name: str, folders: Folders, figures: bool, images_from: Path | None) -> Section:
    title, about = ABOUT[name]
    tables = [table for table in folders.render(name) if table.rows]
    if not tables:
        return Section(title, [about, f"No results so far: run `implicature reproduce {name}`."])
    image = folders.results_file(name).with_name(f"{name}.png")
    linked = images_from is not None and is_figure(name) and image.exists()
    link = [f"![{title}]({Path(relpath(image, images_from)).as_posix()})"] if linked else []
    return Section(title, [about, *link, *tables], folders.draw(name) if figures and is_figure(name) else None)


@cache
def fidelity_list() -> str:
    """FIDELITY.md: beside the modules where the package was installed, at the top of a checkout."""
    installed = files("implicature") / "FIDELITY.md"
    path = installed if installed.is_file() else Path(implicature.__file__).parents[2] / "FIDELITY.md"
    return path.read_text(encoding="utf-8") if path.is_file() else "FIDELITY.md is not part of this installation."


def fidelity_section() -> Section:
    """Without the ladder, which is a section of its own, and without comments."""
    text = re.sub(r"<!-- ladder -->.*?<!-- /ladder -->\n", "", fidelity_list(), flags=re.DOTALL)
    return Section("Fidelity", [re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL).removeprefix("# Fidelity").strip()])


# The small table of README

PARTS = (
    ("ungrounded: total / hard", "table-1", ("total", "hard")),
    ("grounded", "table-2", ("identical games",)),
)
"""Title, table and its groups of rows."""


def readme_table(folders: Folders) -> Table:
    """Ours, the paper's and the exact recursion's accuracy in the four games."""
    rows = []
    for title, name, groups in PARTS:
        cells = {
            (row.group, row.label, game): cell
            for table in folders.render(name)
            for row in table.rows
            for game, cell in zip(table.columns, row.cells, strict=True)
        }
        for game in GAMES:
            ours = [
                join_cells([cells.get((group, label, game), MISSING) for group in groups])
                for label in (NAMES["exchange"], NAMES["deep-sets"], NAMES["as-written"], DEPTH_10)
            ]
            theirs = [paper_mean(name, group.replace(" ", "-"), "exchange", game) for group in groups]
            rows.append(Row(f"{game}, {title}", [*ours[:3], " / ".join(f"{mean:.1f}" for mean in theirs), ours[3]]))
    columns = ["ours, exchange", "ours, deep-sets", "paper as written", "paper's figures", DEPTH_10]
    return Table("accuracy, %", columns, rows)


def join_cells(cells: list[Cell]) -> str:
    """Means, with slashes between."""
    return " / ".join(str(Number(cell.ours.mean) if isinstance(cell, Comparison) else cell) for cell in cells)
