"""`implicature play`: a page to play with the agents."""

from pathlib import Path
from typing import Literal

import tyro

APPOINTMENT = "appointment"
DEFAULT_PORT = 8642


def play(
    run: tyro.conf.Positional[Path | None] = None,
    teacher: str | None = None,
    student: str | None = None,
    port: int = DEFAULT_PORT,
    browser: bool = True,
    host: str = "127.0.0.1",
    record: Path | None = None,
    consent: str | None = None,
    study: Path | None = None,
    export: Path | None = None,
    address: str | None = None,
    game: Literal["referential", "appointment"] = "referential",
) -> None:
    """Open a page to play with the agents and see what they believe. Without a run: exact agents and a small pair.

    Args:
        run: A run's folder, to play with the pair trained in it.
        teacher: Another teacher: a run's folder, "exact", "literal", or module:object, an agent of your own.
        student: Another student, likewise.
        port: The page's port; 0 for any that is free.
        browser: Open the page in a browser.
        host: The network address to listen on; by default only this computer can open the page.
        record: Record the decisions of people who agree to it in this SQLite file, for `implicature study`.
        consent: What they agree to, instead of the default text.
        study: Run the study that this JSON file plans, and nothing else: consent, instructions, comprehension check,
            practice, blocks of trials, debriefing (docs/studies.md). It records into --record, by default a file with
            the plan's name that ends in .sqlite.
        export: Write the page as static files into this folder instead of serving it. Any web host can serve them:
            exact players and the small pair play in the browser; runs, own agents and recording need the server.
        address: Where the exported folder will be served (https://…), for previews of links to it.
        game: The page to open: referential games, or the appointment game against an exact or a literal partner.
    """
    if game == APPOINTMENT:
        others = {"A run": run, "--teacher": teacher, "--student": student, "--record": record, "--study": study}
        if given := [name for name, value in others.items() if value is not None]:
            raise ValueError(
                f"{given[0]} has no effect in the appointment game, whose page has exact and literal partners: leave "
                "it out. Its runs are for  implicature evaluate."
            )
    if export is not None:
        needs_server = {"run": run, "teacher": teacher, "student": student, "record": record, "study": study}
        write_page(export, address, needs_server)
        return
    if address is not None:
        raise ValueError("--address belongs to an exported page: say where with --export.")
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ValueError(f"The page needs {error.name}: pip install 'implicature[play]'.") from None
    if not host.strip():
        raise ValueError("An empty --host would be every network: say 0.0.0.0 if that is meant.")
    if not 0 <= port < 65536:
        raise ValueError(f"{port} is not a port: choose one from 1 to 65535, or 0 for any that is free.")
    if study is not None:
        given = {"a run": run, "--teacher": teacher, "--student": student, "--consent": consent}
        if extra := [name for name, value in given.items() if value is not None]:
            raise ValueError(f"--study plans all that participants see, so {extra[0]} has no effect: leave it out.")
        from implicature.web.study.plan import read_plan

        plan, record = read_plan(study), record or Path(f"{study.stem}.sqlite")
    else:
        plan = None
    if consent is not None and record is None:
        raise ValueError("--consent is what people agree to when they are recorded: say where with --record.")
    from implicature.evaluation.matchup_args import MatchupArgs
    from implicature.web.server import serve

    players = None
    if teacher is not None or student is not None:
        players = MatchupArgs(None if run is None else str(run), teacher, student).players()
    page = "appointment.html" if game == APPOINTMENT else ""
    serve(run, players, host=host, port=port, browser=browser, record=record, consent=consent, plan=plan, page=page)


def write_page(folder: Path, address: str | None, needs_server: dict[str, object]) -> None:
    """Write the static page and say where it is."""
    if given := [name for name, value in needs_server.items() if value is not None]:
        name = "A run" if given[0] == "run" else f"--{given[0]}"
        raise ValueError(
            f"{name} needs the server, and an exported page has none: leave it out, or leave out --export."
        )
    from implicature.web.site import export_site

    size = export_site(folder, address)
    print(f"{folder / 'index.html'}: {size / 1000:,.0f} kB. Try it with: python -m http.server -d {folder}")
