"""Seconds of a profile, with a clock that is set by hand."""

from types import SimpleNamespace

import pytest

from implicature import profiling
from implicature.profiling import Profile


def test_parts_inside_others_and_what_jax_claims_are_counted_once(monkeypatch: pytest.MonkeyPatch):
    clock = SimpleNamespace(now=10.0)
    monkeypatch.setattr(profiling.time, "perf_counter", lambda: clock.now)
    profile = Profile(started=8.0)
    profile.leave()  # 2 s of imports
    profile.enter("training")
    clock.now = 15.0
    profile.claim("tracing", 1.0)  # 14 to 15
    clock.now = 17.0
    profile.claim("tracing", 4.0)  # 13 to 17, with the one above inside it
    clock.now = 20.0
    profile.enter("saving")
    clock.now = 21.0
    profile.leave()
    profile.leave()
    clock.now = 22.0
    # Training was from 10 to 20, of which 4 s were tracing; then 1 s of saving and 1 s of nothing named.
    assert profile.finish() == {"training": 6.0, "tracing": 4.0, "imports": 2.0, "saving": 1.0, "other": 1.0}


def test_without_a_profile_a_part_is_nothing_but_its_work():
    with profiling.part("training"):
        assert profiling._active is None
