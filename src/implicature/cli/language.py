"""`implicature language`."""

from typing import Annotated

import tyro

from implicature.evaluation.matchup_args import MatchupArgs

TITLES = {
    "accuracy": "accuracy",
    "entropy": "entropy of messages, bits",
    "topographic_similarity": "topographic similarity",
    "purity": "purity",
    "context_independence": "context independence",
    "speaker_consistency": "speaker consistency",
    "coordination": "instantaneous coordination",
    "causal_influence": "causal influence of a message, bits",
}


def language(
    matchup: Annotated[MatchupArgs, tyro.conf.arg(name="")] = MatchupArgs(),  # noqa: B008
    json: bool = False,
) -> None:
    """Measure the language of a pair on test games: topographic similarity, mutual information and others.

    Args:
        matchup: Who plays.
        json: Print one JSON object instead.
    """
    import json as json_format

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from implicature.evaluation.language import measure_matchup
    from implicature.evaluation.matchup import load_matchup

    players = load_matchup(*matchup.players(), matchup)
    figures = measure_matchup(players)
    if json:
        print(json_format.dumps(figures))
        return
    permuted = figures["permuted"]
    table = Table("", "value", "permuted", title=escape(f"{players.title}, {figures['games']:,} test games"))
    for name, title in TITLES.items():
        most = f" of {figures['max_influence']:.2f}" if name == "causal_influence" else ""
        table.add_row(title, f"{figures[name]:.3f}{most}", f"{permuted[name]:.3f}" if name in permuted else "")
    for category, bits in figures["mutual_information"].items():
        chance = permuted["mutual_information"][category]
        table.add_row(f"mutual information with {escape(category)}, bits", f"{bits:.3f}", f"{chance:.3f}")
    Console().print(table)
