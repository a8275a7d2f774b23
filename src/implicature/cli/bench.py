"""`implicature bench`."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from implicature.cli.devices import use_all_cores


def bench(
    json: bool = False,
    curves: bool = False,
    peers: bool = False,
    plot: Annotated[Path | None, tyro.conf.arg(metavar="PNG")] = None,
    workers: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    seconds: float = 10.0,
    engine: Literal["local", "ray"] = "local",
    address: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT")] = None,
) -> None:
    """Measure how many games per second are played and trained on here. Let nothing else run meanwhile.

    Args:
        json: Print one JSON object instead.
        curves: Also measure the cost of a game by the number of candidates and of messages (some minutes).
        peers: Instead, measure others at the same work: memo's exact recursion, our training step in eager PyTorch and
            EGG's game, each where it is installed (pip install 'implicature[peers]').
        plot: Plot these curves to a PNG file.
        workers: Instead, measure the total throughput of up to N workers side by side, a core each.
        seconds: How long each of these is measured, for each half of a phase: they do not start at the same moment.
        engine: Where these are: processes on this machine, or an existing Ray cluster.
        address: The cluster's; by default the one that runs on this machine.
    """
    if workers is not None:
        from implicature.cli.benchmarks.scaling import print_scaling

        return print_scaling(workers, engine, address, json, seconds)
    use_all_cores()
    import json as json_format

    from rich.console import Console
    from rich.table import Table

    from implicature.cli.benchmarks.throughput import measure, measure_curves, plot_curves
    from implicature.files import check_png

    if plot is not None:
        check_png(plot, "--plot")
    if peers:
        return print_peers(json)
    figures = measure()
    by_size = measure_curves() if curves or plot else {}
    if plot:
        plot_curves(by_size, plot)
    if json:
        print(json_format.dumps({**figures, **({"microseconds_per_game": by_size} if by_size else {})}))
        return None
    table = Table("", "measured", title="numbers-4 on this machine")
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), f"{value:,}")
    for name, points in by_size.items():
        for size, cost in points.items():
            table.add_row(f"µs per game, {size} {name}", f"{cost:,}")
    Console().print(table)
    return None


def print_peers(as_json: bool) -> None:
    import json as json_format

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from implicature.cli.benchmarks.peers import NAMES, measure_peers

    figures = measure_peers()
    if as_json:
        print(json_format.dumps({"peers": figures}))
        return
    table = Table("numbers-4, games per second", "version", "theirs", "ours", "ours : theirs")
    for name, found in figures.items():
        if "missing" in found:
            table.add_row(NAMES[name], escape(f"not here ({found['missing']})"))
        else:
            rates = (f"{found[key]:,}" for key in ("games_per_second", "ours"))
            table.add_row(NAMES[name], found["version"], *rates, f"{found['ratio']:.1f}")
    Console().print(table)
