"""The page and its API. The server keeps nothing about a game but recorded decisions."""

import sqlite3
from mimetypes import guess_type
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Request, Response
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from implicature import __version__
from implicature.web import schemas
from implicature.web.dealing import MAX_ROUNDS, PlayableGame, playable_games
from implicature.web.images import encode_png
from implicature.web.security import LOOPBACK_HOSTS, SecurityMiddleware
from implicature.web.sessions import GameSessions
from implicature.web.site import STATIC, data_files
from implicature.web.storage import Study
from implicature.web.study.plan import Plan
from implicature.web.study.routes import add_study_routes
from implicature.web.study.session import PlannedStudy

CONSENT = (
    "This game is part of a study. If you agree, your participant code, your choices, how long you take and what the "
    "agents compute meanwhile are kept on the researcher's computer. You may stop at any time."
)
ERRORS: dict[int | str, dict] = {
    status: {"model": schemas.ErrorMessage} for status in (400, 403, 404, 405, 413, 414, 415, 422, 429, 503)
}
IMAGE_RESPONSE: dict[int | str, dict] = {200: {"content": {"image/png": {}}, "description": "An image of the instance"}}


def error_response(message: str, status: int) -> JSONResponse:
    return JSONResponse({"message": message}, status)


def validation_message(error: RequestValidationError) -> str:
    """Where in the request the error is, and what it is."""
    first = error.errors()[0]
    field = " ".join(str(part) for part in first["loc"] if part != "body") or "The request"
    return f"{field}: {first['msg']}."


def create_app(
    run: Path | None = None,
    players: tuple[str, str] | None = None,
    study: Study | None = None,
    consent: str = CONSENT,
    allowed_hosts: frozenset[str] | None = LOOPBACK_HOSTS,
    plan: Plan | None = None,
) -> FastAPI:
    """The page with the agents of a run and of two named players, beside those that are always there; or, with a plan,
    a study and nothing else."""
    app = FastAPI(
        title="implicature play", version=__version__, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", responses=ERRORS,
    )  # fmt: skip
    app.add_middleware(SecurityMiddleware, allowed_hosts=allowed_hosts)
    add_error_handlers(app)
    if plan is not None and study is not None:
        app.state.sessions = PlannedStudy(plan, study)
        add_study_routes(app, app.state.sessions)
        add_image_route(app, playable_games())
    else:
        app.state.sessions = GameSessions(run, players, study)
        add_routes(app, app.state.sessions, None if study is None else consent)
        add_image_route(app, app.state.sessions.games)
    add_data(app)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    return app


def add_data(app: FastAPI) -> None:
    """The files of the page that are generated."""
    files = data_files(server=True)

    @app.get("/data/{name:path}", include_in_schema=False)
    def data(name: Annotated[str, PathParameter(max_length=64)]) -> Response:
        path = f"data/{name}"
        if path not in files:
            raise HTTPException(404, "There is no such file")
        return Response(files[path], media_type=guess_type(path)[0] or "application/octet-stream")


def add_error_handlers(app: FastAPI) -> None:
    """Every error is one sentence in JSON."""

    @app.exception_handler(RequestValidationError)
    async def invalid_request(_: Request, error: RequestValidationError) -> JSONResponse:
        return error_response(validation_message(error), 422)

    @app.exception_handler(ValueError)
    async def invalid_value(_: Request, error: ValueError) -> JSONResponse:
        return error_response(str(error), 422)

    @app.exception_handler(sqlite3.Error)
    async def not_recorded(_: Request, error: sqlite3.Error) -> JSONResponse:
        message = f"Your choice could not be recorded ({error}): tell the researcher, then try again."
        return error_response(message, 503)

    @app.exception_handler(HTTPException)
    async def http_error(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"message": f"{error.detail}."}, error.status_code, error.headers)


def about_server(sessions: GameSessions, consent: str | None) -> schemas.About:
    games = [
        schemas.GameInfo(
            name=game.name, title=game.title, kind=game.kind, words=list(game.space.attributes),
            candidates=game.candidates, max_candidates=game.max_candidates, images=game.space.images is not None,
        )
        for game in sessions.games.values()
    ]  # fmt: skip
    agents = [
        schemas.AgentInfo(
            name=agent.name, title=agent.title, variants=list(agent.variants), variant=agent.default_variant,
            games=list(agent.games), grounded=agent.grounded,
        )
        for agent in sessions.agents.values()
    ]  # fmt: skip
    return schemas.About(version=__version__, games=games, agents=agents, max_rounds=MAX_ROUNDS, consent=consent)


def add_routes(app: FastAPI, sessions: GameSessions, consent: str | None) -> None:
    @app.get("/api/about")
    def about() -> schemas.About:
        """The games, the agents, and whether decisions are recorded."""
        return about_server(sessions, consent)

    @app.post("/api/game")
    def game(settings: schemas.ShownGame) -> schemas.PublicGame:
        """The candidates of a game."""
        return sessions.show_game(settings)

    @app.post("/api/student")
    def student(turn: schemas.StudentTurn, request: Request) -> schemas.GameState:
        """A person is the student."""
        return sessions.student_turn(turn, request.state.disconnected.is_set)

    @app.post("/api/teacher")
    def teacher(turn: schemas.TeacherTurn, request: Request) -> schemas.GameState:
        """A person is the teacher."""
        return sessions.teacher_turn(turn, request.state.disconnected.is_set)

    @app.post("/api/watch")
    def watch(settings: schemas.GameSettings) -> schemas.GameState:
        """Two agents play with each other."""
        return sessions.watch(settings)

    @app.post("/api/candidates")
    def candidates(request: schemas.CandidateText) -> schemas.CandidateInstances:
        """Candidates that a person has typed, as instances."""
        return sessions.parse_candidates(request)


def add_image_route(app: FastAPI, games: dict[str, PlayableGame]) -> None:
    @app.get("/api/image/{game}/{instance}.png", response_class=Response, responses=IMAGE_RESPONSE)
    def image(
        game: Annotated[str, PathParameter(max_length=64)],
        instance: Annotated[int, PathParameter(ge=0, le=1_000_000)],
    ) -> Response:
        """An image of an instance, where it has one."""
        space = games[game].space if game in games else None
        if space is None or space.images is None or instance >= space.instances:
            raise HTTPException(404, "There is no such image")
        return Response(encode_png(space, instance), media_type="image/png", headers={"cache-control": "max-age=86400"})
