"""A load generator: many simulated players at once, and how long they wait for responses. `python tests/load.py`

Each sends the requests of a browser: a game, a first turn, then a decision, with pauses far shorter than a person's.
The server runs in a process of its own.
"""

import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass

import tyro

MODES = ("student", "teacher", "watch")
GAMES = ("numbers-4", "numbers-7", "objects-4", "objects-7")


@dataclass(frozen=True)
class Load:
    """Measure how long players wait for responses."""

    url: str = "http://127.0.0.1:8642"
    """The page's URL."""
    players: int = 100
    """How many play at once."""
    seconds: float = 60.0
    """For how long."""
    pause: float = 1.0
    """Mean seconds before each decision."""
    record: bool = False
    """Play as participants who agreed to be recorded."""


class SimulatedPlayer:
    """One connection that is kept open, as a browser's is."""

    def __init__(self, load: Load, number: int, waits: list[float]):
        self.load, self.number, self.waits, self.errors = load, number, waits, 0
        self.random = random.Random(number)
        host, _, port = load.url.removeprefix("http://").rstrip("/").partition(":")
        self.host, self.port = host, int(port or 80)

    async def send(self, path: str, content: dict) -> dict:
        body = json.dumps(content).encode()
        head = f"POST /api/{path} HTTP/1.1\r\nhost: {self.host}:{self.port}\r\ncontent-type: application/json\r\n"
        started = time.perf_counter()
        self.writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        await self.writer.drain()
        response = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(response.split("content-length: ")[1].split("\r\n")[0])
        received = await self.reader.readexactly(length)
        self.waits.append(time.perf_counter() - started)
        self.errors += " 200 " not in response.splitlines()[0]
        return json.loads(received)

    async def play_game(self) -> None:
        """One game in a random mode, to its end."""
        settings = {
            "game": self.random.choice(GAMES), "seed": self.random.randrange(2**31), "pragmatic_only": True,
            "variant": self.random.randrange(7),
        }  # fmt: skip
        mode = self.random.choice(MODES)
        consenting = {"consent": True, "code": f"P{self.number}", "session": "load", "reaction_time_ms": 1000}
        participant = consenting if self.load.record else None
        game = await self.send("game", settings)
        if mode == "watch":
            await self.send("watch", settings)
        elif mode == "student":
            await self.send("student", {"settings": settings})
            await self.pause()
            answer = self.random.randrange(len(game["candidates"]))
            await self.send("student", {"settings": settings, "answer": answer, "participant": participant})
        else:
            await self.send("teacher", {"settings": settings})
            await self.pause()
            messages = [self.random.randrange(10)]
            await self.send("teacher", {"settings": settings, "messages": messages, "participant": participant})
        await self.pause()

    async def pause(self) -> None:
        await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.load.pause)

    async def play(self, end: float) -> None:
        await asyncio.sleep(self.random.random() * self.load.pause)
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        while time.monotonic() < end:
            await self.play_game()
        self.writer.close()


async def measure_load(load: Load) -> dict[str, float]:
    waits: list[float] = []
    players = [SimulatedPlayer(load, i, waits) for i in range(load.players)]
    started = time.monotonic()
    await asyncio.gather(*(player.play(started + load.seconds) for player in players))
    seconds, waits = time.monotonic() - started, sorted(waits)
    return {
        "players": load.players,
        "seconds": round(seconds, 1),
        "requests": len(waits),
        "requests_per_second": round(len(waits) / seconds, 1),
        "errors": sum(player.errors for player in players),
        **{
            f"p{percentile}_ms": round(1000 * waits[min(len(waits) - 1, len(waits) * percentile // 100)], 1)
            for percentile in (50, 95, 99)
        },
    }


if __name__ == "__main__":
    load = tyro.cli(Load)
    try:
        print(json.dumps(asyncio.run(measure_load(load))))
    except OSError:
        sys.exit(f"Nothing answers at {load.url}: start `implicature play --record study.sqlite` there first.")
