"""The counterfactual in words: “blue” means the first, since for the third she would have said “cone”.

Every sentence is read off the teacher and the student of the last depth. Candidates are numbers from 0 here.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from implicature.agents.rsa import TIE
from implicature.explanation.model import DepthTables
from implicature.games.parsing import ordinal

CERTAIN = 0.99
"""From this belief on, a message "means" a candidate."""
OFTEN = 0.9
"""From this probability on, she "says" a message; else she "most likely" does."""
NEAR_TIE = 0.98
"""Relative to the largest probability: 49.5% and 50.5% look the same in a table."""

Naming = Callable[[int], str]
"""How a sentence speaks of a candidate."""


@runtime_checkable
class SolvedGame(Protocol):
    """What the sentences are read off: an `Explanation`, or a round that was played on the page."""

    @property
    def candidates(self) -> list[list[str]]: ...

    @property
    def messages(self) -> list[str]: ...

    @property
    def depths(self) -> list[DepthTables]: ...


def by_position(candidate: int) -> str:
    return f"the {ordinal(candidate + 1)}"


def tied_best(values: list[float]) -> list[int]:
    """Where the largest value is; more than once where a choice is a coin toss."""
    return [i for i, value in enumerate(values) if value > 0 and value >= max(values) - TIE]


def near_best(values: list[float]) -> list[int]:
    """Where the largest value is, and others that a person would call as large."""
    return [i for i, value in enumerate(values) if value > 0 and value >= NEAR_TIE * max(values)]


def best_messages(explanation: SolvedGame, candidate: int) -> tuple[list[str], float]:
    """Her best messages for the candidate, and the chance that she sends one of them."""
    probabilities = explanation.depths[-1].teacher[candidate]
    top = near_best(probabilities)
    return [explanation.messages[i] for i in top], sum(probabilities[i] for i in top) / sum(probabilities)


def belief(explanation: SolvedGame, message: str, depth: int = -1) -> list[float]:
    return explanation.depths[depth].student[explanation.messages.index(message)]


def true_of(explanation: SolvedGame, message: str) -> list[int]:
    return [i for i, names in enumerate(explanation.candidates) if message in names]


def used_messages(explanation: SolvedGame) -> list[str]:
    """The messages that are her best for some candidate."""
    words = {word for i in range(len(explanation.candidates)) for word in best_messages(explanation, i)[0]}
    return [message for message in explanation.messages if message in words]


def join_names(parts: list[str], last: str = "and", most: int = 4) -> str:
    """a, b and c; a, b and 7 more."""
    if len(parts) > most:
        parts = [*parts[: most - 1], f"{len(parts) - most + 1} more"]
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def join_candidates(candidates: list[int], name_of: Naming, last: str = "and") -> str:
    return join_names([name_of(i) for i in candidates], last)


def quote_words(words: list[str], last: str = "or") -> str:
    return join_names([f"“{word}”" for word in words], last)


def percent(chance: float) -> str:
    return f"{100 * chance:.0f}%"


def counterfactual(explanation: SolvedGame, message: str, others: list[int], name_of: Naming = by_position) -> str:
    """What she would have said for the others whom the message fits."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for other in others:
        words, chance = best_messages(explanation, other)
        have_said = f"she would {'' if chance >= OFTEN else 'most likely '}have said"
        if words == [message]:
            clause = f"{have_said} “{message}” too"
        elif message in words:
            rest = [word for word in words if word != message]
            clause = f"she would as soon have said “{message}” as {quote_words(rest)}"
        else:
            clause = f"{have_said} {quote_words(words)}"
        groups.setdefault((clause, message in words), []).append(other)
    # First those who compete for the message: they decide what it means.
    order = sorted(groups, key=lambda group: not group[1])
    clauses = [f"for {join_candidates(groups[group], name_of)} {group[0]}" for group in order[:4]]
    if len(order) > 4:
        clauses, rest = clauses[:3], sum(len(groups[group]) for group in order[3:])
        another = "something else" if not any(shared for _, shared in order[3:]) else "other things or the same"
        clauses.append(f"for {rest} more she would most likely have said {another}")
    sentence = join_names(clauses)
    return sentence[0].upper() + sentence[1:]


def conclusion(explanation: SolvedGame, message: str, candidate: int, name_of: Naming = by_position) -> str:
    """What he makes of the message, compared with the candidate she means."""
    beliefs = belief(explanation, message)
    top, near, name = tied_best(beliefs), near_best(beliefs), name_of(candidate)
    if candidate not in near:
        each = " each" if len(top) > 1 else ""
        likely = f"{join_candidates(top, name_of, 'or')} ({percent(beliefs[top[0]])}{each})"
        return f"he takes “{message}” to mean {likely} rather than {name} ({percent(beliefs[candidate])})"
    if len(near) > 1:
        rivals = [i for i in near if i != candidate]
        can = "cannot" if near == top else "can hardly"
        return f"after “{message}” he {can} tell {name} from {join_candidates(rivals, name_of, 'or')}"
    if beliefs[candidate] >= CERTAIN:
        return f"“{message}” means {name}"
    return f"he takes “{message}” to mean {name} ({percent(beliefs[candidate])})"


def explain_message(explanation: SolvedGame, message: str, candidate: int, name_of: Naming = by_position) -> str:
    """Why the message means to him what it means, when the candidate is meant."""
    fitting = true_of(explanation, message)
    others = [i for i in fitting if i != candidate]
    if not fitting:
        return f"“{message}” fits nobody here, so it tells him nothing."
    if fitting == [candidate]:
        return f"“{message}” fits nobody else, so it means {name_of(candidate)}."
    clause = f"“{message}” fits {join_candidates(fitting, name_of)}. "
    if candidate not in fitting:
        clause = f"“{message}” is not true of {name_of(candidate)}; it fits {join_candidates(fitting, name_of)}. "
    because = counterfactual(explanation, message, others, name_of)
    return f"{clause}{because}; so {conclusion(explanation, message, candidate, name_of)}."


def explain_candidate(explanation: SolvedGame, candidate: int) -> str:
    """Why her best message for the candidate means what it means to him."""
    words, chance = best_messages(explanation, candidate)
    choice = (
        f"For {by_position(candidate)} she {'says' if chance >= OFTEN else 'most likely says'} {quote_words(words)}. "
    )
    return choice + explain_message(explanation, words[0], candidate)


def explain_in_words(explanation: SolvedGame, target: int | None, most: int) -> list[str]:
    """The target's story, or at most so many of those that take some reading between the lines."""
    if target is not None:
        return [explain_candidate(explanation, target)]
    plain: dict[int, str] = {}
    for i in range(len(explanation.candidates)):
        words, chance = best_messages(explanation, i)
        if chance >= OFTEN and all(true_of(explanation, word) == [i] for word in words):
            plain[i] = f"{quote_words(words)} for {by_position(i)}"
    subtle = [i for i in range(len(explanation.candidates)) if i not in plain]
    sentences = [explain_candidate(explanation, i) for i in subtle[:most]]
    if plain:
        sentences.append(f"She says {join_names(list(plain.values()), most=6)}: no other candidate could be meant.")
    if subtle[most:]:
        sentences.append(f"{len(subtle) - most} more take some explaining: --target explains one.")
    return sentences
