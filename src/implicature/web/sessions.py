"""The page's requests answered: from settings and what a person has done so far to where the game stands."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from implicature.web import schemas
from implicature.web.dealing import DealtGame, PlayableGame, deal_game, parse_instances
from implicature.web.decisions import Decision, current_time
from implicature.web.players import PlayableAgent, load_agents_and_games
from implicature.web.rounds import Round, expected_returns, play_rounds
from implicature.web.storage import Study

STREAMS: dict[schemas.Viewer, int] = {"student": 0, "teacher": 1, "unrecorded": 2}
"""Where decisions are recorded, whoever may know the target plays other games by the same seed than a student whose
answer counts."""
IsGone = Callable[[], bool]
"""Whether the client has closed its connection, so that nothing more may be recorded for it."""


class GameSessions:
    """The games and agents of one server, and the study that decisions are recorded in, if there is one."""

    def __init__(self, run: Path | None, players: tuple[str, str] | None = None, study: Study | None = None):
        self.games, self.agents = load_agents_and_games(run, players)
        self.study = study

    def precompile(self) -> None:
        """Compile what people will most likely ask for first."""
        for agent in self.agents.values():
            with suppress(ValueError):  # it is shown on the page when somebody plays with this agent
                self.watch(schemas.GameSettings(game=agent.games[0], pragmatic_only=True, agent=agent.name))

    def find_game(self, name: str) -> PlayableGame:
        if name not in self.games:
            raise ValueError(f"No game is called {name!r}: choose one of {', '.join(self.games)}.")
        return self.games[name]

    def find_agent(self, settings: schemas.GameSettings) -> PlayableAgent:
        if settings.agent not in self.agents:
            raise ValueError(f"No agent is called {settings.agent!r}: choose one of {', '.join(self.agents)}.")
        agent = self.agents[settings.agent]
        if self.find_game(settings.game).name not in agent.games:
            games = ", ".join(agent.games)
            raise ValueError(f"The agent {agent.title} does not know the game {settings.game}: it plays {games}.")
        if settings.variant >= len(agent.variants):
            raise ValueError(
                f"The agent {agent.title} has variants 0 to {len(agent.variants) - 1}: choose one of these."
            )
        return agent

    def deal(self, settings: schemas.GameSettings, viewer: schemas.Viewer) -> tuple[PlayableGame, DealtGame]:
        game = self.find_game(settings.game)
        instances = None if settings.instances is None else tuple(settings.instances)
        number = settings.candidates if instances is None else len(instances)
        stream = 0 if self.study is None else STREAMS[viewer]
        return game, deal_game(game, number, instances, settings.seed, settings.pragmatic_only, settings.rounds, stream)

    def show_game(self, settings: schemas.ShownGame) -> schemas.PublicGame:
        game, dealt = self.deal(settings, settings.viewer)
        candidates = [
            schemas.Candidate(instance=i, attributes=game.space.names(i), label=game.describe(i).removeprefix("the "))
            for i in dealt.instances
        ]
        return schemas.PublicGame(
            game=game.name, candidates=candidates, rounds=dealt.rounds, message_cost=dealt.message_cost
        )

    def parse_candidates(self, request: schemas.CandidateText) -> schemas.CandidateInstances:
        return schemas.CandidateInstances(instances=parse_instances(self.find_game(request.game), request.text))

    def watch(self, settings: schemas.GameSettings) -> schemas.GameState:
        game, dealt = self.deal(settings, "unrecorded")
        return final_state(game, dealt, play_rounds(self.find_agent(settings), game, settings.variant, dealt))

    def student_turn(self, turn: schemas.StudentTurn, is_gone: IsGone = lambda: False) -> schemas.GameState:
        """The teacher does not observe the student's belief, so her messages are the same whatever the person does.
        Where a decision was recorded before, that one is answered."""
        settings, agent = turn.settings, self.find_agent(turn.settings)
        game, dealt = self.deal(settings, "unrecorded" if turn.participant is None else "student")
        if turn.n_messages > dealt.rounds:
            raise ValueError(f"A game of {dealt.rounds} rounds has no {turn.n_messages} messages: ask for fewer.")
        if isinstance(turn.answer, int) and turn.answer >= len(dealt.instances):
            raise ValueError(f"There are {len(dealt.instances)} candidates: choose one from 0 on.")
        if turn.answer == "wait" and turn.n_messages == dealt.rounds:
            raise ValueError("After the last message there is nothing to wait for: guess.")
        rounds = play_rounds(agent, game, settings.variant, dealt, always_wait=True)
        so_far = rounds[: turn.n_messages]
        answer, recorded = turn.answer if isinstance(turn.answer, int) else None, None
        if turn.answer is not None:
            recorded = self.record(turn.participant, "student", settings, agent, dealt, so_far, answer, is_gone)
        if recorded is not None:
            answer = recorded.answer
        if answer is not None:
            state = final_state(game, dealt, so_far, answer)
        else:
            visible = rounds[: turn.n_messages + (turn.answer is not None)]
            state = schemas.GameState(messages=[one.message for one in visible], over=False)
        return state.model_copy(update={"recorded": recorded is not None})

    def teacher_turn(self, turn: schemas.TeacherTurn, is_gone: IsGone = lambda: False) -> schemas.GameState:
        """Where a message was recorded before, that one is answered."""
        settings, agent = turn.settings, self.find_agent(turn.settings)
        game, dealt = self.deal(settings, "teacher")
        words = game.space.attributes
        if any(message >= len(words) for message in turn.messages):
            raise ValueError(f"The game {game.name} has words 0 to {len(words) - 1}: choose one of these.")
        if len(turn.messages) > dealt.rounds:
            raise ValueError(f"A game of {dealt.rounds} rounds has no {len(turn.messages)} messages: send fewer.")
        if not turn.messages:
            return schemas.GameState(messages=[], over=False, target=dealt.target)

        def play(messages: list[int]) -> list[Round]:
            rounds = play_rounds(agent, game, settings.variant, dealt, tuple(messages))[: len(messages)]
            if len(rounds) < len(messages):
                raise ValueError("The student answered before your last message: the game is over.")
            return rounds

        messages, rounds = turn.messages, play(turn.messages)
        recorded = self.record(
            turn.participant, "teacher", settings, agent, dealt, rounds, rounds[-1].answer, is_gone
        )  # fmt: skip
        if recorded is not None:
            messages = [words.index(word) for word in recorded.messages]
            rounds = play(messages)
        if rounds[-1].answer is not None:
            state = final_state(game, dealt, rounds)
        else:
            state = schemas.GameState(messages=messages, over=False, target=dealt.target, rounds=rounds)
        return state.model_copy(update={"recorded": recorded is not None})

    def record(
        self,
        participant: schemas.Participant | None,
        role: str,
        settings: schemas.GameSettings,
        agent: PlayableAgent,
        dealt: DealtGame,
        rounds: list[Round],
        answer: int | None,
        is_gone: IsGone,
    ) -> Decision | None:
        """Record the decision of a participant who agreed to it, where this server records: the decision that stands,
        which is an earlier one where this is a repeat."""
        if self.study is None or participant is None:
            return None
        space, last = self.games[dealt.game].space, rounds[-1]
        literal_score, exact_score = expected_returns(self.games[dealt.game], dealt)
        decision = Decision(
            time=current_time(),
            participant=participant.code,
            session=participant.session,
            role=role,
            game=dealt.game,
            seed=dealt.seed,
            candidates=[space.names(i) for i in dealt.instances],
            words=list(space.attributes),
            target=dealt.target,
            max_rounds=dealt.rounds,
            agent=agent.name,
            version=agent.version,
            variant=agent.variants[settings.variant],
            round=len(rounds),
            messages=[space.attributes[one.message] for one in rounds],
            answer=answer,
            correct=None if answer is None else answer == dealt.target,
            reaction_time_ms=participant.reaction_time_ms,
            belief_before=last.belief_before,
            belief_after=last.belief_after,
            teacher_estimate=last.teacher_estimate,
            values=last.values,
            decision_id=participant.decision_id,
            trial=participant.trial,
            condition=participant.condition,
            thoughts_open=participant.thoughts_open,
            literal_score=literal_score,
            exact_score=exact_score,
            focus_lost=participant.focus_lost,
            viewport=participant.viewport,
            skips=participant.skips,
        )
        return self.study.record(decision, is_gone)


def final_state(
    game: PlayableGame, dealt: DealtGame, rounds: list[Round], answer: int | None = None
) -> schemas.GameState:
    """A finished game, beside the returns that others can expect in it."""
    answer = rounds[-1].answer if answer is None else answer
    literal_return, exact_return = expected_returns(game, dealt)
    return schemas.GameState(
        messages=[one.message for one in rounds],
        over=True,
        target=dealt.target,
        answer=answer,
        episode_return=round((answer == dealt.target) - dealt.message_cost * len(rounds), 3),
        literal_return=literal_return,
        exact_return=exact_return,
        rounds=rounds,
    )
