// The page of the appointment game: you and a partner who computes in the browser.

import { html, render, useEffect, useState } from "./vendor/htm-preact.js";
import {
  COST, NONE, RUNS, SLOTS, afterHearing, afterSending, decide, freeSlots, isBusy, isTrue, newState, randomFrom, runName, score,
} from "./engine/appointment.js";

const PARTNERS = { exact: "reasons about you (exact, depth 10)", literal: "takes words literally" };
const MESSAGES = [1, 2, 3];
const ME = 0;
const PARTNER = 1;
const SLOT_LIST = Array.from({ length: SLOTS }, (_, slot) => slot);

function readAddress() {
  const given = new URLSearchParams(location.search);
  const messages = Number(given.get("messages"));
  return {
    seed: /^\d{1,9}$/.test(given.get("seed") ?? "") ? Number(given.get("seed")) : newSeed(),
    partner: given.get("partner") in PARTNERS ? given.get("partner") : "exact",
    messages: MESSAGES.includes(messages) ? messages : 2,
    begins: given.get("begins") === "partner" ? PARTNER : ME,
  };
}

const newSeed = () => Math.floor(Math.random() * 10 ** 6);

function writeAddress({ seed, partner, messages, begins }) {
  history.replaceState(null, "", `?${new URLSearchParams({ seed, partner, messages, begins: begins === ME ? "you" : "partner" })}`);
}

// A game: both calendars; what you would believe if you reasoned exactly, and what the partner believes.
function newGame(address) {
  const random = randomFrom(address.seed);
  const calendar = () => 1 + Math.floor(random() * (2 ** SLOTS - 1));
  return { ...address, random, held: [calendar(), calendar()], mine: newState(address.messages), theirs: newState(address.messages), turn: address.begins, lines: [], answer: null };
}

const answerText = (answer) => (answer === NONE ? "There is none." : `Slot ${answer + 1}?`);
const line = (who, text) => ({ who, text });

function say(game, m) {
  const { turn, partner, mine, theirs } = game;
  const states = turn === ME
    ? { mine: afterSending("exact", mine, m), theirs: afterHearing(partner, theirs, m) }
    : { mine: afterHearing("exact", mine, m), theirs: afterSending(partner, theirs, m) };
  return { ...game, ...states, turn: 1 - turn, lines: [...game.lines, line(turn, `I am busy in ${runName(RUNS[m])}.`)] };
}

const giveAnswer = (game, answer) => ({ ...game, answer, lines: [...game.lines, line(game.turn, answerText(answer))] });

function partnerMoves(game) {
  const { answer, message } = decide(game.partner, game.theirs, game.held[PARTNER], game.random);
  return message === undefined ? giveAnswer(game, answer) : say(game, message);
}

const percent = (p) => `${Math.round(100 * p)} %`;

function CalendarRow({ title, calendar, answer, right }) {
  return html`<tr><th scope="row">${title}</th>${SLOT_LIST.map((slot) => {
    const busy = isBusy(calendar, slot);
    const mark = answer === slot ? (right ? "right" : "wrong") : "";
    return html`<td key=${slot} class=${`${busy ? "is-busy" : ""} ${mark}`}>${busy ? "busy" : "free"}</td>`;
  })}</tr>`;
}

function BeliefRow({ title, belief }) {
  return html`<tr class="beliefs"><th scope="row">${title}</th>${Array.from(freeSlots(belief), (p, slot) => html`<td key=${slot}>
    <meter value=${p} min="0" max="1" aria-label=${`Slot ${slot + 1} is free with ${percent(p)}`}></meter>${Math.round(100 * p)}<span class="unit"> %</span></td>`)}</tr>`;
}

function Calendars({ game, over }) {
  const { held, answer, mine, theirs } = game;
  const right = over && score(answer, ...held) > 0;
  return html`<table class="calendars">
    <thead><tr><th scope="col"><span class="hidden">Whose</span></th>${SLOT_LIST.map((slot) => html`<th key=${slot} scope="col">${slot + 1}</th>`)}</tr></thead>
    <tbody>
      <${CalendarRow} title="You" calendar=${held[ME]} answer=${answer} right=${right} />
      <${BeliefRow} title="free, your partner believes" belief=${theirs.belief} />
      ${over
        ? html`<${CalendarRow} title="Your partner" calendar=${held[PARTNER]} answer=${answer} right=${right} />`
        : html`<tr><th scope="row">Your partner</th><td colspan=${SLOTS}>you cannot see it</td></tr>`}
      <${BeliefRow} title="free, you could conclude" belief=${mine.belief} />
    </tbody></table>`;
}

