"""`implicature language`: what a pair's words tell."""

import json as json_format
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from implicature.evaluation.language import language as measures
from implicature.evaluation.matchup import Meeting, own_words

TOLD = {
    "accuracy": "targets found",
    "entropy": "entropy of messages, bits",
    "topographic_similarity": "topographic similarity",
    "purity": "purity",
    "context_independence": "context independence",
    "speaker_consistency": "speaker consistency",
    "coordination": "instantaneous coordination",
    "causal_influence": "causal influence of a message, bits",
}


def measured(meeting: Meeting) -> dict[str, Any]:
    """The measures of a pair; of several their means, and each."""
    setting = meeting.setting
    with own_words():
        each = [
            measures(*pair, meeting.sights(*pair), setting.space, meeting.games, meeting.rules)
            for pair in meeting.pairs
        ]
    figures: dict[str, Any] = jax.tree.map(lambda *values: float(np.mean(values)), *each)
    figures["games"] = each[0]["games"]
    several = {"pairs": len(each), "each": each} if len(each) > 1 else {}
    return {**figures, **several}


def language(meeting: Meeting, json: bool) -> None:
    figures = measured(meeting)
    if json:
        print(json_format.dumps(figures))
        return
    chance = figures["by_chance"]
    table = Table("", "value", "by chance", title=escape(f"{meeting.title}, {figures['games']:,} test games"))
    for name, title in TOLD.items():
        most = f" of {figures['most_influence']:.2f}" if name == "causal_influence" else ""
        table.add_row(title, f"{figures[name]:.3f}{most}", f"{chance[name]:.3f}" if name in chance else "")
    for kind, bits in figures["mutual_information"].items():
        by_chance = chance["mutual_information"][kind]
        table.add_row(f"tells of {escape(kind)}, bits", f"{bits:.3f}", f"{by_chance:.3f}")
    Console().print(table)
