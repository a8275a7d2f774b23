"""What one participant goes through, step by step: a function of the plan and of the participant's number.

The order of blocks follows a balanced Latin square (Williams 1949): each block comes equally often at each place and,
with an even number of blocks, equally often after each other one; with an odd number, over twice as many participants.
Conditions of items follow a cyclic Latin square: participant n gets condition (item + n) mod conditions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from implicature.web.decisions import PRACTICE
from implicature.web.study.plan import Block, Item, Plan, Role, Trial

Kind = Literal["text", "comprehension", "trial", "end"]


@dataclass(frozen=True, eq=False)
class Step:
    """One screen."""

    kind: Kind
    text: str = ""
    trial: Trial | None = None
    number: int = 0
    """Of the trial, from 1, practice included."""
    block: str = ""
    role: Role = "student"
    words: tuple[str, ...] = ()
    condition: str = ""
    feedback: bool = False
    card_seed: int = 0
    """What the order of the cards is drawn from."""


def williams(n: int) -> list[list[int]]:
    """Rows of a balanced Latin square: n of them, or 2n where n is odd."""
    first, low, high = [0], 1, n - 1
    while low <= high:
        first += [low] if low == high else [low, high]
        low, high = low + 1, high - 1
    rows = [[(place + row) % n for place in first] for row in range(n)]
    return rows if n % 2 == 0 else rows + [row[::-1] for row in rows]


def block_orders(plan: Plan) -> list[list[int]]:
    """The orders of blocks that participants get in turn."""
    n = len(plan.blocks)
    return williams(n) if plan.block_order == "latin-square" else [list(range(n))]


def lists_of(block: Block) -> int:
    """How many participants it takes until a block has come with each list, or each item in each condition."""
    if block.lists is not None:
        return len(block.lists)
    return next((len(one.versions) for one in block.trials or () if isinstance(one, Item)), 1)


def select_trials(block: Block, turn: int) -> list[tuple[Trial, str, str]]:
    """The trials of a participant with their conditions and names, before they are shuffled."""
    if block.lists is not None:
        name = list(block.lists)[turn % len(block.lists)]
        return [(one, one.condition, one.id or f"{name}-{i}") for i, one in enumerate(block.lists[name], 1)]
    chosen, items = [], 0
    for i, one in enumerate(block.trials or (), 1):
        if isinstance(one, Item):
            conditions = list(one.versions)
            condition = conditions[(items + turn) % len(conditions)]
            chosen.append((one.versions[condition], condition, one.id))
            items += 1
        else:
            chosen.append((one, one.condition, one.id or f"{block.name}-{i}"))
    return chosen


def steps_of(plan: Plan, participant: int) -> list[Step]:
    """All screens after the consent, for the participant of this number, from 0."""
    steps = [Step("text", text) for text in plan.instructions]
    if plan.comprehension:
        steps.append(Step("comprehension"))
    number, orders = 0, block_orders(plan)

    def trial_steps(block: Block, name: str, chosen: Sequence[tuple[Trial, str, str]], feedback: bool) -> list[Step]:
        nonlocal number
        made = []
        for trial, condition, identity in chosen:
            number += 1
            words = tuple(trial.words or block.words or ())
            named = trial if trial.id is not None else trial.model_copy(update={"id": identity})
            seed = 10_000 * participant + number
            made.append(Step("trial", "", named, number, name, block.role, words, condition, feedback, seed))
        return made

    first = plan.blocks[0]
    practice = [(trial, trial.condition, f"practice-{i}") for i, trial in enumerate(plan.practice, 1)]
    steps += trial_steps(first, PRACTICE, practice, True)
    for place in orders[participant % len(orders)]:
        block = plan.blocks[place]
        chosen = select_trials(block, participant // len(orders))
        if block.order == "random":
            shuffled = np.random.default_rng([plan.seed, participant, place]).permutation(len(chosen))
            chosen = [chosen[i] for i in shuffled]
        if block.instructions is not None:
            steps.append(Step("text", block.instructions))
        steps += trial_steps(block, block.name, chosen, block.feedback)
    return [*steps, Step("end", plan.debriefing)]
