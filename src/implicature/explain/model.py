"""Everything `implicature explain` tells about one game, worked out from candidates given by name."""

from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from math import isfinite
from pathlib import Path
from re import fullmatch
from unicodedata import normalize

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rsa import Recursion, Start, greedy_accuracy, no_clash, soft_recursion
from implicature.evaluation.teaching_dimension import levels, teaching
from implicature.files import printable
from implicature.spaces import SPACES, Space
from implicature.spaces.io import load_space

MOST_CANDIDATES = 50
MOST_ATTRIBUTES = 200
MOST_LETTERS = 64
MOST_DEPTH = 100
MOST_BETA = 1000.0
"""Beyond it, β times the rounding of a belief would decide between messages that are equally good."""
BUDGET = 200_000
"""Steps of the search for teaching sets: two seconds at worst, since a person is waiting."""

WORDS = ("first", "second", "third", "fourth", "fifth", "sixth")
WORDS += ("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")


@dataclass(frozen=True)
class Depth:
    """L_t and S_t; with start="indicator", S_0 is the truth itself rather than a chance."""

    depth: int
    student: list[list[float]]
    """[message][candidate]"""
    teacher: list[list[float]]
    """[candidate][message]"""


@dataclass(frozen=True)
class Explanation:
    """The JSON object, field by field. Lists of one entry each are in the order of the candidates."""

    candidates: list[list[str]]
    messages: list[str]
    level: list[int | None]
    td: list[int | None]
    """Positive examples, at least one; None where none single the candidate out."""
    rtd: list[int | None]
    exact: bool
    """Whether TD and RTD are; else they are upper bounds."""
    no_clash: list[str | None]
    accuracy: list[float]
    """The chance that the candidate is found at the last depth if both choose what is best."""
    depths: list[Depth]


def ordinal(number: int) -> str:
    """first, second … twelfth, 13th …"""
    if 1 <= number <= len(WORDS):
        return WORDS[number - 1]
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def short(text: str) -> str:
    """A quotation that fits a sentence, whatever is in it."""
    text = text if len(text) <= 24 else text[:23] + "…"
    return repr(text) if text.isprintable() else ascii(text)


def named_space(name: str) -> Space:
    if name in SPACES:
        return SPACES[name]()
    if not Path(name).suffix and not Path(name).is_dir():
        raise ValueError(f"No space is called {short(name)}: choose {', '.join(SPACES)} or a .csv or .json file.")
    return load_space(name)


def cleaned(name: str, place: str) -> str:
    """One spelling for what looks the same."""
    if not printable(name):
        raise ValueError(f"The {place} candidate has characters that cannot be printed, {short(name)}: take them out.")
    name = " ".join(normalize("NFC", name).split())
    if not name:
        raise ValueError(f"The {place} candidate has an attribute without a name: write names with commas between.")
    if len(name) > MOST_LETTERS:
        raise ValueError(
            f"The {place} candidate has a name of {len(name)} letters, {short(name)}: use {MOST_LETTERS} or fewer."
        )
    return name


def known(name: str, space: Space) -> str:
    if name in space.attributes:
        return name
    close = [short(other) for other in get_close_matches(name, space.attributes)]
    some = ", ".join(map(short, space.attributes[:8])) + (", …" if len(space.attributes) > 8 else "")
    hint = f"did you mean {' or '.join(close)}?" if close else f"it has {some}."
    raise ValueError(f"The space {space.name} has no attribute {short(name)}: {hint}")


def read(arguments: list[str], space: Space | None = None) -> list[list[str]]:
    """Candidates from arguments such as "blue,sphere", or with a space also from the names of its instances."""
    if len(arguments) < 2:
        given = "One candidate leaves" if arguments else "A game without candidates has"
        raise ValueError(f"{given} nothing to guess: give two or more, such as blue,sphere red,sphere.")
    if len(arguments) > MOST_CANDIDATES:
        raise ValueError(f"{len(arguments)} candidates are too many to explain: give {MOST_CANDIDATES} or fewer.")
    labels = list(space.labels or ()) if space else []
    candidates: list[list[str]] = []
    for i, argument in enumerate(arguments, 1):
        label = argument.strip()
        names = space.names(labels.index(label)) if space and label in labels else argument.split(",")
        names = [cleaned(name, ordinal(i)) for name in names]
        names = [known(name, space) for name in names] if space else names
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise ValueError(f"The {ordinal(i)} candidate has the attribute {short(name)} twice: name it once.")
        for j, earlier in enumerate(candidates, 1):
            if set(earlier) == set(names):
                raise ValueError(
                    f"The {ordinal(j)} and the {ordinal(i)} candidate are the same: candidates must differ."
                )
        candidates.append(names)
    if (attributes := len({name for names in candidates for name in names})) > MOST_ATTRIBUTES:
        raise ValueError(f"{attributes} attributes are too many to explain: use {MOST_ATTRIBUTES} or fewer.")
    return candidates


def in_order(names: list[str]) -> list[str]:
    """Numbers by size, other names as they first appear."""
    names = list(dict.fromkeys(names))
    return sorted(names, key=int) if all(fullmatch("-?[0-9]+", name) for name in names) else names


@partial(jax.jit, static_argnames=("depth", "beta", "start"))
def worked_out(
    truth: Bool[Array, "candidates messages"], prior: Float[Array, " candidates"], depth: int, beta: float, start: Start
) -> tuple[Recursion, Float[Array, " candidates"], Int[Array, " candidates"], Int[Array, " candidates"]]:
    both = soft_recursion(truth, depth, beta, start, prior)
    return both, greedy_accuracy(truth, both.teacher[-1], both.student[-1]), levels(truth), no_clash(truth)


def explanation(candidates: list[list[str]], depth: int = 6, beta: float = 10.0, start: Start = "share") -> Explanation:
    """What each message comes to mean among these candidates, and how hard each of them is to name."""
    if not 0 <= depth <= MOST_DEPTH:
        raise ValueError(f"The depth {depth} is not between 0 (literal) and {MOST_DEPTH}: choose one that is.")
    if not (isfinite(beta) and 0 <= beta <= MOST_BETA):
        raise ValueError(f"β = {beta:g} is not between 0 (any true message) and {MOST_BETA:g}: choose one that is.")
    messages = in_order([name for names in candidates for name in names])
    truth = np.array([[message in names for message in messages] for names in candidates])
    n, m = truth.shape
    # Compiling takes longer than anything else here: games of about one size are padded to share a compiled program.
    padded = np.pad(truth, ((0, -n % 8), (0, -m % 16)))
    prior = np.where(np.arange(len(padded)) < n, np.float32(1 / n), np.float32(0))
    both, accuracy, level, own = jax.device_get(worked_out(padded, prior, depth=depth, beta=beta, start=start))
    taught = teaching(truth, positive=True, least=1, budget=BUDGET)
    return Explanation(
        candidates,
        messages,
        [None if i < 0 else i for i in level[:n].tolist()],
        list(taught.td),
        list(taught.rtd),
        taught.exact,
        [None if i < 0 else messages[i] for i in own[:n].tolist()],
        accuracy[:n].tolist(),
        [
            Depth(t, student[:n, :m].T.tolist(), teacher[:n, :m].tolist())
            for t, (student, teacher) in enumerate(zip(both.student, both.teacher, strict=True))
        ],
    )
