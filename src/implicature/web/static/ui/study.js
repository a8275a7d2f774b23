// A study by a plan: one screen at a time, as the server has it. Nothing else can be opened from here, and what a participant
// must not know yet is not in the page: the server sends a target only to a teacher, or after the answer.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact.js";
import { quote } from "../engine/reasons.js";
import { Bubble, Cards } from "./board.js";
import { Paints } from "./draw.js";
import { painted, viewport, watchFocus } from "./measure.js";
import { newUUID, request } from "./play.js";
import { useShortcuts } from "./shortcuts.js";

const CODE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const MIN_DECISION = 150; // milliseconds after the pictures were painted: what comes sooner was meant for the screen before

// Who takes part, by the link: a participant code, or what Prolific adds to it.
export function readParticipant(search) {
  const parameters = new URLSearchParams(search);
  const take = (name) => parameters.get(name) || null;
  const ids = { prolific_pid: take("PROLIFIC_PID"), study_id: take("STUDY_ID"), session_id: take("SESSION_ID") };
  const code = ids.prolific_pid ?? take("participant");
  const wrong = [code, ...Object.values(ids)].find((value) => value !== null && !CODE.test(value));
  return wrong === undefined ? { who: { code, ...ids } } : { error: `This link cannot be used: “${wrong.slice(0, 80)}” is not a participant’s code. Ask the researcher for yours.` };
}

function Paragraphs({ text }) {
  return text.split(/\n{2,}/).map((part, i) => html`<p key=${i}>${part}</p>`);
}

export function Study({ about }) {
  const [{ who, error: wrong }] = useState(() => readParticipant(location.search));
  const [code, setCode] = useState(who?.code ?? null);
  const [screen, setScreen] = useState(null);
  const [error, setError] = useState(null);
  const [declined, setDeclined] = useState(false);
  const sending = useRef(false);
  const heading = useRef(null);
  const person = who && { ...who, code };
  const send = async (path, body = {}) => {
    if (sending.current) return; // one at a time
    sending.current = true;
    try {
      setScreen(await request(`study/${path}`, { who: person, ...body }));
      setError(null);
    } catch (problem) {
      setError(problem.message);
    } finally {
      sending.current = false;
    }
  };
  useEffect(() => { document.title = about.study; }, []);
  useEffect(() => { if (code) send("screen"); }, [code]);
  useEffect(() => { if (screen && screen.kind !== "trial") { scrollTo(0, 0); heading.current?.focus({ preventScroll: true }); } }, [screen]);
  const done = (answer = {}) => send("done", { position: screen.position, viewport: viewport(), ...answer });
  const steps = screen && screen.kind !== "consent" && html`<progress max=${screen.steps - 1} value=${screen.position} aria-label="Progress"></progress>`;
  return html`<${Paints} /><div class="study">
    <header><h1>${about.study}</h1>${steps}</header>
    <main>${wrong ? html`<p class="error" role="alert">${wrong}</p>` : !code ? html`<${CodeForm} onCode=${setCode} />`
      : declined ? html`<${Declined} onBack=${() => setDeclined(false)} />`
        : screen ? html`<${ScreenView} ...${{ screen, done, heading, onConsent: () => send("consent", { consent: true, session: newUUID().slice(0, 8) }), onDecline: () => setDeclined(true), onNext: () => setScreen({ ...screen, feedback: null }) }} />`
          : !error && html`<p class="busy">One moment …</p>`}
      ${error && html`<p class="error" role="alert">${error} <button type="button" onClick=${() => send("screen")}>Try again</button></p>`}</main></div>`;
}

function CodeForm({ onCode }) {
  const [typed, setTyped] = useState("");
  const submit = (event) => { event.preventDefault(); if (CODE.test(typed.trim())) onCode(typed.trim()); };
  return html`<form class="page" onSubmit=${submit}><h2>Who are you?</h2><p>Type the participant code that you were given. If you have begun before, you go on where you were.</p>
    <label>Participant code <input value=${typed} onInput=${(event) => setTyped(event.target.value)} maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9_.\\-]*" required autocomplete="off" /></label>
    <div class="actions"><button type="submit" class="main">Continue</button></div></form>`;
}

function Declined({ onBack }) {
  return html`<section class="page"><h2>You do not take part</h2><p>Nothing was recorded. You may close this page.</p>
    <div class="actions"><button type="button" class="quiet" onClick=${onBack}>Back</button></div></section>`;
}

function ScreenView({ screen, done, heading, onConsent, onDecline, onNext }) {
  if (screen.feedback) return html`<${FeedbackView} feedback=${screen.feedback} onNext=${onNext} />`;
  const title = (text) => html`<h2 ref=${heading} tabindex="-1">${text}</h2>`;
  const next = (onClick, text = "Continue") => html`<div class="actions"><button type="button" class="main" onClick=${onClick}>${text}</button></div>`;
  if (screen.kind === "consent") {
    return html`<section class="page">${title("Before you begin")}<${Paragraphs} text=${screen.text} />
      <div class="actions"><button type="button" class="main" onClick=${onConsent}>I agree</button><button type="button" onClick=${onDecline}>I do not agree</button></div></section>`;
  }
  if (screen.kind === "trial") return html`<${TrialView} key=${screen.position} trial=${screen.trial} done=${done} />`;
  if (screen.kind === "comprehension") return html`<${Comprehension} key=${screen.attempts_left} screen=${screen} title=${title} done=${done} />`;
  if (screen.kind === "text") {
    const again = screen.wrong.length > 0 && html`<p class="error" role="alert">Not all answers were right. Please read the instructions again.</p>`;
    return html`<section class="page" key=${screen.position}>${title("Instructions")}${again}<${Paragraphs} text=${screen.text} />${next(() => done())}</section>`;
  }
  return html`<section class="page">${title(screen.kind === "end" ? "This is the end" : "The study ends here")}<${Paragraphs} text=${screen.text} />
    ${screen.code && html`<p>Your completion code: <strong class="code">${screen.code}</strong></p>`}
    ${screen.url && html`<p><a class="button main" href=${screen.url} rel="noreferrer">Go back to the page that sent you here</a></p>`}</section>`;
}

