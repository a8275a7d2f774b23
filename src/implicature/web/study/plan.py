"""The plan of a study, as a JSON file holds it: what participants are shown, in blocks of trials.

A trial is a game of its own (objects, and the word that is said or the object that is meant), a game that the server
deals by seed, or an attention check. Every mistake in a plan is one sentence.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from implicature.files import printable, read_text
from implicature.web.dealing import MAX_CANDIDATES, playable_games
from implicature.web.decisions import PRACTICE
from implicature.web.players import MAX_DEPTH

MAX_PLAN_BYTES = 2_000_000
MAX_TRIALS = 1_000
NAME = r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$"

Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Line = Annotated[str, Field(min_length=1, max_length=300)]
Word = Annotated[str, Field(pattern=r"^[^\s,;|][^,;|]{0,39}$")]
Role = Literal["student", "teacher"]
Drawing = Literal["objects", "faces", "numbers", "words"]


class PlanModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trial(PlanModel):
    """One game of one word, or an attention check."""

    id: Name | None = None
    condition: Name = "none"
    objects: Annotated[list[Line], Field(min_length=2, max_length=MAX_CANDIDATES)] | None = None
    """Each by its attributes with spaces between: "blue sphere"."""
    target: Annotated[int, Field(ge=1, le=MAX_CANDIDATES, strict=True)] | None = None
    """The object that is meant, counted from 1."""
    word: Word | None = None
    """What the student hears."""
    words: Annotated[list[Word], Field(min_length=1, max_length=24)] | None = None
    """What can be said; by default the block's words."""
    game: Name | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] | None = None
    """Instead of objects: a game of the page, dealt by this seed; she says what an exact teacher says."""
    check: Line | None = None
    """An attention check: this sentence is shown in place of a word, and the target is the right answer."""


class Item(PlanModel):
    """A trial in several conditions: each participant gets one, by a Latin square."""

    id: Name
    versions: Annotated[dict[Name, Trial], Field(min_length=2, max_length=20)]


class Block(PlanModel):
    name: Name
    role: Role = "student"
    instructions: Text | None = None
    words: Annotated[list[Word], Field(min_length=1, max_length=24)] | None = None
    feedback: Annotated[bool, Field(strict=True)] = False
    """Whether participants are told after each trial if they were right."""
    order: Literal["random", "fixed"] = "random"
    trials: Annotated[list[Trial | Item], Field(min_length=1, max_length=MAX_TRIALS)] | None = None
    lists: Annotated[dict[Name, list[Trial]], Field(min_length=2, max_length=50)] | None = None
    """Instead of trials: several fixed lists, of which each participant gets one, in turn."""


class Question(PlanModel):
    """Of the comprehension check."""

    question: Line
    answers: Annotated[list[Line], Field(min_length=2, max_length=8)]
    correct: Annotated[int, Field(ge=1, le=8, strict=True)]
    """Counted from 1."""


class Completion(PlanModel):
    code: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] | None = None
    url: Annotated[str, Field(pattern=r"^https?://[^\s\"'<>]{1,500}$")] | None = None


class Plan(PlanModel):
    title: Line
    consent: Text
    instructions: Annotated[list[Text], Field(min_length=1, max_length=20)]
    comprehension: Annotated[list[Question], Field(max_length=20)] = []
    attempts: Annotated[int, Field(ge=1, le=10, strict=True)] = 3
    """At the comprehension check; who fails the last one is thanked and does not go on."""
    failed: Text = "Thank you. As some answers about the task were not right, the study ends here."
    practice: Annotated[list[Trial], Field(max_length=50)] = []
    """Before the first block, in its role and with its words, always with feedback."""
    blocks: Annotated[list[Block], Field(min_length=1, max_length=20)]
    block_order: Literal["fixed", "latin-square"] = "fixed"
    debriefing: Text
    completion: Completion = Completion()
    draw: Drawing = "objects"
    partner_depth: Annotated[int, Field(ge=0, le=MAX_DEPTH, strict=True)] = 1
    """Depth of the exact agents that answer a teacher, or speak in dealt games."""
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    """Of the random orders of trials and cards."""

    @property
    def digest(self) -> str:
        """Which plan it is, whatever its file is called."""
        return sha256(self.model_dump_json().encode()).hexdigest()[:16]


