"""Many at once: the simulated players of docs/play.md, fewer and for less long."""

import asyncio

from load import Load, measured


def test_twenty_players_at_once_are_all_answered(server: str):
    found = asyncio.run(measured(Load(address=server, players=20, seconds=3.0, pause=0.3)))
    assert found["problems"] == 0
    assert found["questions"] >= 60  # each has time for a game of three questions, however slow the machine
