"""`implicature study`: participants' decisions as tidy tables, and their rationality and depth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from implicature.files import format_csv, write_atomic
from implicature.web.decisions import Decision
from implicature.web.storage import read_decisions
from implicature.web.study.participants import read_participants

COLUMNS = (
    "time", "participant", "session", "role", "game", "seed", "target", "max_rounds", "agent", "version", "variant",
    "round", "answer", "correct", "reaction_time_ms", "trial", "block", "condition", "thoughts_open", "literal_score",
    "exact_score", "focus_lost", "viewport", "skips",
)  # fmt: skip


def study(
    file: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="[FILE]")] = None,
    csv: Path | None = None,
    condition: tuple[str, ...] = (),
    power: bool = False,
    game: tuple[str, ...] = ("numbers-7",),
    role: Literal["student", "teacher", "both"] = "student",
    trials: tuple[int, ...] = (60,),
    people: int = 100,
    beta: float = 10.0,
    lapse: float = 0.05,
    all_games: bool = False,
    out: Annotated[Path | None, tyro.conf.arg(metavar="CSV")] = None,
    json: bool = False,
) -> None:
    """Fit how each participant decides to what `implicature play --record` kept, and export it all:

    implicature study study.sqlite --csv out/

    Each participant is compared with random choices, a literal player and players of depth 1 to 4, each with a lapse
    rate, by AIC, BIC and a likelihood-ratio test against chance; a hierarchical fit stands beside. With --power no file
    is needed: simulated participants say how often they would be recognised.

    implicature study --power --game numbers-7 --trials 20 60

    Args:
        file: The SQLite file.
        csv: A folder for tidy tables: decisions, beliefs, values, participants, and a codebook of all columns; of a
            study by a plan also sessions and events.
        condition: Fit only trials of these conditions.
        power: Simulate participants instead: how often is each kind called what it is?
        game: Games of the simulation.
        role: Role of the simulated participants.
        trials: Decisions of each simulated participant.
        people: Simulated participants of each kind.
        beta: Their rationality.
        lapse: Their lapse rate.
        all_games: Simulate games of all kinds, not only pragmatic ones.
        out: Add the results of the simulation to this CSV file.
        json: Print one JSON object instead.
    """
    from json import dumps

    if power:
        return simulate(file, game, role, trials, people, beta, lapse, not all_games, out, json)
    if file is None:
        raise ValueError("Which study? Name its file, or simulate participants with --power.")

    from implicature.web.analysis import fit_participants

    decisions, skipped = read_decisions(file)
    sessions, events = read_participants(file)
    known = sorted({one.condition for one in decisions if one.condition is not None})
    if unknown := [name for name in condition if name not in known]:
        choices = f"choose among {', '.join(known)}" if known else "it has none, so leave --condition out"
        raise ValueError(f"No trial of {file} has the condition {unknown[0]!r:.40}: {choices}.")
    fits = fit_participants([one for one in decisions if not condition or one.condition in condition], quiet=json)
    if csv is not None:
        write_tables(decisions, fits, csv, sessions, events)
    if json:
        told = {"decisions": len(decisions), "skipped_rows": skipped, "participants": fits}
        print(dumps({**told, **({"sessions": sessions} if sessions else {})}))
    else:
        print_fits(len(decisions), skipped, fits, csv)
        print_sessions(sessions)
    return None


def print_sessions(sessions: list[dict[str, Any]]) -> None:
    """How far the participants of a plan have come, and who did not pay attention."""
    if not sessions:
        return
    numbers = {name: sum(one["status"] == name for one in sessions) for name in ("complete", "active", "failed")}
    print(
        f"{len(sessions)} participants: {numbers['complete']} complete, {numbers['active']} under way, "
        f"{numbers['failed']} failed the comprehension check."
    )
    if missed := [one["participant"] for one in sessions if one["checks_passed"] < one["checks"]]:
        print(f"Missed an attention check: {', '.join(missed[:20])}{', …' if len(missed) > 20 else ''}")


def simulate(
    file: Path | None, games: tuple[str, ...], role: str, trials: tuple[int, ...], people: int, beta: float,
    lapse: float, pragmatic_only: bool, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Power by simulation: a row for each game, role, number of decisions and kind of participant."""
    from json import dumps

    from rich.console import Console
    from rich.progress import track

    from implicature.cli.reproduce import print_table
    from implicature.experiments.beyond.recovery import KEY, render
    from implicature.experiments.results import command, merge_results, version
    from implicature.files import check_folder
    from implicature.web.dealing import playable_games
    from implicature.web.simulation import MAX_PEOPLE, MAX_TRIALS, deal_session, recovery

    known = playable_games()
    if file is not None:
        raise ValueError("--power simulates participants and reads no file: leave the file out.")
    if unknown := [name for name in games if name not in known]:
        raise ValueError(f"No game is called {unknown[0]!r:.40}: choose among {', '.join(known)}.")
    if not 1 <= people <= MAX_PEOPLE or not all(1 <= number <= MAX_TRIALS for number in trials):
        raise ValueError(f"Ask for 1 to {MAX_PEOPLE:,} --people and 1 to {MAX_TRIALS} --trials.")
    if not (0.25 <= beta <= 100 and 0 <= lapse <= 1):
        raise ValueError("--beta is from 0.25 to 100, --lapse from 0 to 1.")
    if out is not None:
        check_folder(out.parent, "--out")
    roles = ("student", "teacher") if role == "both" else (role,)
    work = [(name, one, number) for name in games for one in roles for number in trials]
    results = []
    for name, one, number in track(work, "Simulating …", console=Console(stderr=True), transient=True, disable=as_json):
        session = deal_session(known[name], one, number, pragmatic_only)
        for kind in ("random", "literal", "depth 1", "depth 2"):
            settings = {"game": name, "role": one, "kind": kind, "trials": number, "pragmatic_only": pragmatic_only}
            figures = recovery(session, kind, people, beta, lapse)
            made = {"people": people, "seed": 0, "version": version(), "command": command()}
            results.append({**settings, "beta": beta, "lapse": lapse, **figures, **made})
    if out is not None:
        merge_results(out, results, KEY)
    if as_json:
        print(dumps({"recovery": results}))
        return
    for table in render(results):
        print_table(table)


