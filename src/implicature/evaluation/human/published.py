"""The published data sets by name. Files, sources, licences and columns: README.md beside this module."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from implicature.evaluation.human.items import (
    ROLES,
    Answers,
    DataSet,
    Entry,
    Item,
    Role,
    collect,
    one_person_each,
    uniform,
)  # fmt: skip
from implicature.files import read_table

FOLDER = Path(__file__).parent
Table = Bool[np.ndarray, "candidates words"]


def rows_of(name: str, *columns: str) -> list[dict[str, str]]:
    return read_table(FOLDER / f"{name}.csv", columns)


# Frank & Goodman 2012: items are contexts up to the names of features and the order of objects


@cache
def canonical_order(
    rows: tuple[tuple[bool, ...], ...], fixed_words: int, first: int | None
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Columns in canonical order, and the order of candidates."""
    lexicon = np.array(rows)

    def arranged(order: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        columns = [tuple(int(x) for x in column) for column in lexicon[list(order)].T]
        return *columns[:fixed_words], *sorted(columns[fixed_words:], reverse=True)

    orders = [order for order in permutations(range(len(lexicon))) if first is None or order[0] == first]
    best = max(orders, key=arranged)
    return arranged(best), best


def canonical_form(
    lexicon: Table, fixed_words: int, first: int | None = None
) -> tuple[Table, Int[np.ndarray, " candidates"]]:
    """The same context in a canonical order of candidates (with `first`, that one stays first) and of the words after
    the first `fixed_words`; and the order of candidates."""
    columns, order = canonical_order(tuple(tuple(bool(x) for x in row) for row in lexicon), fixed_words, first)
    return np.array(columns, bool).T, np.array(order)


def trial(row: dict[str, str], speaker: bool) -> tuple[Table, Float[np.ndarray, " options"]]:
    """The context of a trial, the words that count first, and the bets in its order."""
    objects = [row[f"object_{i}"].split("/") for i in (1, 2, 3)]
    words = list(dict.fromkeys([row["word_1"], row["word_2"], *(word for names in objects for word in names)]))
    lexicon = np.array([[word in names for word in words] for names in objects])
    if speaker:
        table, _ = canonical_form(lexicon, 2, int(row["target_position"]) - 1)
        return table, np.array([float(row["bet_1"]), float(row["bet_2"])])
    table, order = canonical_form(lexicon, 1)
    return table, np.array([float(row[f"bet_{i}"] or 0) for i in (1, 2, 3)])[order]


def mean_over_equal(lexicon: Table, values: Float[np.ndarray, " candidates"]) -> Float[np.ndarray, " candidates"]:
    same = (lexicon[:, None] == lexicon[None]).all(axis=2)
    return same @ values / same.sum(axis=1)


def frank_goodman_2012(role: Role) -> Answers:
    rows = [row for row in rows_of("frank-goodman-2012", "role", "person", "kept", "bet_1") if row["kept"] == "1"]
    known: dict[tuple[str, bytes], tuple[Table, list[tuple[str, np.ndarray]]]] = {}
    for row in rows:
        if row["role"] != "speaker" or (row["bet_1"] and row["bet_2"]):
            table, weights = trial(row, row["role"] == "speaker")
            answered = known.setdefault((row["role"], table.tobytes()), (table, []))[1]
            answered.append((row["person"], weights / weights.sum()))
    entries: list[Entry] = []
    for (kind, key), (table, answered) in known.items():
        if kind == role:
            prior = uniform(3)
            if role == "listener":
                salience = np.mean([weights for _, weights in known["salience", key][1]], axis=0)
                prior = mean_over_equal(table, salience)
            name = " ".join("".join(str(int(x)) for x in candidate) for candidate in table)
            options = (0, 1) if role == "speaker" else (0, 1, 2)
            words = tuple(f"word{i}" for i in range(1, table.shape[1] + 1))
            item = Item(name, role, words, table, 0, prior / prior.sum(), options)
            entries += [(person, item, list(weights)) for person, weights in answered]
    answers = collect("frank-goodman-2012", role, entries, merge_equal=True)
    return answers if role == "listener" else merge_by_extension(answers)


def merge_by_extension(answers: Answers) -> Answers:
    """Speakers' cells are bets on the first word, by how many objects each word fits; the rest is its complement."""
    cells, known = np.full_like(answers.cells, -1), {}
    for i, item in enumerate(answers.items):
        fits = tuple(item.lexicon[:, :2].sum(axis=0))
        cells[i, 0] = known.setdefault(fits, len(known))
    return replace(answers, cells=cells)


# The other data sets

PRAGMODS: dict[str, list[list[int]]] = {
    "simple": [[0, 0], [0, 1], [1, 1]],
    "complex": [[0, 0, 1], [0, 1, 1], [1, 1, 0]],
    "oddman": [[1, 1, 0], [1, 0, 1], [0, 1, 1]],
    "twins": [[0, 1, 1], [1, 0, 1], [1, 0, 1]],
}
PRAGMODS_OBJECTS = ("foil", "target", "logical")


def pragmods(role: Role) -> Answers:
    """One answer a person. The measured priors make every model worse, so by default they are not used."""
    priors = {
        row["prior"]: np.array([float(row[name]) for name in PRAGMODS_OBJECTS])
        for row in rows_of("pragmods-priors", "prior", *PRAGMODS_OBJECTS)
    }
    cells: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows_of("pragmods-cells", "experiment", "condition", "matrix", "prior", "word", "object", "count"):
        key = tuple(row[name] for name in ("experiment", "condition", "matrix", "prior", "word"))
        cells.setdefault(key, {})[row["object"]] = float(row["count"])
    entries: list[Entry] = []
    for (experiment, condition, matrix, prior, word), counts in cells.items():
        table = np.array(PRAGMODS[matrix], bool)
        words = ("hat", "glasses", "mustache")[: table.shape[1]]
        weights = priors[prior] / priors[prior].sum()
        name = f"{experiment} {condition}"
        item = Item(name, "listener", words, table, words.index(word), weights, (0, 1, 2))
        answers = one_person_each([counts[name] for name in PRAGMODS_OBJECTS])
        entries += [(f"{name} {i}", item, row) for i, row in enumerate(answers, 1)]
    return collect("pragmods", role, entries, "uniform")


def qing_franke_2015(role: Role) -> Answers:
    (row,) = rows_of("qing-franke-2015", "heard", "green_square", "green_circle", "pink_circle")
    table = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]], bool)
    words = ("green", "pink", "square", "circle")
    item = Item(row["heard"], "listener", words, table, words.index(row["heard"]), uniform(3), (0, 1, 2))
    answers = one_person_each([float(row[name]) for name in ("green_square", "green_circle", "pink_circle")])
    return collect("qing-franke-2015", role, [(str(i), item, row) for i, row in enumerate(answers, 1)])


