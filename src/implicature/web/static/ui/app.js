// The whole page: where it is (the address), who plays, and the mode that is shown.

import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
import { parseSafetensors } from "../engine/exchange.js";
import { completeAddress, isRemote, nextAddress } from "../dealing.js";
import { MODES, readAddress, START, writeAddress } from "../url.js";
import { Consent, knownAnswer } from "./consent.js";
import { Paints } from "./draw.js";
import { newSession } from "./play.js";
import { Reasoning } from "./reasoning.js";
import { addScore, NO_SCORE } from "./score.js";
import { Settings } from "./settings.js";
import { Story } from "./story.js";
import { Student } from "./student.js";
import { randomMind, Teacher } from "./teacher.js";
import { Watch } from "./watch.js";

// What is kept in the browser; nothing where storage is disabled.
function stored(name, otherwise) {
  try { return JSON.parse(localStorage.getItem(name)) ?? otherwise; } catch { return otherwise; }
}
function store(name, value) {
  try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* storage is disabled */ }
}

async function loadPair(phases) {
  const load = async (phase) => {
    const response = await fetch(`data/pair/phase-${phase}.safetensors`);
    if (!response.ok) throw new Error(response.statusText);
    return parseSafetensors(await response.arrayBuffer());
  };
  return Promise.all(phases.map(load));
}

// The networks of the packaged pair, from the first time that they are `needed`. `ready` resolves to them, or to null
// where they are not needed or could not be loaded.
function usePair(site, needed) {
  const [state, setState] = useState({ pair: null, failed: false });
  const ready = useRef(Promise.resolve(null));
  const loading = useRef(false);
  const load = () => {
    loading.current = true;
    setState({ pair: null, failed: false });
    ready.current = loadPair(site.pair.phases).then(
      (pair) => { setState({ pair, failed: false }); return pair; },
      () => { loading.current = false; setState({ pair: null, failed: true }); return null; },
    );
  };
  useLayoutEffect(() => { if (needed && !loading.current) load(); }, [needed]);
  return { ...state, ready, load };
}

const HISTORY_TIME = 400; // milliseconds: Safari allows 100 changes of an address in 30 s, and a slider makes more

// The browser's history: a new entry at once, changes of the last one not too often.
function newHistory() {
  let timer = null, waiting = null;
  const replace = (url) => { if (url !== location.search) history.replaceState(null, "", url); };
  const flush = () => { if (waiting !== null) replace(waiting); waiting = null; };
  const flushInTurn = () => {
    timer = waiting === null ? null : setTimeout(flushInTurn, HISTORY_TIME);
    flush();
  };
  return {
    push(url) { flush(); if (url !== location.search) history.pushState(null, "", url); },
    replace(url) {
      waiting = url;
      if (timer === null) flushInTurn();
    },
    forget() { waiting = null; },
  };
}

