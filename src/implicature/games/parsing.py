"""Candidates that a person has typed: "blue,sphere", or an instance of a space by name."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from re import fullmatch
from unicodedata import normalize

from implicature.files import printable
from implicature.spaces import Space

MAX_CANDIDATES = 50
MAX_ATTRIBUTES = 200
MAX_LETTERS = 64

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
ORDINALS += ("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")


def ordinal(number: int) -> str:
    """first, second … twelfth, 13th …"""
    if 1 <= number <= len(ORDINALS):
        return ORDINALS[number - 1]
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def quote(text: str) -> str:
    """A quotation that fits into an error message, whatever it contains."""
    text = text if len(text) <= 24 else text[:23] + "…"
    return repr(text) if text.isprintable() else ascii(text)


def clean_name(name: str, position: str) -> str:
    """One spelling for what looks the same."""
    if not printable(name):
        raise ValueError(
            f"The {position} candidate has characters that cannot be printed, {quote(name)}: take them out."
        )
    name = " ".join(normalize("NFC", name).split())
    if not name:
        raise ValueError(f"The {position} candidate has an attribute without a name: write names with commas between.")
    if len(name) > MAX_LETTERS:
        raise ValueError(
            f"The {position} candidate has a name of {len(name)} letters, {quote(name)}: use {MAX_LETTERS} or fewer."
        )
    return name


def check_attribute(name: str, space: Space) -> None:
    if name in space.attributes:
        return
    close = [quote(other) for other in get_close_matches(name, space.attributes)]
    some = ", ".join(map(quote, space.attributes[:8])) + (", …" if len(space.attributes) > 8 else "")
    hint = f"did you mean {' or '.join(close)}?" if close else f"it has {some}."
    raise ValueError(f"The space {space.name} has no attribute {quote(name)}: {hint}")


def parse_candidates(arguments: Sequence[str | Sequence[str]], space: Space | None = None) -> list[list[str]]:
    """The attributes of each candidate, given as "blue,sphere" or as a list; with a space, also by instance name."""
    if len(arguments) < 2:
        given = "One candidate leaves" if arguments else "A game without candidates has"
        raise ValueError(f"{given} nothing to guess: give two or more, such as blue,sphere red,sphere.")
    if len(arguments) > MAX_CANDIDATES:
        raise ValueError(f"{len(arguments)} candidates are too many: give {MAX_CANDIDATES} or fewer.")
    labels = list(space.labels or ()) if space else []
    candidates: list[list[str]] = []
    for i, argument in enumerate(arguments, 1):
        if isinstance(argument, str):
            label = argument.strip()
            names = space.names(labels.index(label)) if space and label in labels else argument.split(",")
        else:
            names = list(argument)
        names = [clean_name(name, ordinal(i)) for name in names]
        if space:
            for name in names:
                check_attribute(name, space)
        if repeated := [name for name, times in Counter(names).items() if times > 1]:
            raise ValueError(f"The {ordinal(i)} candidate has the attribute {quote(repeated[0])} twice: name it once.")
        candidates.append(names)
    if (attributes := len({name for names in candidates for name in names})) > MAX_ATTRIBUTES:
        raise ValueError(f"{attributes} attributes are too many: use {MAX_ATTRIBUTES} or fewer.")
    return candidates


def instance_rows(
    arguments: Sequence[str | Sequence[str]], attributes: list[list[str]], space: Space
) -> list[int] | None:
    """The instances that the candidates are, by name or else by their attributes; None where one is not an instance."""
    labels, rows = list(space.labels or ()), []
    by_attributes = {frozenset(space.names(i)): i for i in reversed(range(space.instances))}
    for argument, names in zip(arguments, attributes, strict=True):
        label = argument.strip() if isinstance(argument, str) else None
        row = labels.index(label) if label in labels else by_attributes.get(frozenset(names))
        if row is None:
            return None
        rows.append(row)
    return rows


def distinct_names(names: Sequence[str | Sequence[str]], number: int) -> tuple[str, ...]:
    """A name for each candidate, as it was typed; of candidates with the same name, the later ones are numbered."""
    if len(names) != number:
        raise ValueError(f"{len(names)} names for {number} candidates: give each candidate one.")
    typed = [name.strip() if isinstance(name, str) else ",".join(name) for name in names]
    times: Counter[str] = Counter()
    distinct: list[str] = []
    for name in typed:
        times[name] += 1
        distinct.append(name if times[name] == 1 else f"{name} ({times[name]})")
    if len(set(distinct)) < number:
        raise ValueError("Two candidates would have the same name: name them differently.")
    return tuple(distinct)


def sort_words(names: Sequence[str]) -> list[str]:
    """Distinct words: numbers by size, other names as they first appear."""
    names = list(dict.fromkeys(names))
    return sorted(names, key=int) if all(fullmatch("-?[0-9]+", name) for name in names) else names
