"""`implicature`: two agents learn to read between the lines.

A command's module imports what it needs when it runs, so that help needs neither JAX nor NumPy.
"""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from io import TextIOWrapper

import tyro

from implicature import __version__
from implicature.cli.ask import ask
from implicature.cli.bench import bench
from implicature.cli.errors import UsageError, one_line, raise_usage_error, system_error
from implicature.cli.evaluate import evaluate
from implicature.cli.explain import explain
from implicature.cli.export import export
from implicature.cli.language import language
from implicature.cli.people import people
from implicature.cli.play import play
from implicature.cli.render import render
from implicature.cli.report import report
from implicature.cli.reproduce import reproduce
from implicature.cli.space import space
from implicature.cli.strangers import strangers
from implicature.cli.study import study
from implicature.cli.teach import teach
from implicature.cli.train import train, train_with_defaults
from implicature.cli.watch import watch
from implicature.compilation_cache import enable_compilation_cache

COMMANDS: dict[str, Callable[..., None]] = {
    "explain": explain,
    "space": space,
    "ask": ask,
    "train": train,
    "evaluate": evaluate,
    "strangers": strangers,
    "language": language,
    "export": export,
    "watch": watch,
    "teach": teach,
    "reproduce": reproduce,
    "report": report,
    "bench": bench,
    "render": render,
    "play": play,
    "study": study,
    "people": people,
}


def one_sentence_errors() -> AbstractContextManager[None]:
    """tyro's hook for parse errors; a version without it prints its own message and exits with code 2, too."""
    try:
        from tyro._errors import on_parse_error
    except ImportError:
        return nullcontext()
    return on_parse_error(raise_usage_error)


def parse(arguments: list[str]) -> Callable[[], None]:
    """The command that these arguments ask for, ready to run."""

    def ready(command: Callable[..., None]) -> Callable[..., Callable[[], None]]:
        return wraps(command)(lambda *given, **named: partial(command, *given, **named))

    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        raise UsageError(f"No command is called {arguments[0][:40]!r}; there are {', '.join(COMMANDS)}")
    commands = {**COMMANDS, "train": train_with_defaults(arguments)} if arguments[:1] == ["train"] else COMMANDS
    try:
        with one_sentence_errors():
            return tyro.extras.subcommand_cli_from_dict(
                {name: ready(command) for name, command in commands.items()},
                prog="implicature",
                description="Two agents learn to read between the lines.",
                args=arguments or ["--help"],
                config=(tyro.conf.OmitArgPrefixes,),
            )
    except AssertionError as error:  # of an unknown shell to complete commands in
        raise UsageError(str(error)) from None


def main() -> None:
    """Run one command; a mistake in the input is one sentence and exit code 2."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        print(__version__)
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file's name may hold what no encoding has
    enable_compilation_cache()
    try:
        parse(arguments)()
        return
    except UsageError as error:
        command = f"{arguments[0]} " if arguments[:1] and arguments[0] in COMMANDS else ""
        message = f"{error}: see `implicature {command}--help`."
    except ValueError as error:
        message = str(error)
    except BrokenPipeError:
        sys.stderr.close()
        return
    except OSError as error:
        message = system_error(error)
    except MemoryError:
        message = "This does not fit into memory: ask for less at once."
    except KeyboardInterrupt:
        print("\nimplicature: stopped.", file=sys.stderr)
        sys.exit(130)
    print(f"implicature: {one_line(message)}", file=sys.stderr)
    sys.exit(2)