def read_plan(path: Path) -> Plan:
    """The plan in a JSON file, or an error of one sentence."""
    try:
        plan = Plan.model_validate(parse_json(read_text(path, MAX_PLAN_BYTES)))
        check_plan(plan)
    except ValidationError as error:
        raise ValueError(f"{path}: {describe_error(error)}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return plan


def parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("It is nested too deeply to be a plan: look for stray brackets.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"Line {error.lineno} is not JSON ({error.msg}): correct it there.") from None
    except ValueError:
        raise ValueError("It holds a number that is too long: write a shorter one.") from None


def describe_error(error: ValidationError) -> str:
    """Where the first mistake is and what it is, as one sentence."""
    first = error.errors()[0]
    kinds = ("Trial", "Item")
    steps = [part + 1 if isinstance(part, int) else part for part in first["loc"] if part not in kinds]
    where = " ".join(str(part) for part in steps)[:120] or "the plan"
    where = where if where.isprintable() else ascii(where)
    if first["type"] == "extra_forbidden":
        return f"{where} is not a field of a plan: look for a typing mistake, or leave it out."
    if first["type"] == "missing":
        return f"{where} is missing: add it."
    return f"{where} is wrong: {str(first['msg'])[:1].lower()}{str(first['msg'])[1:200]}."


def all_trials(block: Block) -> Iterator[tuple[str, Trial]]:
    """Every trial of a block in every version, and how to call it."""
    for i, one in enumerate(block.trials or (), 1):
        versions = one.versions if isinstance(one, Item) else {"": one}
        for condition, trial in versions.items():
            name = one.id or f"trial {i}"
            yield f"{name}{' in condition ' if condition else ''}{condition} of block {block.name}", trial
    for name, trials in (block.lists or {}).items():
        for i, trial in enumerate(trials, 1):
            yield f"{trial.id or f'trial {i}'} in list {name} of block {block.name}", trial


def check_plan(plan: Plan) -> None:
    """Raise an error where parts of a plan do not fit each other."""
    for text in shown_texts(plan.model_dump()):
        if not printable(text.replace("\n", "")):
            raise ValueError(f"{text!a:.40} holds characters that cannot be printed: remove them.")
    names = [block.name for block in plan.blocks]
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise ValueError(f"two blocks are called {repeated[0]!r}: give each a name of its own.")
    if PRACTICE in names:
        raise ValueError(f"{PRACTICE!r} is the block before the first: call your block something else.")
    for question in plan.comprehension:
        if question.correct > len(question.answers):
            raise ValueError(f"{question.question!r:.60} has no answer {question.correct}: count them from 1.")
    if plan.completion.code is None and plan.completion.url is None:
        raise ValueError("completion has neither a code nor a url: participants need one at the end.")
    for block in plan.blocks:
        check_block(block)
    for i, trial in enumerate(plan.practice, 1):
        check_trial(f"practice trial {i}", trial, plan.blocks[0].role, plan.blocks[0].words)


def shown_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from shown_texts(one)


def check_block(block: Block) -> None:
    if (block.trials is None) == (block.lists is None):
        raise ValueError(f"block {block.name!r} needs either trials or lists: give one of them.")
    items = [one for one in block.trials or () if isinstance(one, Item)]
    if items and any(tuple(item.versions) != tuple(items[0].versions) for item in items):
        raise ValueError(f"items of block {block.name!r} differ in their conditions: give each the same, in one order.")
    if block.lists is not None and any(not 1 <= len(trials) <= MAX_TRIALS for trials in block.lists.values()):
        raise ValueError(f"a list of block {block.name!r} is empty or has more than {MAX_TRIALS} trials: change it.")
    for name, trial in all_trials(block):
        check_trial(name, trial, block.role, block.words)
    for trials in (block.lists or {"": [one for one in block.trials or () if isinstance(one, Trial)]}).values():
        dealt = Counter((one.game, one.seed) for one in trials if one.game is not None)
        if dealt and max(dealt.values()) > 1:
            game, seed = dealt.most_common(1)[0][0]
            raise ValueError(f"block {block.name!r} deals {game} with seed {seed} twice: use each seed once.")


def check_trial(name: str, trial: Trial, role: Role, block_words: Sequence[str] | None) -> None:
    """Raise an error for a trial that cannot be played."""
    if trial.game is not None or trial.seed is not None:
        given = [
            field for field in ("objects", "target", "word", "words", "check") if getattr(trial, field) is not None
        ]
        if trial.game not in playable_games():
            raise ValueError(f"{name} names no game of the page: choose one of {', '.join(playable_games())}.")
        if trial.seed is None:
            raise ValueError(f"{name} has a game without a seed: say which deal it is.")
        if given:
            raise ValueError(f"{name} has a game and {given[0]}: a dealt game brings its own, so leave one out.")
        return
    if trial.objects is None or trial.target is None:
        missing = "objects" if trial.objects is None else "target"
        raise ValueError(f"{name} has no {missing}: give objects and the target's number, or a game and a seed.")
    if trial.target > len(trial.objects):
        raise ValueError(f"{name} has no object {trial.target}: it has {len(trial.objects)}, counted from 1.")
    if trial.check is not None:
        if trial.word is not None:
            raise ValueError(f"{name} has both a check and a word: leave one out.")
        return
    words = trial.words or block_words
    if words is None:
        raise ValueError(f"{name} has no words: say in the trial or in its block which words can be said.")
    if repeated := [word for word, times in Counter(words).items() if times > 1]:
        raise ValueError(f"{name} has the word {repeated[0]!r} twice: name each once.")
    attributes = [one.split() for one in trial.objects]
    if role == "teacher":
        if trial.word is not None:
            raise ValueError(f"{name} gives a word, but in this block participants choose it: leave it out.")
        if not any(word in attributes[trial.target - 1] for word in words):
            raise ValueError(f"{name} has no word that is true of its target: add one.")
        return
    if trial.word is None:
        raise ValueError(f"{name} has no word to hear: give one of {', '.join(words)}.")
    if trial.word not in words:
        raise ValueError(f"{name} has the word {trial.word!r}, which is not among its words {', '.join(words)}.")
    if trial.word not in attributes[trial.target - 1]:
        raise ValueError(f"{name} has the word {trial.word!r}, which is not true of its target: change one of them.")