function Comprehension({ screen, title, done }) {
  const [answers, setAnswers] = useState(screen.questions.map(() => null));
  const submit = (event) => { event.preventDefault(); if (!answers.includes(null)) done({ answers }); };
  return html`<form class="page" onSubmit=${submit}>${title("Is everything clear?")}
    ${screen.questions.map((one, i) => html`<fieldset key=${i}><legend>${one.question}</legend>${one.answers.map((text, j) => html`
      <label key=${j} class="choice"><input type="radio" name=${`question-${i}`} required checked=${answers[i] === j} onChange=${() => setAnswers(answers.map((old, k) => (k === i ? j : old)))} /> ${text}</label>`)}</fieldset>`)}
    ${screen.attempts_left === 1 && html`<p class="hint">This is your last attempt.</p>`}
    <div class="actions"><button type="submit" class="main">Check my answers</button></div></form>`;
}

// The cards as the board draws them; no word is marked on them.
function contextOf(trial) {
  const candidates = trial.cards.map((one) => ({ ...one, instance: -1 }));
  return { key: "trial", words: trial.words, space: { name: "study", kind: trial.draw, pictures: false }, candidates };
}

function Said({ trial }) {
  if (trial.check) return html`<p class="task check">${trial.check}</p>`;
  if (trial.role === "teacher") return html`<p class="task">You mean <b>the marked object</b>. Which word do you say?</p>`;
  return html`<${Bubble} role="teacher" speaker="She says">${quote(trial.said)}<//><p class="task">Which one does she mean?</p>`;
}

function TrialView({ trial, done }) {
  const root = useRef(null);
  const turn = useRef({ started: 0, focus: () => 0, id: newUUID(), sent: false });
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let timer = null;
    turn.current.focus = watchFocus();
    painted(root.current).then((time) => {
      turn.current.started = time;
      timer = setTimeout(() => setReady(true), MIN_DECISION);
    });
    return () => clearTimeout(timer);
  }, []);
  const decide = (answer) => {
    const { started, focus, id, sent } = turn.current;
    if (sent || !ready) return;
    turn.current.sent = true;
    const time = Math.min(86_400_000, Math.round(performance.now() - started));
    done({ answer, reaction_time_ms: time, focus_lost: focus(), decision_id: id }).finally(() => { turn.current.sent = false; });
  };
  const speaks = trial.role === "teacher" && !trial.check;
  const options = speaks ? trial.words.length : trial.cards.length;
  useShortcuts(true, (pressed) => { if (/^[1-9]$/.test(pressed) && Number(pressed) <= options) decide(Number(pressed) - 1); });
  const words = !trial.check && html`<div class="vocabulary"><p>${speaks ? "You can say:" : "She can say:"}</p>${speaks
    ? html`<div class="words" role="group" aria-label="Words">${trial.words.map((word, m) => html`<button key=${m} type="button" class="word" onClick=${(event) => event.detail < 2 && decide(m)}>${word}</button>`)}</div>`
    : html`<ul>${trial.words.map((word) => html`<li key=${word} class="chip">${word}</li>`)}</ul>`}</div>`;
  return html`<section class="trial" ref=${root} aria-busy=${String(!ready)} aria-label=${trial.practice ? "Practice" : "Trial"}>
    ${trial.practice && html`<p class="hint">Practice</p>`}<div class="dialogue"><${Said} trial=${trial} /></div>
    <${Cards} context=${contextOf(trial)} target=${speaks ? trial.target : null} targetTag="you mean this" onGuess=${speaks ? null : decide} keys=${!speaks} />${words}</section>`;
}

function FeedbackView({ feedback, onNext }) {
  const button = useRef(null);
  const { trial, correct, target, answer } = feedback;
  useEffect(() => { button.current?.focus({ preventScroll: true }); }, []);
  const speaks = trial.role === "teacher";
  const text = speaks ? (correct ? "Right: he found it." : "He chose another one.") : correct ? "Right." : "Not this one.";
  return html`<section class="trial" aria-label="Feedback">${trial.practice && html`<p class="hint">Practice</p>`}
    <div class="dialogue">${!speaks && html`<${Bubble} role="teacher" speaker="She says">${quote(trial.said)}<//>`}<p role="status" class=${`verdict ${correct ? "correct" : "wrong"}`}>${text}</p></div>
    <${Cards} context=${contextOf(trial)} target=${target} targetTag=${speaks ? "you meant this" : "she meant this"} answer=${answer} answerTag=${speaks ? "his choice" : "your choice"} />
    <div class="actions"><button type="button" class="main" ref=${button} onClick=${onNext}>Continue</button></div></section>`;
}