FRANKE_DEGEN: dict[str, tuple[list[list[int]], int, int]] = {
    "simple": ([[0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]], 1, 1),
    "complex": ([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0]], 0, 0),
}
"""Objects × messages, the message heard and the object meant. The fillers are left out."""


def franke_degen_2016(role: Role) -> Answers:
    last = ("distractor",) if role == "listener" else ("distractor1", "distractor2")
    columns = "target", "competitor", *last
    items = {}
    for name, (table, heard, meant) in FRANKE_DEGEN.items():
        words = tuple(f"message{i}" for i in range(1, 5))
        given, options = (heard, (0, 1, 2)) if role == "listener" else (meant, (0, 1, 2, 3))
        items[name] = Item(name, role, words, np.array(table, bool), given, uniform(3), options)
    rows = rows_of(f"franke-degen-2016-{role}s", "person", "item", *columns)
    entries = [
        (row["person"], items[row["item"]], [float(row[name]) for name in columns])
        for row in rows
        if row["item"] in items
    ]
    return collect("franke-degen-2016", role, entries)


PUBLISHED: dict[str, tuple[Callable[[Role], Answers], tuple[Role, ...], str, str]] = {
    "frank-goodman-2012": (frank_goodman_2012, ROLES, "Frank & Goodman 2012, Science 336, 998", "MIT"),
    "pragmods": (pragmods, ("listener",), "Frank, Emilsson, Peloquin, Goodman & Potts 2016, PsyArXiv", "MIT"),
    "qing-franke-2015": (qing_franke_2015, ("listener",), "Qing & Franke 2015, Springer", "MIT"),
    "franke-degen-2016": (franke_degen_2016, ROLES, "Franke & Degen 2016, PLoS ONE 11(5)", "counts only"),
}
"""Reader, roles, citation, licence of the source."""


@cache
def load_published(name: str) -> DataSet:
    """A data set, or with -listeners or -speakers at the end of its name one part of it."""
    for full, (read, roles, citation, licence) in PUBLISHED.items():
        chosen: list[Role] = [role for role in roles if name in (full, f"{full}-{role}s")]
        if chosen:
            return DataSet(name, citation, licence, tuple(read(role) for role in chosen))
    raise ValueError(
        f"No data set is called {name!r:.60}: choose one of {', '.join(PUBLISHED)}, or name a CSV file of your own."
    )
