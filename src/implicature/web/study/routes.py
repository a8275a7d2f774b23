"""The API of a study: it shows a participant's screen, takes consent, and takes what is done."""

from fastapi import FastAPI, Request

from implicature import __version__
from implicature.web.dealing import MAX_ROUNDS
from implicature.web.schemas import About
from implicature.web.study import schemas
from implicature.web.study.session import PlannedStudy


def add_study_routes(app: FastAPI, study: PlannedStudy) -> None:
    @app.get("/api/about")
    def about() -> About:
        """That this server is for a study."""
        title = study.plan.title
        return About(version=__version__, games=[], agents=[], max_rounds=MAX_ROUNDS, consent=None, study=title)

    @app.post("/api/study/screen")
    def screen(request: schemas.ScreenRequest) -> schemas.Screen:
        """Where a participant is; nothing is recorded."""
        return study.screen(request.who)

    @app.post("/api/study/consent")
    def consent(request: schemas.Consent) -> schemas.Screen:
        """A participant agrees to take part."""
        return study.agree(request)

    @app.post("/api/study/done")
    def done(request: schemas.Done, http: Request) -> schemas.Screen:
        """A screen is done; the response is the next one."""
        return study.done(request, http.state.disconnected.is_set)
