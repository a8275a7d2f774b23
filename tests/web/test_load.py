"""Many at once: the simulated players of docs/play.md, fewer and for less long."""

import asyncio

import pytest
from load import Load, measure_load


@pytest.mark.slow
def test_twenty_players_at_once_are_all_answered(server: str):
    figures = asyncio.run(measure_load(Load(url=server, players=20, seconds=3.0, pause=0.3)))
    assert figures["errors"] == 0
    assert figures["requests"] >= 60  # each has time for a game of three requests, however slow the machine
