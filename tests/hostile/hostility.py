"""What hostile input is made of, how a case must end, and how many cases there are."""

import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from implicature.cli.main import main

CASES = {
    "lexica": 500, "marked columns": 300,
    "tables": 1_200, "documents": 700, "bytes of tables": 1_600, "images": 400, "names of images": 300,
    "bytes of checkpoints": 1_500, "headers of checkpoints": 500, "arrays of checkpoints": 200,
    "configs": 1_200, "old configs": 300, "bytes of configs": 500,
    "rows": 200, "plans": 200, "metrics": 1_200,
    "bytes of studies": 200, "decisions": 400, "study plans": 200,
    "options": 300, "words": 150, "candidates": 80,
}  # fmt: skip
"""How many cases of each kind."""
RAN: Counter[str] = Counter()
"""How many there were in this session."""
DEADLINE = 40
"""Seconds of processor time for one case, which may have to compile, and ten times as many by the clock."""

NASTY = [
    "", " ", "\t", "[red]", "[/red]", "[bold", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a,b", 'a"b',
    "a'b", "a\nb", "a\r\nb",
    "\ufeff", "\u202egnp.exe", "e\u0301", "ｆｕｌｌ", "🦄", "null", "None", "true",
    "0", "1", "-1", "1e308", "nan", "inf", "$x^{$",
    "../../etc/passwd", "/dev/zero", "~", "-", "--", "--help", "%s%n", "{0}", "${HOME}", "`id`", "con",
    "a" * 300, "\u2028",
    "name", "image", "picture", "NAME", "\U000e0001", "\\", "a;b", "=1+1", "\x7f",
]  # fmt: skip
"""Names that have broken programs."""
TEXT = st.sampled_from(NASTY) | st.text(max_size=12)
NUMBERS = st.sampled_from([
    0, 1, -1, 2, 3, 2**31, 2**63, 10**12, 10**30, -(10**30), 0.5, -0.5, 1e308, -1e308, 1e-320, float("nan"),
    float("inf"),
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
"""Any JSON value."""


class Hang(BaseException):
    """A case took too long."""


@contextmanager
def deadline(seconds: float = DEADLINE) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise Hang

    timers = {signal.ITIMER_PROF: (signal.SIGPROF, seconds), signal.ITIMER_REAL: (signal.SIGALRM, 10 * seconds)}
    before = {number: signal.signal(number, ring) for number, _ in timers.values()}
    for timer, (_, most) in timers.items():
        signal.setitimer(timer, most)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def fuzz(kind: str) -> settings:
    """Settings for as many examples as `CASES` says; `case` counts them. They may share a folder."""
    return settings(
        max_examples=CASES[kind],
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def assert_sentence(text: str) -> None:
    """One printable line that a person can read."""
    assert text.isprintable(), text
    assert text.endswith((".", "?")), text
    assert " " in text, text
    assert len(text) < 1_000, text
    assert not re.search(r"Traceback|object at 0x|<class |implicature\.\w+\.\w+Error", text), text


def case(kind: str, act: Callable[[], object]) -> str | None:
    """The case ends well, or in a ValueError of one sentence, which is returned."""
    RAN[kind] += 1
    try:
        with deadline():
            act()
    except ValueError as error:
        # Subclasses are not meant for people.
        return str(error) if type(error) is ValueError else repr(error)
    return None


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def command(folder: Path, *arguments: str) -> Ended:
    """What a command makes of these arguments in a folder: it ends well, or in one sentence with exit code 2."""
    out, err, code = StringIO(), StringIO(), 0
    argv, sys.argv = sys.argv, ["implicature", *arguments]
    try:
        with deadline(), chdir(folder), redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = argv
    ended = Ended(code, out.getvalue(), err.getvalue())
    assert code in (0, 2), ended
    if code == 2:
        assert ended.err.startswith("implicature: "), ended
        assert ended.err.endswith("\n"), ended
        assert_sentence(ended.err[len("implicature: ") : -1])
    return ended


def refused(folder: Path, *arguments: str) -> str:
    """The sentence with which a command is refused."""
    ended = command(folder, *arguments)
    assert ended.code == 2, (arguments, ended)
    return ended.err


def mutated(content: bytes, number: int) -> bytes:
    """The bytes with some changed, removed, doubled or inserted, by the n-th random choice."""
    rng, found = random.Random(number), bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(found) + 1)
        end = min(len(found), start + rng.choice([1, 1, 4, 30]))
        change = rng.randrange(6)
        if change == 0 and start < len(found):
            found[start] ^= 1 << rng.randrange(8)
        elif change == 1:
            del found[start:end]
        elif change == 2:
            found[start:start] = found[start:end]
        elif change == 3:
            found[start:start] = rng.choice([*NASTY, "\0", "\ud800", "9" * 400]).encode("utf-8", "surrogatepass")
        elif change == 4:
            found[start:end] = rng.randbytes(end - start)
        else:
            del found[start:]
    return bytes(found)
