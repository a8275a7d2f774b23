"""What the rows say, section by section, in Markdown."""

from functools import cache
from importlib.resources import files
from pathlib import Path

import implicature
from implicature.cli.reproduce import ALL, Folders, picture_of
from implicature.report.status import TABLES, Section, glance, making, missing

LEGEND = (
    "Percent, mean ± std over runs (3 splits × 2 runs when complete); in brackets the paper's mean. ▲ at least the "
    "paper's, ▽ below it, both to one decimal; – no rows so far. Test games share no set of candidates with "
    "training or validation games; both agents are greedy."
)
ABOUT: dict[str, tuple[str, str]] = {
    "table-1": (
        "Table 1: from a random start",
        "Total accuracy, and that of the tenth of games whose distractors are most like the target. Exact players "
        "compute what pairs learn: their depth is how often teacher and student think about each other, and depth 10 "
        "is the limit. The t-test is paired by split and number of the run.",
    ),
    "table-2": (
        "Table 2: from a grounded start",
        "In equivalent games teacher and student see differently named candidates and the message is translated: who "
        "left the meanings that words were taught loses there. Valid messages are true of the target.",
    ),
    "table-3": (
        "Table 3: novel targets",
        "Grounded pairs trained with 80 % of the objects; each target is one of the others. Objects are seen in "
        "pictures.",
    ),
    "figure-2": (
        "Figure 2: example games",
        "What she would say of the target (left, the word said in red) and what he then believes, before the first "
        "phase and after each.",
    ),
    "figure-3": (
        "Figure 3: accuracy by level",
        "A target's level is how many thoughts about each other it takes to name it for sure; “none”: no number is "
        "enough. Each phase should bring the next levels. Percent, mean and std over runs.",
    ),
    "figure-4": (
        "Figure 4: words and distractors",
        "Covariance of saying a word (rows) and the share of distractors with an attribute (columns), 58 novel targets "
        "× 100 games; categories are outlined. Blue on the diagonal: a word is avoided where others share it.",
    ),
    "cross-play": (
        "Cross-play",
        "Beyond the paper: the teacher of one run with the student of another run of the same setting and split. "
        "Grounded pairs should understand strangers, a code of one's own should not work with them.",
    ),
    "rounds": (
        "Games of up to four rounds",
        "Beyond the paper: numbers-7, each message at a cost of 0.1, by the target's positive recursive teaching "
        "dimension (RTD) and level, beside the pair with one message.",
    ),
    "candidates": (
        "Other numbers of candidates",
        "Beyond the paper: pairs trained with 4 candidates play with 2 to 12, without further training.",
    ),
    "robustness": (
        "Varied pictures",
        "Beyond the paper: grounded and ungrounded pairs who learned from clean pictures of the objects, or from eight "
        "varied ones of each, tested in clean pictures and in four others.",
    ),
    "choices": (
        "What choices are worth",
        "What the paper leaves open (F-numbers: the fidelity list below), one thing made the other way at a time. "
        "Validation games; objects-4 where it says so, else numbers-4; at most two runs each.",
    ),
    "seconds": (
        "Seconds to the paper's accuracy",
        "Until validation accuracy first reaches what the paper's pairs reach ungrounded, on one machine with nothing "
        "else running. Cold: some program was yet to be compiled.",
    ),
    "pairs": (
        "Every pair",
        "All settings after their last phase, those beyond the tables included (objects told as symbols, six phases); "
        "then phase by phase beside the exact recursion of that depth on the same games.",
    ),
    "ceilings": (
        "Exact players",
        "No learning: percent of targets found by students of depth t and the teachers who respond to them. The last "
        "lines of each game are the share that has a true word of its own (no-clash) and the shares of levels.",
    ),
}


def sections(folders: Folders, pictures: bool = False) -> list[Section]:
    """Everything that the rows tell, then what they do not tell so far."""
    if not any(folders.rows(name).exists() for name in ALL):
        return [Section("No rows so far", nothing(folders)), fidelity()]
    told = [experiment(name, folders, pictures) for name in ABOUT]
    return [glance(folders), *told, missing(folders), making(folders), fidelity()]


def nothing(folders: Folders) -> str:
    more = " --quick" if folders.quick else ""
    return f"There are no rows in {folders.rows('pairs').parent}: `implicature reproduce all{more}` makes them."


def experiment(name: str, folders: Folders, pictures: bool) -> Section:
    title, about = ABOUT[name]
    legend = f" {LEGEND}" if name == TABLES[0] else ""
    table = folders.rendered(name)
    if not table or table.count("\n") < 2:
        return Section(title, f"{about}\n\nNo rows so far: `implicature reproduce {name}` makes them.")
    picture = picture_of(name, folders) if pictures and name.startswith("figure") else None
    return Section(title, f"{about}{legend}\n\n{table}", picture)


@cache
def fidelity_list() -> str:
    """FIDELITY.md: beside the modules where the package was installed, at the top of a checkout."""
    inside = files("implicature") / "FIDELITY.md"
    place = inside if inside.is_file() else Path(implicature.__file__).parents[2] / "FIDELITY.md"
    return place.read_text(encoding="utf-8") if place.is_file() else "FIDELITY.md did not come with this installation."


def fidelity() -> Section:
    return Section("Fidelity", fidelity_list().removeprefix("# Fidelity").strip())


def lines_for_readme(folders: Folders) -> str:
    """The three tables and what is below the paper's or missing."""
    if not folders.read("pairs"):
        return nothing(folders)
    tables = [table for name in TABLES if (table := folders.rendered(name))]
    return "\n\n".join([LEGEND, glance(folders).text, *tables])