// The address as state: change it, and the browser's history follows.
function useAddress(env, mind) {
  const read = () => {
    const { address, error } = readAddress(location.search, env.site, env.about);
    return error ? { address: null, error } : { address: completeAddress(address, env, Math.random, mind), error: null };
  };
  const [state, setState] = useState(read);
  const latest = useRef(state.address);
  const entries = useMemo(newHistory, []);
  const go = useCallback((address, replace = false) => {
    latest.current = address;
    setState({ address, error: null });
    entries[replace ? "replace" : "push"](writeAddress(address));
  }, []);
  useEffect(() => {
    if (state.address) go(state.address, true);
    const back = () => {
      entries.forget();
      const there = read();
      latest.current = there.address;
      setState(there);
    };
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  return { ...state, go, latest };
}

export function App({ site, about }) {
  const [participant, setParticipant] = useState(() => (about?.consent ? knownAnswer(new URLSearchParams(location.search).get("participant")) : null));
  const [shortcuts, setShortcuts] = useState(() => stored("shortcuts", true));
  const [own, setOwn] = useState(() => stored("own-objects", null));
  const [score, setScore] = useState({});
  const [mind, setMind] = useState(() => readAddress(location.search, site, about).address?.mind ?? randomMind());
  const [news, announce] = useState("");
  const games = useRef(newSession());
  const basis = useMemo(() => ({ site, about, games: games.current, participant: participant?.declined ? null : participant, shortcuts, own }), [participant, shortcuts, own]);
  const { address, error, go, latest } = useAddress(basis, mind);
  const mode = address?.mode;
  const needed = Boolean(address) && mode !== "story" && (address.agent === "trained" || address.game === site.pair.game);
  const { pair, failed, ready, load } = usePair(site, needed);
  const env = useMemo(() => ({ ...basis, pair, pairReady: ready }), [basis, pair]);
  if (error) return html`<${Shell} mode=${null} onMode=${null}><p class="error" role="alert">${error} <button type="button" onClick=${() => { location.search = ""; }}>Start afresh</button></p><//>`;
  if (about?.consent && !participant) {
    return html`<${Shell} mode=${null} onMode=${null}><${Consent} text=${about.consent} code=${address.participant} onAnswer=${(answer) => {
      setParticipant(answer);
      if (answer.code) go({ ...address, participant: answer.code }, true);
    }} /><//>`;
  }
  // From the address as it is now: a timer that was started before a slider was moved does not move it back.
  const change = (changes, replace = false) => go(completeAddress({ ...latest.current, ...changes }, env, Math.random, mind), replace);
  // To a new board, whose beginning is to be seen.
  const toTop = (to) => { announce(""); go(to); scrollTo({ top: 0 }); };
  // Another mode is another game: who has watched or taught a game knows its target.
  const onMode = (to) => {
    const kept = to === "reasoning" || to === "story" || (to === "watch" && address.agent === "exact") ? { agent: to === "watch" ? "trained" : "exact" } : {};
    const fresh = { ...START, participant: address.participant, condition: address.condition, agent: address.agent, ...kept };
    const game = to === mode || to === "story" || to === "watch" || address.game === "custom" || mode === "story" ? null : address.game;
    toTop(completeAddress({ ...fresh, mode: to, game: address.agent === "exact" || isRemote(address, env) ? game : null, seed: about?.consent ? null : fresh.seed }, env, Math.random, mind));
  };
  const onNext = () => toTop(nextAddress(address, env, Math.random, mind));
  const common = {
    env, address, change, announce, onMode, onNext,
    score: score[scoreKey(address)] ?? NO_SCORE,
    onScore: (scores, fits) => setScore((before) => ({ ...before, [scoreKey(address)]: addScore(before[scoreKey(address)] ?? NO_SCORE, scores, fits) })),
    onReasoning: isRemote(address, env) ? null : (play) => toTop({ ...START, mode: "reasoning", game: address.game, candidates: address.candidates, target: address.target, word: play.context.words[play.messages[0]] }),
    onPartner: () => {
      const other = randomMind();
      setMind(other);
      const next = nextAddress({ ...address, mind: other }, env, Math.random, other);
      setScore((before) => ({ ...before, [scoreKey(next)]: NO_SCORE }));
      toTop(next);
    },
  };
  const Mode = { story: Story, student: Student, teacher: Teacher, reasoning: Reasoning, watch: Watch }[mode];
  return html`<${Shell} mode=${mode} onMode=${onMode} modes=${env.participant ? ["student", "teacher"] : Object.keys(MODES)} news=${news}>
    ${failed && needed && html`<p class="error" role="alert">The trained pair could not be loaded: check the connection. <button type="button" onClick=${load}>Try again</button></p>`}
    ${env.participant && html`<p class="recorded">Your answers are recorded as ${env.participant.code}.</p>`}
    ${!(failed && needsPair(address, env)) && html`<${Mode} ...${common} />`}
    ${mode !== "story" && !env.participant && html`<${Settings} ...${{ env, address, change, shortcuts, onShortcuts: (value) => { setShortcuts(value); store("shortcuts", value); }, onOwn: (objects) => { setOwn(objects); store("own-objects", objects); } }} />`}
  <//>`;
}

// A teacher's score is with one partner.
const scoreKey = ({ mode, partner, mind, agent }) => (mode === "teacher" ? `teacher ${partner} ${mind} ${agent}` : mode);

// Without the packaged pair there is nothing to show; elsewhere it is one player among others.
const needsPair = (address, env) => address.agent === "trained" && !isRemote(address, env);

const SHORT_NAMES = { story: "Story", student: "Student", teacher: "Teacher", reasoning: "Table", watch: "Learn" };

const KEYS = {
  student: html`<kbd>1</kbd> … <kbd>9</kbd> choose, <kbd>w</kbd> waits for another word`,
  teacher: html`in games of numbers a digit says it`,
};

function Shell({ mode, onMode, modes = [], news = "", children }) {
  return html`<${Paints} />
    <header><div class="brand"><h1>implicature</h1><p>Say one word. Read between the lines.</p></div>
      ${onMode && html`<nav aria-label="Modes">${modes.map((name) => html`<button key=${name} type="button" aria-current=${mode === name ? "page" : null} onClick=${() => onMode(name)}><span class="long" data-text=${MODES[name]}>${MODES[name]}</span><span class="short" data-text=${SHORT_NAMES[name]}>${SHORT_NAMES[name]}</span></button>`)}</nav>`}
      <${ThemeButton} /></header>
    <main>${children}</main>
    <p class="hidden" role="status" aria-live="polite">${news}</p>
    ${KEYS[mode] && html`<footer><p>Keys: ${KEYS[mode]}, <kbd>n</kbd> is the next game; <kbd>Tab</kbd> and <kbd>Enter</kbd> everywhere. Single keys can be turned off under “Change the game”.</p></footer>`}`;
}

function ThemeButton() {
  const [theme, setTheme] = useState(() => stored("theme", null));
  useEffect(() => { if (theme) document.documentElement.dataset.theme = theme; }, [theme]);
  const toggle = () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    setTheme(dark ? "light" : "dark");
    store("theme", dark ? "light" : "dark");
  };
  return html`<button type="button" class="theme" aria-label="Switch between light and dark" onClick=${toggle}>◐</button>`;
}
