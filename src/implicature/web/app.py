"""The page and its few questions. The server keeps nothing about a game but recorded decisions."""

import sqlite3
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Request, Response
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from implicature import __version__
from implicature.web import schemas as q
from implicature.web.dealing import MOST_ROUNDS
from implicature.web.images import png
from implicature.web.security import LOOPBACK, Guard
from implicature.web.sessions import Host
from implicature.web.storage import Study

PAGE = Path(__file__).with_name("static")
CONSENT = (
    "This game is part of a study. If you agree, your participant code, what you choose, how long you take and what "
    "the agents think meanwhile are kept on the researcher's computer. You may stop at any time."
)
PROBLEMS: dict[int | str, dict] = {
    code: {"model": q.Problem} for code in (400, 403, 404, 405, 413, 414, 415, 422, 429, 503)
}


def sentence_of(problem: RequestValidationError) -> str:
    """Where in the question it is, and what is wrong with it."""
    first = problem.errors()[0]
    where = " ".join(str(part) for part in first["loc"] if part != "body") or "The question"
    return f"{where}: {first['msg']}."


def new_app(
    run: Path | None = None,
    study: Study | None = None,
    consent: str = CONSENT,
    hosts: frozenset[str] | None = LOOPBACK,
    both: tuple[str, str] | None = None,
) -> FastAPI:
    host = Host(run, study, both)
    app = FastAPI(
        title="implicature play", version=__version__, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", responses=PROBLEMS,
    )  # fmt: skip
    app.add_middleware(Guard, hosts=hosts)
    app.state.host = host

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, problem: RequestValidationError) -> JSONResponse:
        return JSONResponse({"sentence": sentence_of(problem)}, 422)

    @app.exception_handler(ValueError)
    async def wrong(_: Request, problem: ValueError) -> JSONResponse:
        return JSONResponse({"sentence": str(problem)}, 422)

    @app.exception_handler(sqlite3.Error)
    async def not_kept(_: Request, problem: sqlite3.Error) -> JSONResponse:
        sentence = f"Your choice could not be recorded ({problem}): tell the researcher, then try again."
        return JSONResponse({"sentence": sentence}, 503)

    @app.exception_handler(HTTPException)
    async def missing(_: Request, problem: HTTPException) -> JSONResponse:
        return JSONResponse({"sentence": f"{problem.detail}."}, problem.status_code, problem.headers)

    @app.get("/api/about")
    def about() -> q.About:
        """What can be played, with whom, and whether decisions are recorded."""
        games = [
            q.Game(
                name=game.name, title=game.title, kind=game.kind, words=list(game.space.attributes),
                candidates=game.candidates, most=game.most, pictures=game.space.pictures is not None,
            )
            for game in host.games.values()
        ]  # fmt: skip
        agents = [
            q.Agent(
                name=player.name, title=player.title, steps=list(player.steps), step=player.step,
                games=list(player.games), grounded=player.grounded,
            )
            for player in host.players.values()
        ]  # fmt: skip
        return q.About(
            version=__version__, games=games, agents=agents, rounds=MOST_ROUNDS,
            consent=None if study is None else consent,
        )  # fmt: skip

    @app.post("/api/game")
    def game(address: q.Address) -> q.Board:
        """The candidates of an address."""
        return host.board(address)

    @app.post("/api/student")
    def student(heard: q.Heard) -> q.Outcome:
        """A person is the student."""
        return host.student(heard)

    @app.post("/api/teacher")
    def teacher(said: q.Said) -> q.Outcome:
        """A person is the teacher."""
        return host.teacher(said)

    @app.post("/api/watch")
    def watch(address: q.Address) -> q.Outcome:
        """Two agents play each other."""
        return host.watch(address)

    @app.post("/api/candidates")
    def candidates(typed: q.Typed) -> q.Instances:
        """Candidates that a person has typed, as instances."""
        return host.typed(typed)

    picture: dict[int | str, dict] = {200: {"content": {"image/png": {}}, "description": "A picture of the instance"}}

    @app.get("/api/picture/{game}/{instance}.png", response_class=Response, responses=picture)
    def pictured(
        game: Annotated[str, InPath(max_length=64)], instance: Annotated[int, InPath(ge=0, le=1_000_000)]
    ) -> Response:
        """How an instance of a game looks, where it has a picture."""
        space = host.games[game].space if game in host.games else None
        if space is None or space.pictures is None or instance >= space.instances:
            raise HTTPException(404, "There is no such picture")
        return Response(png(space, instance), media_type="image/png", headers={"cache-control": "max-age=86400"})

    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app
