// One game from the first word to its end, in the browser (exact players, the packaged pair) or on the server (runs, own
// agents, recorded participants). Both give the same kind of play:
//
//   { context, target (null before a student has answered), messages, answers, over, answer, rounds, agent, recorded }

import { useCallback, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { follow, pickTied, speak } from "../engine/agents.js";
import { makeContext } from "../engine/context.js";
import { MAX_ROUNDS } from "../url.js";
import { painted, viewport, watchFocus } from "./measure.js";

export const MESSAGE_COST = 0.1; // in games of several words; a single one is free
const MIN_DECISION = 250; // milliseconds: what comes sooner after the last turn is a double click
export const costOf = (rounds) => (rounds > 1 ? MESSAGE_COST : 0);

// ---- in the browser

export function localDriver({ context, target, teacher, student, rounds, mode }) {
  const agent = mode === "teacher" ? student : teacher;
  const hidden = { context, target, agent, recorded: false, maxRounds: rounds };
  const ended = (play, answer) => ({ ...play, over: true, answer, answers: [...play.answers, answer], rounds: follow(agent, context, target, play.messages) });
  const nextWord = (messages) => {
    const estimate = messages.length ? estimateAfter(agent, context, target, messages) : context.prior;
    return [...messages, speak(agent, context, target, estimate, messages)];
  };
  return {
    start: async () => ({ ...hidden, messages: mode === "student" ? nextWord([]) : [], answers: [], over: false, answer: null, rounds: [] }),
    guess: async (play, answer) => (answer === "wait" ? { ...play, messages: nextWord(play.messages), answers: [...play.answers, "wait"] } : ended(play, answer)),
    say: async (play, message) => {
      const messages = [...play.messages, message];
      const played = follow(agent, context, target, messages);
      const belief = played.at(-1).after;
      const waits = agent.waits(belief, messages.length === rounds, costOf(rounds));
      const next = { ...play, messages, rounds: played };
      return waits ? { ...next, answers: [...play.answers, "wait"] } : { ...ended(next, pickTied(belief, `${context.key} ${messages}`)), rounds: played };
    },
    // The same words to another student: what she said stays as it was.
    review: (play, other) => ({ ...play, agent: other, rounds: follow(other, context, target, play.messages) }),
  };
}

function estimateAfter(agent, context, target, messages) {
  const last = follow(agent, context, target, messages).at(-1);
  return agent.estimate ? agent.estimate(context, last.estimate, last.word) : last.after;
}

// ---- on the server

export async function request(path, body) {
  let response;
  try {
    response = await fetch(`api/${path}`, body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  } catch {
    throw new Error("The server does not answer: is “implicature play” still running?");
  }
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.message ?? `The server answers with ${response.status}.`);
  return content;
}

// crypto.randomUUID exists only on this computer and over https.
export function newUUID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const serverName = (agent) => (agent === "trained" ? "pretrained" : agent);

export function serverSettings(address, variant = address.variant) {
  const { game, number, instances, rounds, seed, pragmaticOnly } = address;
  return { game, candidates: instances ? null : number, instances, rounds, agent: serverName(address.agent), variant: variant ?? 0, seed: seed ?? 0, pragmatic_only: pragmaticOnly };
}

export function serverAgent(about, name) {
  return about.agents.find((agent) => agent.name === serverName(name));
}

function serverContext(view, game) {
  const space = { ...game, kind: game.kind, share: true, pictures: false, instances: null, labels: null };
  const context = makeContext({ ...space, kind: "words" }, view.candidates.map((one) => one.attributes));
  const words = game.words;
  const describe = (label) => (game.kind === "objects" ? `the ${label}` : label);
  return {
    ...context, space, words, costs: words.map(() => 0), prior: view.candidates.map(() => 1 / view.candidates.length),
    truth: view.candidates.map((one) => words.map((word) => (one.attributes.includes(word) ? 1 : 0))),
    candidates: view.candidates.map((one) => ({
      attributes: one.attributes, label: describe(one.label), instance: one.instance,
      image: game.images ? `api/image/${game.name}/${one.instance}.png` : null,
    })),
  };
}

const roundOf = (one) => ({ word: one.message, before: one.belief_before, after: one.belief_after, estimate: one.teacher_estimate, values: one.values, likelihood: one.likelihood });

export function serverDriver({ about, address, variant, mode, participant }) {
  const settings = serverSettings(address, variant);
  const info = serverAgent(about, address.agent);
  const game = about.games.find((one) => one.name === address.game);
  const agent = { nearTie: info?.name === "exact" ? 0.98 : 0.75, grounded: info?.grounded ?? true, depth: info?.name === "exact" ? settings.variant : null };
  const person = (measured, thoughtsOpen) => participant && { consent: true, code: participant.code, session: participant.session, condition: address.condition, thoughts_open: thoughtsOpen, ...measured };
  const update = (play, state) => ({
    ...play, messages: state.messages, over: state.over, target: state.target, answer: state.answer, rounds: state.rounds.map(roundOf), recorded: state.recorded,
    answers: state.rounds.length ? state.rounds.map((one) => one.answer ?? "wait") : play.answers, expected: state.over ? { literal: state.literal_return, exact: state.exact_return } : null, value: state.return,
  });
  return {
    start: async () => {
      const viewer = mode === "teacher" ? "teacher" : participant && mode === "student" ? "student" : "unrecorded";
      const view = await request("game", { ...settings, viewer });
      const play = { context: serverContext(view, game), agent, answers: [], maxRounds: view.rounds, cost: view.message_cost };
      const state = mode === "watch" ? await request("watch", settings)
        : mode === "teacher" ? await request("teacher", { settings, messages: [] }) : await request("student", { settings, n_messages: 1, participant: person({ reaction_time_ms: 0 }, false) });
      return update(play, state);
    },
    guess: async (play, answer, measured) => {
      const state = await request("student", { settings, n_messages: play.messages.length, answer, participant: person(measured, false) });
      return { ...update(play, state), answers: [...play.answers, state.over ? state.answer : "wait"] }; // what was recorded first, if two were sent
    },
    // After his first answer the bars show what he believes.
    say: async (play, message, measured) => update(play, await request("teacher", { settings, messages: [...play.messages, message], participant: person(measured, play.messages.length > 0) })),
    review: null,
  };
}

// ---- either of them, as a hook: { play, error, busy, guess, say, setPlay }. One decision at a time.

// Of the session of a participant, since the page was loaded: how many games began, and how many were left since the last answer.
export const newSession = () => ({ begun: 0, skips: 0, open: false });

function beginGame(games) {
  games.begun += 1;
  games.skips += Number(games.open);
  games.open = true;
}

export function usePlay(driver, key, games) {
  const [state, setState] = useState({ key: null, play: null, error: null, busy: true });
  const turn = useRef({ inFlight: false, began: 0, started: 0, id: null, focusLost: () => 0 });
  const newTurn = useCallback(() => {
    const began = performance.now();
    const now = { inFlight: false, began, started: began, id: newUUID(), focusLost: watchFocus() };
    turn.current = now;
    // The time starts when the pictures have been painted: those of the new game are on the page after this frame.
    requestAnimationFrame(() => painted().then((time) => { now.started = time; }));
  }, []);
  // Before the next frame, so that a game that is dealt in the browser follows the last one without a gap.
  useLayoutEffect(() => {
    let current = true;
    setState((before) => ({ ...before, busy: true, error: null }));
    driver.start().then(
      (play) => { if (current) { setState({ key, play, error: null, busy: false }); beginGame(games); newTurn(); } },
      (error) => { if (current) setState({ key, play: null, error: error.message, busy: false }); },
    );
    return () => { current = false; };
  }, [key]);
  const act = (name) => async (choice) => {
    const { inFlight, began, started, id, focusLost } = turn.current;
    const play = state.play;
    const time = performance.now() - started;
    if (!play || play.over || inFlight || (play.answers.length && performance.now() - began < MIN_DECISION)) return null;
    turn.current.inFlight = true;
    setState((before) => ({ ...before, busy: true }));
    try {
      const measured = { reaction_time_ms: Math.min(86_400_000, Math.max(0, Math.round(time))), decision_id: id, trial: games.begun, focus_lost: focusLost(), viewport: viewport(), skips: games.skips };
      const next = await driver[name](play, choice, measured);
      games.skips = 0;
      games.open = !next.over;
      setState((before) => (before.key === key ? { key, play: next, error: null, busy: false } : before));
      newTurn();
      return next;
    } catch (error) {
      turn.current.inFlight = false;
      setState((before) => ({ ...before, error: error.message, busy: false }));
      return null;
    }
  };
  const ready = state.key === key;
  return {
    play: ready ? state.play : null, error: state.error, busy: state.busy || !ready, guess: act("guess"), say: act("say"),
    setPlay: (play) => setState((before) => ({ ...before, play })),
  };
}

export const roundsLeft = (play) => Math.min(MAX_ROUNDS, play.maxRounds) - play.messages.length;