function Moves({ game, onMove }) {
  const [advice, advise] = useState(null);
  const calendar = game.held[ME];
  const runs = game.mine.left > 0 ? RUNS.flatMap((run, m) => (isTrue(run, calendar) ? [m] : [])) : [];
  const ask = () => {
    const { answer, message, worth } = decide("exact", game.mine, calendar, game.random);
    const what = message === undefined ? (answer === NONE ? "answer “none”" : `propose slot ${answer + 1}`) : `say “${runName(RUNS[message])}”`;
    advise(`An exact player would ${what}, and expect a return of ${worth.toFixed(2).replace("-", "−")} from now on.`);
  };
  return html`<div>
    ${runs.length > 0 && html`<fieldset><legend>Say where you are busy (costs ${COST}; ${game.mine.left} left)</legend><div class="turns">
      ${runs.map((m) => html`<button key=${m} type="button" onClick=${() => onMove(say(game, m))}>${runName(RUNS[m])}</button>`)}</div></fieldset>`}
    <fieldset><legend>Or end the game: propose a slot, or say that there is none</legend><div class="turns">
      ${SLOT_LIST.map((slot) => html`<button key=${slot} type="button" disabled=${isBusy(calendar, slot)} aria-label=${`Slot ${slot + 1}`} onClick=${() => onMove(giveAnswer(game, slot))}>${slot + 1}</button>`)}
      <button type="button" onClick=${() => onMove(giveAnswer(game, NONE))}>none</button></div></fieldset>
    <p><button type="button" class="quiet" onClick=${ask}>What would an exact player do?</button></p>
    <p class="hint" role="status">${advice}</p></div>`;
}

function Verdict({ game }) {
  const reward = score(game.answer, ...game.held);
  const total = reward - COST * (game.messages - game.mine.left);
  const why = reward > 0 ? "Right." : reward === -1 ? "Wrong: there is a slot that is free in both." : "Wrong: that slot is not free in both.";
  return html`<p class=${`verdict ${reward > 0 ? "correct" : "wrong"}`} role="status">${why} Return ${total.toFixed(1).replace("-", "−")}.</p>`;
}

function Settings({ game, onChange }) {
  const select = (name, label, options, parse = (value) => value) => html`<label>${label}
    <select value=${game[name]} onChange=${(event) => onChange({ [name]: parse(event.target.value) })}>
      ${options.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}</select></label>`;
  return html`<div class="row settings">
    ${select("partner", "Your partner", Object.entries(PARTNERS))}
    ${select("messages", "Messages of both", MESSAGES.map((number) => [number, `up to ${number}`]), Number)}
    ${select("begins", "First to speak", [[ME, "you"], [PARTNER, "your partner"]], Number)}</div>`;
}

function Appointment() {
  const [game, setGame] = useState(() => newGame(readAddress()));
  const over = game.answer !== null;
  useEffect(() => writeAddress(game), [game.seed, game.partner, game.messages, game.begins]);
  useEffect(() => {
    if (over || game.turn !== PARTNER) return undefined;
    const timer = setTimeout(() => setGame(partnerMoves(game)), 300);
    return () => clearTimeout(timer);
  }, [game]);
  const again = (changes) => setGame(newGame({ seed: game.seed, partner: game.partner, messages: game.messages, begins: game.begins, ...changes }));
  return html`<main class="appointment">
    <header><h1>When are you both free?</h1>
      <p>You both look for a slot that is free in both calendars, and each sees only the own one. Right: 1. A wrong slot: −2. “None” where there is one: −1. Each message: −${COST}. So say little, and listen to what is left out.</p></header>
    <${Calendars} game=${game} over=${over} />
    <div class="dialogue" aria-live="polite">${game.lines.map(({ who, text }, i) => html`<p key=${i} class=${`bubble ${who === ME ? "student" : "teacher"}`}><span class="speaker">${who === ME ? "You" : "Your partner"}:</span> ${text}</p>`)}
      ${!over && game.turn === PARTNER && html`<p class="busy">Your partner thinks …</p>`}</div>
    ${over && html`<${Verdict} game=${game} />`}
    ${!over && game.turn === ME && html`<${Moves} key=${game.lines.length} game=${game} onMove=${setGame} />`}
    <div class="actions"><button type="button" class=${over ? "main" : ""} onClick=${() => again({ seed: newSeed() })}>New game</button>
      ${over && html`<button type="button" onClick=${() => again({})}>The same game again</button>`}</div>
    <${Settings} game=${game} onChange=${again} />
    <p><a class="other" href="./">The games with one teacher and one student</a></p>
  </main>`;
}

const root = document.getElementById("root");
root.replaceChildren();
render(html`<${Appointment} />`, root);
