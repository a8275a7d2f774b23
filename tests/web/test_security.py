"""What the page refuses: other hosts and sites, oversized and frequent requests, and what its API does not allow."""

from collections.abc import Iterator

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from implicature.web.app import create_app
from implicature.web.security import BURST, LOOPBACK_HOSTS, MAX_BODY_BYTES, RATE, SecurityMiddleware


@pytest.fixture(scope="module")
def page() -> Iterator[TestClient]:
    with TestClient(create_app(), base_url="http://127.0.0.1") as client:
        yield client


def test_no_path_leads_out_of_the_page(page: TestClient):
    for path in ("/../app.py", "/..%2fapp.py", "/%2e%2e/app.py", "/pair/config.json", "/api/image/0.png"):
        assert page.get(path).status_code in (404, 405)


def test_cross_site_and_oversized_requests_are_refused(page: TestClient):
    assert page.post("/api/watch", json={}, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert page.post("/api/watch", content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413
    assert page.post("/api/watch", content=iter([b"x" * MAX_BODY_BYTES, b"x" * MAX_BODY_BYTES])).status_code == 413
    assert page.get(f"/?{'x' * 3000}").status_code == 414


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8642", 200),
        ("LOCALHOST:8642", 200),
        ("[::1]", 200),
        ("[::1]:8642", 200),
        ("evil.example", 400),
        ("evil.example:8642", 400),
        ("127.0.0.1.evil.example", 400),
        ("evil.example:80@127.0.0.1", 400),
        ("localhost:x", 400),
        ("[::2]:8642", 400),
        ("", 400),
    ],
)
def test_the_page_answers_only_to_its_own_names_on_any_port(host: str, status: int, page: TestClient):
    """Otherwise a site could point its own name at this computer and read the page (DNS rebinding)."""
    response = page.get("/api/about", headers={"host": host})
    assert response.status_code == status
    if status == 400:
        assert response.json() == {"message": "This page answers only to its own address, http://127.0.0.1."}


def test_one_client_is_slowed_down_and_others_are_not():
    seconds = [0.0]
    security = SecurityMiddleware(lambda *_: None, LOOPBACK_HOSTS, clock=lambda: seconds[0])  # pyright: ignore
    assert [security.allow("a") for _ in range(int(BURST) + 1)] == [True] * int(BURST) + [False]
    assert security.allow("b")
    seconds[0] = 2 / RATE
    assert [security.allow("a") for _ in range(3)] == [True, True, False]


CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


@pytest.mark.slow
@pytest.mark.parametrize("mode", GenerationMode)
def test_whatever_is_requested_the_response_is_never_a_server_error(
    mode: GenerationMode, monkeypatch: pytest.MonkeyPatch
):
    """Requests that fit the API's own description, and requests that do not."""
    monkeypatch.setattr("implicature.web.security.BURST", 1e9)
    description = schemathesis.openapi.from_asgi("/api/openapi.json", create_app(allowed_hosts=None))
    tried: set[str] = set()
    for found in description.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        @settings(max_examples=30, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
        @given(case=operation.as_strategy(generation_mode=mode))
        def request(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS, timeout=120)

        try:
            request()
            tried.add(operation.path)
        except Unsatisfiable:
            assert operation.path == "/api/about"  # which has no input
    assert {"/api/game", "/api/student", "/api/teacher", "/api/watch", "/api/candidates"} <= tried
