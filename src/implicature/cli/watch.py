"""`implicature watch`."""

from pathlib import Path

import tyro


def watch(run: tyro.conf.Positional[Path], games: int = 10_000, out: Path | None = None) -> None:
    """Plot a run: accuracy by level after each phase, reward and losses over time.

    Args:
        run: The run's folder.
        games: Test games for the accuracy after each phase.
        out: The PNG file; by default watch.png in the run's folder.
    """
    from implicature.cli.training.plot import plot_run

    plot_run(run, games, out)