def write_tables(
    decisions: list[Decision], fits: list[dict[str, Any]], folder: Path, sessions: Sequence[dict[str, Any]] = (),
    events: Sequence[dict[str, Any]] = (),
) -> None:  # fmt: skip
    """decisions.csv, beliefs.csv (a row for each candidate), values.csv (a row for each word), participants.csv."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder} cannot be made into a folder ({error.strerror}): choose another --csv.") from None
    numbered = list(enumerate(decisions, 1))
    decision_rows = (
        [
            i, *(getattr(one, name) for name in COLUMNS), one.messages[-1], " ".join(one.messages),
            " | ".join(" ".join(names) for names in one.candidates),
        ]
        for i, one in numbered
    )  # fmt: skip
    belief_rows = (
        [i, c, " ".join(names), c == one.target, one.belief_before[c], one.belief_after[c], one.teacher_estimate[c]]
        for i, one in numbered
        for c, names in enumerate(one.candidates)
    )
    value_rows = (
        [i, word, value, word == one.messages[-1]]
        for i, one in numbered
        for word, value in zip(one.words, one.values, strict=True)
    )
    from implicature.web.codebook import EVENTS, SESSIONS, codebook_rows

    beliefs = ("belief_before", "belief_after", "teacher_estimate")
    tables = {
        "decisions": format_csv(["decision", *COLUMNS, "message", "messages", "candidates"], decision_rows),
        "beliefs": format_csv(["decision", "candidate", "attributes", "is_target", *beliefs], belief_rows),
        "values": format_csv(["decision", "message", "value", "sent"], value_rows),
        "codebook": format_csv(["table", "column", "unit", "meaning"], codebook_rows(bool(sessions))),
    }
    if sessions:
        tables["sessions"] = format_csv(SESSIONS, (row.values() for row in sessions))
        tables["events"] = format_csv(EVENTS, (row.values() for row in events))
    if fits:
        tables["participants"] = format_csv(fits[0], (row.values() for row in fits))
    for name, content in tables.items():
        write_atomic(folder / f"{name}.csv", content)


def format_interval(low: float | int | None, high: float | int | None, form: str) -> str:
    """Open where the data do not bound it."""
    return f"{'…' if low is None else format(low, form)} to {'…' if high is None else format(high, form)}"


def format_depth(fit: dict[str, Any]) -> str:
    """A depth with its interval; where that is open or wide, the interval alone."""
    low, high = fit["depth_low"], fit["depth_high"]
    if fit["depth"] is None:
        return "–"
    if high is None:
        return f"≥ {low}"
    return str(fit["depth"]) if low == high else f"{low} to {high}"


def print_fits(n_decisions: int, n_skipped: int, fits: list[dict[str, Any]], folder: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(title=f"{n_decisions} decisions")
    for name in (
        "participant",
        "role",
        "n",
        "correct",
        "best model",
        "depth, 95 %",
        "β, 95 %",
        "lapse, 95 %",
        "p",
        "ms",
    ):
        table.add_column(name, justify="left" if name in ("participant", "role", "model") else "right")
    for fit in fits:
        is_random = not fit["better_than_chance"]
        table.add_row(
            Text(fit["participant"]), fit["role"], str(fit["decisions"]),
            "–" if fit["accuracy"] is None else f"{100 * fit['accuracy']:.0f} %",
            "random" if is_random else "literal" if fit["depth"] == 0 else "reasons", format_depth(fit),
            "–" if fit["beta"] is None else format_interval(fit["beta_low"], fit["beta_high"], ".1f"),
            "–" if is_random else format_interval(fit["lapse_low"], fit["lapse_high"], ".2f"),
            f"{fit['p_chance']:.3f}", f"{fit['median_reaction_time_ms']:.0f}",
        )  # fmt: skip
    console.print(table)
    if unclear := sorted({fit["participant"] for fit in fits if not fit["better_than_chance"]}):
        names = ", ".join(unclear[:20]) + (", …" if len(unclear) > 20 else "")
        console.print(Text(f"Not better than chance (likelihood-ratio test, 1 %): {names}"))
    print_populations(console, fits)
    if n_skipped:
        rows = "1 row" if n_skipped == 1 else f"{n_skipped} rows"
        verb, what = ("was", "it holds no decision") if n_skipped == 1 else ("were", "they hold no decisions")
        console.print(Text(f"{rows} of {n_decisions + n_skipped} {verb} skipped: {what} that `play` would record."))
    if folder is not None:
        console.print(Text(f"Tables are in {folder}"))


def print_populations(console: Any, fits: list[dict[str, Any]]) -> None:
    """The hierarchical fit of each role with two participants or more."""
    for role in ("student", "teacher"):
        own = [fit for fit in fits if fit["role"] == role]
        if len(own) > 1:
            kinds = {name: p for name, p in own[0].items() if name.startswith("role_share_") and p >= 0.005}
            names = [name.removeprefix("role_share_").replace("_", " ") for name in kinds]
            shares = ", ".join(f"{name} {100 * p:.0f} %" for name, p in zip(names, kinds.values(), strict=True))
            beta, lapse = own[0]["role_beta"], own[0]["role_lapse"]
            console.print(
                f"Population of {len(own)} {role}s: {shares}; median β {beta:.1f}, median lapse rate {lapse:.2f}"
            )
