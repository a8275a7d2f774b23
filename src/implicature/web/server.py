"""The web server of `implicature play`: print the page's address, open it in a browser, serve it until Ctrl-C."""

import ipaddress
import os
import signal
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import uvicorn
from rich.console import Console

from implicature.games.parsing import quote
from implicature.web.app import CONSENT, create_app
from implicature.web.connections import BoundedProtocol
from implicature.web.security import LOOPBACK_HOSTS
from implicature.web.storage import Study
from implicature.web.study.order import block_orders, lists_of, steps_of
from implicature.web.study.plan import Plan

BACKLOG = 128


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_socket(host: str, port: int) -> socket.socket:
    """The listening socket, opened before anything that takes longer."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = str(error.strerror).split(" (")[0] if isinstance(error, OSError) else "not a host name"
        raise ValueError(
            f"{quote(host)}, port {port}, cannot be used ({reason}): choose another with --port or --host."
        ) from None


def serve(
    run: Path | None,
    players: tuple[str, str] | None,
    *,
    host: str,
    port: int,
    browser: bool,
    record: Path | None,
    consent: str | None,
    plan: Plan | None = None,
    page: str = "",
) -> None:
    """Serve the page until Ctrl-C, SIGTERM or the end of the terminal. `players` are a teacher and a student by name,
    `record` is the study file, which then is whole without others beside it, `plan` what it is locked to, `page` what
    is opened."""
    sock = open_socket(host, port)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    study = precompiling = None
    try:
        study = None if record is None else Study(record)
        local = is_loopback(host)
        hosts = LOOPBACK_HOSTS | {host} if local else None
        app = create_app(run, players, study, consent or CONSENT, hosts, plan)
        if not local:
            console.print(
                f"Anyone who can reach {quote(host)} on the network can open this page and play; nothing is encrypted "
                "and there is no password. Leave out --host to keep it to this computer.",
                style="yellow", markup=False,
            )  # fmt: skip
        if record is not None:
            console.print(f"Recording into {record}. A participant's link ends in ?participant=CODE", markup=False)
        if plan is not None:
            cycle = len(block_orders(plan)) * max(map(lists_of, plan.blocks))
            console.print(
                f"Study: {plan.title} ({len(steps_of(plan, 0))} screens; orders and lists repeat after {cycle} "
                "participants). On Prolific, PROLIFIC_PID, STUDY_ID and SESSION_ID in the link are kept.",
                markup=False,
            )
        config = uvicorn.Config(
            app, http=BoundedProtocol, log_level="warning", limit_concurrency=1000, timeout_keep_alive=15, ws="none",
            server_header=False, h11_max_incomplete_event_size=16_384, timeout_graceful_shutdown=3, backlog=BACKLOG,
        )  # fmt: skip
        server = uvicorn.Server(config)
        end_on_signals(server)
        url = f"http://{f'[{host}]' if ':' in host else host}:{sock.getsockname()[1]}/{page}"
        print(f"Play at {url}  (Ctrl-C ends it)", flush=True)
        precompiling = threading.Thread(target=app.state.sessions.precompile, daemon=True)
        precompiling.start()
        if browser:
            threading.Timer(0.5, webbrowser.open, [url]).start()
        server.run(sockets=[sock])
    except KeyboardInterrupt:
        print("The page is closed.", file=sys.stderr)
    finally:
        sock.close()
        if study is not None and not study.close():
            console.print(f"Another program is using {record}: copy {record}-wal together with it.", markup=False)
    if precompiling is not None and precompiling.is_alive():
        # A compilation cannot be interrupted, and the interpreter would abort in the middle of it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def end_on_signals(server: uvicorn.Server) -> None:
    """End as after Ctrl-C: uvicorn sends itself the signal again when it has ended, and SIGTERM would then end the
    process before the study is closed. The end of a terminal (SIGHUP) it does not know."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, server.handle_exit)
