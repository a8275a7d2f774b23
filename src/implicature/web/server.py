"""`implicature play`: say where the page is, open it, and serve it until Ctrl-C."""

import ipaddress
import socket
import sys
import threading
import webbrowser
from pathlib import Path

from rich.console import Console

from implicature.explain.model import short

PORT = 8642


def loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening(host: str, port: int) -> socket.socket:
    """The socket, taken before anything that takes longer."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=256)
    except (OSError, UnicodeError) as problem:
        reason = str(problem.strerror).split(" (")[0] if isinstance(problem, OSError) else "no name of a computer"
        why = f"{short(host)}, port {port}, cannot be used ({reason})"
        raise ValueError(f"{why}: choose another with --port or --host.") from None


def play(
    run: Path | None, host: str, port: int, browser: bool, record: Path | None, consent: str | None,
    teacher: str | None = None, student: str | None = None,
) -> None:  # fmt: skip
    try:
        import uvicorn

        from implicature.web.app import CONSENT, new_app
    except ImportError as missing:
        raise ValueError(
            f"The page needs {missing.name or 'FastAPI and uvicorn'}: install it with  pip install 'implicature[play]'"
        ) from None
    from implicature.evaluation.matchup import named
    from implicature.evaluation.matchup_args import Sides
    from implicature.web.security import LOOPBACK
    from implicature.web.storage import Study

    if not host.strip():
        raise ValueError("--host without a name would be every network: say 0.0.0.0 if that is meant.")
    if not 0 <= port < 65536:
        raise ValueError(f"{port} is not a port: choose one from 1 to 65535, or 0 for any that is free.")
    if consent is not None and record is None:
        raise ValueError("--consent is what people agree to when they are recorded: say where with --record.")
    asked = Sides(None if run is None else str(run), teacher, student)
    both = None if teacher is None and student is None else named(asked)
    sock = listening(host, port)
    study = None if record is None else Study(record)
    local = loopback(host)
    app = new_app(run, study, consent or CONSENT, LOOPBACK | {host} if local else None, both)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if not local:
        console.print(
            f"Anyone who can reach {short(host)} on the network can open this page and play; nothing is encrypted and "
            "nobody is asked for a password. Leave out --host to keep it to this computer.",
            style="yellow", markup=False,
        )  # fmt: skip
    if record is not None:
        console.print(f"Recording into {record}. A participant's link ends in ?participant=CODE", markup=False)
    settings = uvicorn.Config(
        app, log_level="warning", limit_concurrency=1000, timeout_keep_alive=15, ws="none",
        server_header=False, h11_max_incomplete_event_size=16_384, timeout_graceful_shutdown=3,
    )  # fmt: skip
    server = uvicorn.Server(settings)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{sock.getsockname()[1]}/"
    print(f"Play at {address}  (Ctrl-C ends it)", flush=True)
    threading.Thread(target=app.state.host.warm, daemon=True).start()
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    try:
        server.run(sockets=[sock])
    except KeyboardInterrupt:
        print("The page is closed.", file=sys.stderr)
    finally:
        sock.close()
        if study is not None:
            study.close()
