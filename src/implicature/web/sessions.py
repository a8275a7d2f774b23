"""Who answers the page: from an address and what a person has done so far to where the game stands."""

from contextlib import suppress
from pathlib import Path

from implicature.web import schemas as q
from implicature.web.dealing import Deal, Playable, deal, instances_in
from implicature.web.players import Player, all_players
from implicature.web.rounds import Round, expected, rounds_of
from implicature.web.storage import Decision, Study, now


class Host:
    """The games and players of one server, and the study that decisions go to, if there is one."""

    def __init__(self, run: Path | None, study: Study | None, both: tuple[str, str] | None = None):
        self.games, self.players = all_players(run, both)
        self.study = study

    def warm(self) -> None:
        """Compile what people will most likely ask for first."""
        for player in self.players.values():
            with suppress(ValueError):  # which is told on the page when they are asked for
                self.watch(q.Address(game=player.games[0], tricky=True, agent=player.name))

    def game(self, name: str) -> Playable:
        if name not in self.games:
            raise ValueError(f"No game is called {name!r}: choose one of {', '.join(self.games)}.")
        return self.games[name]

    def deal(self, address: q.Address) -> tuple[Playable, Deal]:
        game = self.game(address.game)
        given = None if address.instances is None else tuple(address.instances)
        number = address.candidates if given is None else len(given)
        return game, deal(game, number, given, address.seed, address.tricky, address.rounds)

    def player(self, address: q.Address) -> Player:
        if address.agent not in self.players:
            raise ValueError(f"No agent is called {address.agent!r}: choose one of {', '.join(self.players)}.")
        player = self.players[address.agent]
        if self.game(address.game).name not in player.games:
            can = ", ".join(player.games)
            raise ValueError(f"The agent {player.title} does not know the game {address.game}: it plays {can}.")
        if address.step >= len(player.steps):
            raise ValueError(f"The agent {player.title} has steps 0 to {len(player.steps) - 1}: choose one of these.")
        return player

    def board(self, address: q.Address) -> q.Board:
        game, dealt = self.deal(address)
        shown = [
            q.Shown(instance=i, names=game.space.names(i), called=game.called(i).removeprefix("the "))
            for i in dealt.instances
        ]
        return q.Board(game=game.name, candidates=shown, rounds=dealt.rounds, cost=dealt.cost)

    def typed(self, typed: q.Typed) -> q.Instances:
        return q.Instances(instances=instances_in(self.game(typed.game), typed.text))

    def watch(self, address: q.Address) -> q.Outcome:
        game, dealt = self.deal(address)
        return ended(game, dealt, rounds_of(self.player(address), game, address.step, dealt))

    def student(self, heard: q.Heard) -> q.Outcome:
        """She does not see whether he believes her, so her words are the same whatever the person thinks of them."""
        address, player = heard.address, self.player(heard.address)
        game, dealt = self.deal(address)
        if heard.words > dealt.rounds:
            raise ValueError(f"A game of {dealt.rounds} rounds has no {heard.words} words: ask for fewer.")
        if isinstance(heard.answer, int) and heard.answer >= len(dealt.instances):
            raise ValueError(f"There are {len(dealt.instances)} candidates: choose one from 0 on.")
        if heard.answer == "wait" and heard.words == dealt.rounds:
            raise ValueError("After the last word there is nothing to wait for: guess.")
        rounds = rounds_of(player, game, address.step, dealt, patient=True)
        so_far = rounds[: heard.words]
        guess = heard.answer if isinstance(heard.answer, int) else None
        kept = heard.answer is not None and self.keep(heard.person, "student", address, player, dealt, so_far, guess)
        if guess is not None:
            outcome = ended(game, dealt, so_far, guess)
        else:
            words = rounds[: heard.words + (heard.answer == "wait")]
            outcome = q.Outcome(words=[one.word for one in words], over=False)
        return outcome.model_copy(update={"recorded": kept})

    def teacher(self, said: q.Said) -> q.Outcome:
        address, player = said.address, self.player(said.address)
        game, dealt = self.deal(address)
        words = game.space.attributes
        if any(word >= len(words) for word in said.words):
            raise ValueError(f"The game {game.name} has words 0 to {len(words) - 1}: choose one of these.")
        if len(said.words) > dealt.rounds:
            raise ValueError(f"A game of {dealt.rounds} rounds has no {len(said.words)} words: say fewer.")
        if not said.words:
            return q.Outcome(words=[], over=False, target=dealt.target)
        rounds = rounds_of(player, game, address.step, dealt, tuple(said.words))[: len(said.words)]
        if len(rounds) < len(said.words):
            raise ValueError("He has answered before your last word: the game is over.")
        kept = self.keep(said.person, "teacher", address, player, dealt, rounds, rounds[-1].answer)
        if rounds[-1].answer is not None:
            outcome = ended(game, dealt, rounds)
        else:
            outcome = q.Outcome(words=said.words, over=False, target=dealt.target, thoughts=rounds)
        return outcome.model_copy(update={"recorded": kept})

    def keep(
        self, person: q.Person | None, role: str, address: q.Address, player: Player, dealt: Deal,
        rounds: list[Round], answer: int | None,
    ) -> bool:  # fmt: skip
        """Record a decision of somebody who agreed to it, where this server does."""
        if self.study is None or person is None:
            return False
        space, last = self.games[dealt.game].space, rounds[-1]
        self.study.keep(
            Decision(
                at=now(),
                participant=person.participant,
                session=person.session,
                role=role,
                game=dealt.game,
                seed=dealt.seed,
                candidates=[space.names(i) for i in dealt.instances],
                words=list(space.attributes),
                target=dealt.target,
                rounds=dealt.rounds,
                agent=player.name,
                version=player.version,
                step=player.steps[address.step],
                round=len(rounds),
                said=[space.attributes[one.word] for one in rounds],
                answer=answer,
                right=None if answer is None else answer == dealt.target,
                milliseconds=person.milliseconds,
                before=last.before,
                after=last.after,
                estimate=last.estimate,
                values=last.values,
            )
        )
        return True


def ended(game: Playable, dealt: Deal, rounds: list[Round], guess: int | None = None) -> q.Outcome:
    """A game that is over, beside what others can expect of it."""
    answer = rounds[-1].answer if guess is None else guess
    literal, exact = expected(game, dealt)
    return q.Outcome(
        words=[one.word for one in rounds], over=True, target=dealt.target, answer=answer,
        gain=round((answer == dealt.target) - dealt.cost * len(rounds), 3), literal=literal, exact=exact,
        thoughts=rounds,
    )  # fmt: skip
