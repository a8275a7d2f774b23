"""`implicature export`."""

from pathlib import Path
from typing import Annotated

import tyro

from implicature.evaluation.matchup_args import MatchupArgs


def export(
    out: Path,
    matchup: Annotated[MatchupArgs, tyro.conf.arg(name="")] = MatchupArgs(),  # noqa: B008
) -> None:
    """Write the dialogues of a pair on test games to a file, one row a round; or in EGG's layout, one a game.

    Args:
        out: The file: .csv or .parquet (tidy tables), .txt or .safetensors (what EGG's tools read).
        matchup: Who plays.
    """
    from rich.console import Console

    from implicature.evaluation.export import check_export, write_dialogues
    from implicature.evaluation.matchup import load_matchup

    check_export(out)
    games = write_dialogues(out, load_matchup(*matchup.players(), matchup))
    Console().print(f"{games:,} games in {out}", highlight=False, markup=False)
