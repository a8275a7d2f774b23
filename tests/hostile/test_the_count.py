"""At least ten thousand cases of hostile input, and as many as are promised of each kind."""

import pytest
from hostility import CASES, RAN


def test_there_are_ten_thousand_cases():
    assert sum(CASES.values()) >= 10_000


def test_all_were_tried(request: pytest.FixtureRequest):
    """Only where all of this folder was run; files stand in the order of their names, this one last."""
    if missing := sorted(CASES.keys() - RAN.keys()):
        pytest.skip(f"not run: {missing}")
    short = {kind: (RAN[kind], number) for kind, number in CASES.items() if RAN[kind] < number}
    assert short == {}
    assert sum(RAN.values()) >= 10_000
