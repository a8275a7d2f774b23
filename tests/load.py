"""Many simulated players at once, for a while, and how long they wait: `python tests/load.py`.

Each opens the page's questions as a browser would: a board, a word, then a decision, with a pause for thought that is
far shorter than a person's. The server runs in a process of its own.
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
    """Measure how long players wait for answers."""

    address: str = "http://127.0.0.1:8642"
    """The page's address."""
    players: int = 100
    """How many play at once."""
    seconds: float = 60.0
    """For how long."""
    pause: float = 1.0
    """Seconds of thought before each decision, on average."""
    record: bool = False
    """As participants who agreed to be recorded."""


class Player:
    """One connection that is kept open, as a browser's is."""

    def __init__(self, load: Load, number: int, waits: list[float]):
        self.load, self.number, self.waits, self.problems = load, number, waits, 0
        self.random = random.Random(number)
        host, _, port = load.address.removeprefix("http://").rstrip("/").partition(":")
        self.host, self.port = host, int(port or 80)

    async def ask(self, path: str, question: dict) -> dict:
        body = json.dumps(question).encode()
        head = f"POST /api/{path} HTTP/1.1\r\nhost: {self.host}:{self.port}\r\ncontent-type: application/json\r\n"
        begun = time.perf_counter()
        self.writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        await self.writer.drain()
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        content = await self.reader.readexactly(int(answer.split("content-length: ")[1].split("\r\n")[0]))
        self.waits.append(time.perf_counter() - begun)
        self.problems += " 200 " not in answer.splitlines()[0]
        return json.loads(content)

    async def game(self) -> None:
        """One game in a random mode, to its end."""
        address = {
            "game": self.random.choice(GAMES), "seed": self.random.randrange(2**31), "tricky": True,
            "step": self.random.randrange(7),
        }  # fmt: skip
        mode = self.random.choice(MODES)
        who = {"consent": True, "participant": f"P{self.number}", "session": "load", "milliseconds": 1000}
        person = who if self.load.record else None
        board = await self.ask("game", address)
        if mode == "watch":
            await self.ask("watch", address)
        elif mode == "student":
            await self.ask("student", {"address": address})
            await self.think()
            place = self.random.randrange(len(board["candidates"]))
            await self.ask("student", {"address": address, "answer": place, "person": person})
        else:
            await self.ask("teacher", {"address": address})
            await self.think()
            await self.ask("teacher", {"address": address, "words": [self.random.randrange(10)], "person": person})
        await self.think()

    async def think(self) -> None:
        await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.load.pause)

    async def play(self, end: float) -> None:
        await asyncio.sleep(self.random.random() * self.load.pause)
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        while time.monotonic() < end:
            await self.game()
        self.writer.close()


async def measured(load: Load) -> dict[str, float]:
    waits: list[float] = []
    players = [Player(load, i, waits) for i in range(load.players)]
    begun = time.monotonic()
    await asyncio.gather(*(player.play(begun + load.seconds) for player in players))
    took, waits = time.monotonic() - begun, sorted(waits)
    return {
        "players": load.players,
        "seconds": round(took, 1),
        "questions": len(waits),
        "a_second": round(len(waits) / took, 1),
        "problems": sum(player.problems for player in players),
        **{
            f"p{share}_ms": round(1000 * waits[min(len(waits) - 1, len(waits) * share // 100)], 1)
            for share in (50, 95, 99)
        },
    }


if __name__ == "__main__":
    load = tyro.cli(Load)
    try:
        print(json.dumps(asyncio.run(measured(load))))
    except OSError:
        sys.exit(f"Nobody answers at {load.address}: start `implicature play --record study.sqlite` there first.")
