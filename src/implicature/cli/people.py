"""`implicature people`: how well any player predicts what people answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

if TYPE_CHECKING:
    from implicature.evaluation.human.items import DataSet
    from implicature.evaluation.human.scores import Score

DATA = ("frank-goodman-2012", "pragmods", "qing-franke-2015", "franke-degen-2016")
FORMATS = (".png", ".pdf", ".svg")


def people(
    players: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[PLAYER …]")] = (),
    data: tuple[str, ...] = DATA,
    phase: int | None = None,
    halves: int = 20,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    csv: Path | None = None,
    template: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    json: bool = False,
) -> None:
    """Compare players with what people answered in published reference games, or in your own:

    implicature people literal exact:depth=1,utility=log mixture:depths=0+1+2 runs/mine@1 --data franke-degen-2016

    Without a player, list the data sets. Players are literal, exact:depth=1,utility=log,alpha=1,
    mixture:depths=0+1+2, a run's folder (RUN@1 after phase 1; RUN@0+1, where each person is like one of the two phases;
    RUN:1 its pair 1), module:object, or a CSV file of predictions. Rationality (beta, alpha), the proportions of a
    mixture (unless weights=equal) and the lapse rate are fitted unless they are given; a run's, your own or a file's
    predictions have only a lapse rate.

    Args:
        players: Who is compared with people.
        data: Data sets, by name (with -listeners or -speakers for a part), or CSV files of your own (docs/people.md).
        phase: Runs as they were after this phase; by default the last.
        halves: How many random halves of the people are fitted, each judged on the other half.
        out: Draw predicted against observed, cell by cell: a .png, .pdf or .svg file.
        csv: A folder for tables: cells.csv, and of mixtures posteriors.csv, a row for each person and depth.
        template: Write all items to this CSV file, with a column of probabilities to fill in, and stop.
        json: Print one JSON object instead.
    """
    from json import dumps

    from implicature.evaluation.human.models import load_model
    from implicature.evaluation.human.reading import load_data
    from implicature.evaluation.human.scores import score, summarize
    from implicature.files import check_file, check_folder

    if not 1 <= halves <= 1000:
        raise ValueError(f"{halves} halves: ask for 1 to 1,000.")
    for path, option in ((out, "--out"), (template, "--template")):
        if path is not None:
            check_file(path, option)
    if out is not None and out.suffix.lower() not in FORMATS:
        raise ValueError(f"{out} is not an image: name a file that ends in {', '.join(FORMATS)} with --out.")
    if csv is not None:
        check_folder(csv, "--csv")
    models = [(name, load_model(name, phase)) for name in players]
    sets = [load_data(name) for name in data]
    if template is not None:
        return write_template(template, sets)
    if not players:
        return print_data(sets, json)
    results: dict[str, dict[str, list[Score]]] = {}
    for (name, model), one in progress([(model, one) for model in models for one in sets], quiet=json):
        results.setdefault(name, {})[one.name] = [score(model, part, halves) for part in one.parts]
    figures = {
        name: {data: summarize(scores, halves) for data, scores in by_data.items()} for name, by_data in results.items()
    }
    if csv is not None:
        write_tables(csv, results)
    if out is not None:
        from implicature.evaluation.human.figure import draw_cells

        panels = [(name, data, scores) for name, by_data in results.items() for data, scores in by_data.items()]
        draw_cells(panels).savefig(out, dpi=200)
    if json:
        each = [{"player": name, "data": by_data} for name, by_data in figures.items()]
        print(dumps(each[0] if len(each) == 1 else {"players": each}))
        return None
    print_figures(figures, halves)
    if out is not None:
        print(f"The figure is {out}")
    return None


def progress(work: list[Any], quiet: bool) -> Any:
    from rich.console import Console
    from rich.progress import track

    return track(work, "Comparing …", console=Console(stderr=True), transient=True, disable=quiet)


def print_data(sets: "list[DataSet]", as_json: bool) -> None:
    """The data sets, with what chance and the saturated model reach."""
    from json import dumps

    from implicature.cli.reproduce import print_table
    from implicature.evaluation.human.scores import chance, saturated
    from implicature.experiments.table import Number, Row, Table

    rows, figures = [], {}
    for one in sets:
        for part in one.parts:
            limits = chance(part), saturated(part, 1).per_decision
            cells = int(part.cells.max()) + 1
            rows.append(
                Row(part.name, [one.citation, one.licence, len(part.people), round(part.decisions), cells,
                                *(Number(x, 3) for x in limits)])
            )  # fmt: skip
            figures[part.name] = {
                "citation": one.citation, "licence": one.licence, "people": len(part.people),
                "decisions": part.decisions, "cells": cells, "chance": limits[0], "saturated": limits[1],
            }  # fmt: skip
    if as_json:
        print(dumps({"data": figures}))
        return
    print_table(Table("data", ["source", "licence", "people", "decisions", "cells", "chance", "saturated"], rows))


def print_figures(figures: dict[str, dict[str, Any]], halves: int) -> None:
    from implicature.cli.reproduce import print_table
    from implicature.experiments.table import MISSING, MeanStd, Number, Row, Table

    def number(value: float | None, digits: int = 3) -> Number | Any:
        return MISSING if value is None else Number(value, digits)

    parts: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name, by_data in figures.items():
        for data, whole in by_data.items():
            for role, part in whole.get("parts", {"": whole}).items():
                parts.setdefault(f"{data}, {role}" if role else data, []).append((name, part))
    columns = ["k", "log L", f"held out, {halves} halves", "r", "calibration error", "AIC", "BIC", "β or α", "lapse"]
    for title, rows in parts.items():
        first = rows[0][1]
        shown = [Row("chance", [0, Number(first["chance"], 3), *[""] * 7])]
        for name, one in rows:
            spread = MISSING if one["held_out"] is None else MeanStd(one["held_out"], one["held_out_std"], 3)
            shown.append(
                Row(name, [one["parameters"], number(one["log_likelihood"]), spread, number(one["r"]),
                           number(one["calibration_error"]), number(one["aic"], 1), number(one["bic"], 1),
                           number(one["rationality"], 2), number(one["lapse"], 2)])
            )  # fmt: skip
        limit = number(first["saturated"]), number(first["saturated_held_out"])
        shown.append(Row("saturated", ["", *limit, *[""] * 6]))
        print_table(Table(f"{title}, {first['cells']} cells, {first['decisions']:.0f} decisions", columns, shown))


def write_template(path: Path, sets: "list[DataSet]") -> None:
    """All items, for predictions made elsewhere."""
    from implicature.files import format_csv, write_atomic

    header = ("data", "item", "role", "context", "words", "word", "target", "prior", "answers", "probabilities")
    rows = []
    for one in sets:
        for part in one.parts:
            for item in part.items:
                given = (item.words[item.given], "") if item.role == "listener" else ("", item.given + 1)
                prior, answers = "; ".join(f"{p:.4f}" for p in item.prior), "; ".join(item.labels())
                words = ",".join(item.words)
                rows.append([part.name, item.name, item.role, item.context(), words, *given, prior, answers, ""])
    write_atomic(path, format_csv(header, rows))
    print(f"{len(rows)} items are in {path}: write a probability for each answer, separated by semicolons.")


def write_tables(folder: Path, results: "dict[str, dict[str, list[Score]]]") -> None:
    from implicature.evaluation.human.fitting import posterior
    from implicature.evaluation.human.scores import frequencies
    from implicature.files import format_csv, write_atomic

    folder.mkdir(parents=True, exist_ok=True)
    cells, kinds = [], []
    for name, by_data in results.items():
        for score in (one for scores in by_data.values() for one in scores):
            part, observed, predicted = score.answers, frequencies(score.answers), score.fit.population
            for i, item in enumerate(part.items):
                for j, label in enumerate(item.labels()):
                    number = part.totals[i].sum()
                    row = [name, part.name, item.name, item.context(), label, int(part.cells[i, j])]
                    cells.append([*row, round(predicted[i, j], 5), round(observed[i, j], 5), round(number, 2)])
            if len(score.fit.proportions) > 1:
                for k, row in enumerate(posterior(score.fit, part.weights)):
                    kinds += [[name, part.name, who, k, round(p, 5)] for who, p in zip(part.people, row, strict=True)]
    header = ("player", "data", "item", "context", "answer", "cell", "predicted", "observed", "decisions")
    write_atomic(folder / "cells.csv", format_csv(header, cells))
    if kinds:
        header = ("player", "data", "person", "component", "probability")
        write_atomic(folder / "posteriors.csv", format_csv(header, kinds))
