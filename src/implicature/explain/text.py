"""The counterfactual in words: “blue” means the first, since for the third she would have said “cone”.

Every sentence is read off the teacher and the student of the last depth. Candidates are numbers from 0 here.
"""

from collections.abc import Callable

from implicature.agents.rsa import TIE
from implicature.explain.model import Explanation, ordinal

SURE = 0.99
"""A belief from which on a message "means" a candidate."""
OFTEN = 0.9
"""A chance from which on she "says" a message; else she "most likely" does."""
ALIKE = 0.98
"""A share of the largest chance from which on another is as good: 49.5% and 50.5% look the same in a table."""

Naming = Callable[[int], str]
"""How a sentence speaks of a candidate."""


def by_place(candidate: int) -> str:
    return f"the {ordinal(candidate + 1)}"


def best(values: list[float]) -> list[int]:
    """Where the largest value is; more than once where a choice is a coin toss."""
    return [i for i, value in enumerate(values) if value > 0 and value >= max(values) - TIE]


def alike(values: list[float]) -> list[int]:
    """Where the largest value is, and others that a person would call as large."""
    return [i for i, value in enumerate(values) if value > 0 and value >= ALIKE * max(values)]


def said(found: Explanation, candidate: int) -> tuple[list[str], float]:
    """Her best messages for the candidate, and the chance that she sends one of them."""
    chances = found.depths[-1].teacher[candidate]
    top = alike(chances)
    return [found.messages[i] for i in top], sum(chances[i] for i in top) / sum(chances)


def belief(found: Explanation, message: str, depth: int = -1) -> list[float]:
    return found.depths[depth].student[found.messages.index(message)]


def fits(found: Explanation, message: str) -> list[int]:
    return [i for i, names in enumerate(found.candidates) if message in names]


def used(found: Explanation) -> list[str]:
    """The messages that are her best for somebody."""
    words = {word for i in range(len(found.candidates)) for word in said(found, i)[0]}
    return [message for message in found.messages if message in words]


def listed(parts: list[str], last: str = "and", most: int = 4) -> str:
    """a, b and c; a, b and 7 more."""
    if len(parts) > most:
        parts = [*parts[: most - 1], f"{len(parts) - most + 1} more"]
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def together(candidates: list[int], called: Naming, last: str = "and") -> str:
    return listed([called(i) for i in candidates], last)


def quoted(words: list[str], last: str = "or") -> str:
    return listed([f"“{word}”" for word in words], last)


def percent(chance: float) -> str:
    return f"{100 * chance:.0f}%"


def counterfactual(found: Explanation, message: str, others: list[int], called: Naming = by_place) -> str:
    """What she would have said for the others whom the message fits."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for other in others:
        words, chance = said(found, other)
        have_said = f"she would {'' if chance >= OFTEN else 'most likely '}have said"
        if words == [message]:
            told = f"{have_said} “{message}” too"
        elif message in words:
            rest = [word for word in words if word != message]
            told = f"she would as soon have said “{message}” as {quoted(rest)}"
        else:
            told = f"{have_said} {quoted(words)}"
        groups.setdefault((told, message in words), []).append(other)
    # First those who compete for the message: they decide what it means.
    order = sorted(groups, key=lambda group: not group[1])
    clauses = [f"for {together(groups[group], called)} {group[0]}" for group in order[:4]]
    if len(order) > 4:
        clauses, rest = clauses[:3], sum(len(groups[group]) for group in order[3:])
        another = "something else" if not any(shared for _, shared in order[3:]) else "other things or the same"
        clauses.append(f"for {rest} more she would most likely have said {another}")
    sentence = listed(clauses)
    return sentence[0].upper() + sentence[1:]


def conclusion(found: Explanation, message: str, candidate: int, called: Naming = by_place) -> str:
    """What he makes of the message, compared with the candidate she means."""
    beliefs = belief(found, message)
    top, near, mine = best(beliefs), alike(beliefs), called(candidate)
    if candidate not in near:
        each = " each" if len(top) > 1 else ""
        likely = f"{together(top, called, 'or')} ({percent(beliefs[top[0]])}{each})"
        return f"he takes “{message}” to mean {likely} rather than {mine} ({percent(beliefs[candidate])})"
    if len(near) > 1:
        rivals = [i for i in near if i != candidate]
        can = "cannot" if near == top else "can hardly"
        return f"after “{message}” he {can} tell {mine} from {together(rivals, called, 'or')}"
    if beliefs[candidate] >= SURE:
        return f"“{message}” means {mine}"
    return f"he takes “{message}” to mean {mine} ({percent(beliefs[candidate])})"


def reason(found: Explanation, message: str, candidate: int, called: Naming = by_place) -> str:
    """Why the message means to him what it means, when the candidate is meant."""
    fitting = fits(found, message)
    others = [i for i in fitting if i != candidate]
    if not fitting:
        return f"“{message}” fits nobody here, so it tells him nothing."
    if fitting == [candidate]:
        return f"“{message}” fits nobody else, so it means {called(candidate)}."
    told = f"“{message}” fits {together(fitting, called)}. "
    if candidate not in fitting:
        told = f"“{message}” is not true of {called(candidate)}; it fits {together(fitting, called)}. "
    return (
        f"{told}{counterfactual(found, message, others, called)}; so {conclusion(found, message, candidate, called)}."
    )


def story(found: Explanation, candidate: int) -> str:
    """Why her best message for the candidate means what it means to him."""
    words, chance = said(found, candidate)
    choice = f"For {by_place(candidate)} she {'says' if chance >= OFTEN else 'most likely says'} {quoted(words)}. "
    return choice + reason(found, words[0], candidate)


def in_words(found: Explanation, target: int | None, most: int) -> list[str]:
    """The target's story, or at most so many of those that take some reading between the lines."""
    if target is not None:
        return [story(found, target)]
    plain: dict[int, str] = {}
    for i in range(len(found.candidates)):
        words, chance = said(found, i)
        if chance >= OFTEN and all(fits(found, word) == [i] for word in words):
            plain[i] = f"{quoted(words)} for {by_place(i)}"
    subtle = [i for i in range(len(found.candidates)) if i not in plain]
    sentences = [story(found, i) for i in subtle[:most]]
    if plain:
        sentences.append(f"She says {listed(list(plain.values()), most=6)}: no other candidate could be meant.")
    if subtle[most:]:
        sentences.append(f"{len(subtle) - most} more take some explaining: --target tells of one.")
    return sentences
