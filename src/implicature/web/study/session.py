"""A study by a plan: which screen a participant is at, and what is recorded when it is done.

The server alone knows the order of trials and the targets. A screen that is done twice, in two tabs or by a request
that was sent again, counts once: the first answer stands, and whoever asks gets the present screen.
"""

from functools import lru_cache

from implicature import __version__
from implicature.web.decisions import PRACTICE, Decision, current_time
from implicature.web.sessions import IsGone
from implicature.web.storage import Study
from implicature.web.study import schemas
from implicature.web.study.order import Step, steps_of
from implicature.web.study.participants import ACTIVE, COMPLETE, FAILED, Participants, ParticipantState
from implicature.web.study.plan import Drawing, Plan
from implicature.web.study.trials import cards_of, playable_trial


class PlannedStudy:
    """A plan and its participants."""

    def __init__(self, plan: Plan, study: Study):
        self.plan, self.study = plan, study
        self.participants = Participants(study, plan.digest)
        self.steps = lru_cache(maxsize=4096)(lambda number: steps_of(plan, number))

    def precompile(self) -> None:
        """Play what the first participant will see."""
        for step in self.steps(0):
            if step.trial is not None and step.trial.check is None:
                trial = playable_trial(step, self.plan.partner_depth)
                trial.play()
                trial.scores()

    def screen(self, who: schemas.Who) -> schemas.Screen:
        state = self.participants.find(who.code)
        if state is None:
            return schemas.Screen(kind="consent", title=self.plan.title, text=self.plan.consent)
        return self.show(state)

    def agree(self, consent: schemas.Consent) -> schemas.Screen:
        who = consent.who
        ids = {"prolific_pid": who.prolific_pid, "study_id": who.study_id, "session_id": who.session_id}
        return self.show(self.participants.add(who.code, who.session_id or consent.session, ids))

    def done(self, done: schemas.Done, is_gone: IsGone = lambda: False) -> schemas.Screen:
        """The next screen; after a trial with feedback, what it was."""
        state = self.participants.find(done.who.code)
        if state is None:
            raise ValueError("This participant has not agreed to take part: open the study's link again.")
        if state.status != ACTIVE or state.position != done.position:
            return self.show(state)
        step, feedback, wrong = self.steps(state.number)[state.position], None, []
        if step.kind == "end":
            return self.show(state)
        if step.kind == "comprehension":
            wrong = self.check_answers(state, done)
        else:
            if step.kind == "trial":
                feedback = self.answer_trial(state, step, done, is_gone)
            self.advance(state)
        now = self.participants.find(done.who.code)
        assert now is not None
        return self.show(now).model_copy(update={"feedback": feedback, "wrong": wrong})

    def advance(self, state: ParticipantState, attempts: int | None = None) -> None:
        to = state.position + 1
        status = COMPLETE if self.steps(state.number)[to].kind == "end" else ACTIVE
        self.participants.advance(state.participant, state.position, to, status, attempts)

    def check_answers(self, state: ParticipantState, done: schemas.Done) -> list[int]:
        """The questions that were not right; then it is back to the instructions, while there are attempts left."""
        questions = self.plan.comprehension
        answers = done.answers or []
        if len(answers) != len(questions):
            raise ValueError(f"There are {len(questions)} questions: answer each.")
        wrong = [i for i, one in enumerate(questions) if answers[i] != one.correct - 1]
        attempts = state.attempts + 1
        self.participants.add_event(
            state.participant, state.position, "comprehension", attempts, not wrong, [one + 1 for one in answers]
        )
        if not wrong:
            self.advance(state, attempts)
        elif attempts < self.plan.attempts:
            self.participants.advance(state.participant, state.position, 0, ACTIVE, attempts)
        else:
            self.participants.advance(state.participant, state.position, state.position, FAILED, attempts)
        return wrong

    def answer_trial(
        self, state: ParticipantState, step: Step, done: schemas.Done, is_gone: IsGone
    ) -> schemas.Feedback | None:
        """Record the answer; what the participant is told about it, if anything."""
        assert step.trial is not None
        cards, speaks = cards_of(step), step.role == "teacher" and step.trial.check is None
        words = () if step.trial.check is not None else playable_trial(step, self.plan.partner_depth).words
        options = len(words) if speaks else len(cards.labels)
        if done.answer is None or done.answer >= options:
            raise ValueError(f"This trial has answers 0 to {options - 1}: choose one of these.")
        if step.trial.check is not None:
            passed = done.answer == cards.target
            detail = {
                "id": step.trial.id,
                "answer": cards.labels[done.answer],
                "reaction_time_ms": done.reaction_time_ms,
            }
            self.participants.add_event(state.participant, state.position, "check", 1, passed, detail)
            return None
        recorded = self.record(state, step, done, is_gone)
        if not step.feedback or recorded.answer is None:
            return None
        correct = recorded.answer == cards.target
        shown = self.trial_screen(step)
        return schemas.Feedback(correct=correct, target=cards.target, answer=recorded.answer, trial=shown)

    def record(self, state: ParticipantState, step: Step, done: schemas.Done, is_gone: IsGone) -> Decision:
        """The decision that stands."""
        trial = playable_trial(step, self.plan.partner_depth)
        speaks = step.role == "teacher"
        assert done.answer is not None
        played = trial.play(done.answer if speaks else None)
        answer = played.answer if speaks else done.answer
        literal, exact = trial.scores()
        decision = Decision(
            time=current_time(), participant=state.participant, session=state.session, role=step.role,
            game=trial.game.name, seed=trial.dealt.seed, candidates=[list(names) for names in trial.cards.attributes],
            words=list(trial.words), target=trial.cards.target, max_rounds=1,
            agent="exact" if trial.said is None else "plan", version=__version__,
            variant=f"depth {trial.depth}", round=1, messages=[trial.words[played.message]], answer=answer,
            correct=None if answer is None else answer == trial.cards.target, reaction_time_ms=done.reaction_time_ms,
            belief_before=played.belief_before, belief_after=played.belief_after,
            teacher_estimate=played.teacher_estimate, values=played.values, decision_id=done.decision_id,
            trial=step.number, block=step.block, condition=step.condition, thoughts_open=False,
            literal_score=literal, exact_score=exact, focus_lost=done.focus_lost, viewport=done.viewport, skips=0,
        )  # fmt: skip
        return self.study.record(decision, is_gone)

    def show(self, state: ParticipantState) -> schemas.Screen:
        """Where the participant is."""
        plan, steps = self.plan, self.steps(state.number)
        common = {"title": plan.title, "position": state.position, "steps": len(steps)}
        if state.status == FAILED:
            return schemas.Screen(kind="failed", text=plan.failed, **common)
        step = steps[state.position]
        if step.kind == "comprehension":
            questions = [schemas.QuestionScreen(question=q.question, answers=q.answers) for q in plan.comprehension]
            left = plan.attempts - state.attempts
            return schemas.Screen(kind="comprehension", questions=questions, attempts_left=left, **common)
        if step.kind == "trial":
            return schemas.Screen(kind="trial", trial=self.trial_screen(step), **common)
        if step.kind == "end":
            code, url = plan.completion.code, plan.completion.url
            return schemas.Screen(kind="end", text=step.text, code=code, url=url, **common)
        return schemas.Screen(kind="text", text=step.text, **common)

    def trial_screen(self, step: Step) -> schemas.TrialScreen:
        """What the participant may see of a trial before the answer."""
        trial, cards = step.trial, cards_of(step)
        assert trial is not None
        draw: Drawing = self.plan.draw
        said, words, images = None, step.words, [None] * len(cards.labels)
        if trial.check is None:
            playable = playable_trial(step, self.plan.partner_depth)
            words = playable.words
            if trial.game is not None:
                draw = playable.game.kind
                if playable.game.space.images is not None:
                    images = [f"api/image/{trial.game}/{instance}.png" for instance in cards.instances]
            if step.role == "student":
                said = words[playable.play().message]
        shown = [
            schemas.Card(attributes=list(names), label=label, image=image)
            for names, label, image in zip(cards.attributes, cards.labels, images, strict=True)
        ]
        target = cards.target if step.role == "teacher" and trial.check is None else None
        return schemas.TrialScreen(
            role=step.role, practice=step.block == PRACTICE, cards=shown, words=[] if trial.check else list(words),
            said=said, check=trial.check, target=target, draw=draw,
        )  # fmt: skip
