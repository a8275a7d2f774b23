"""`implicature play`: a page to play with the agents."""

from pathlib import Path

import tyro

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
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ValueError(f"The page needs {error.name}: pip install 'implicature[play]'.") from None
    if not host.strip():
        raise ValueError("An empty --host would be every network: say 0.0.0.0 if that is meant.")
    if not 0 <= port < 65536:
        raise ValueError(f"{port} is not a port: choose one from 1 to 65535, or 0 for any that is free.")
    if consent is not None and record is None:
        raise ValueError("--consent is what people agree to when they are recorded: say where with --record.")
    from implicature.evaluation.matchup_args import MatchupArgs
    from implicature.web.server import serve

    players = None
    if teacher is not None or student is not None:
        players = MatchupArgs(None if run is None else str(run), teacher, student).players()
    serve(run, players, host=host, port=port, browser=browser, record=record, consent=consent)
