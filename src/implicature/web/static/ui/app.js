// The whole page: where it is (the address), who plays, and the mode that is shown.

import { html, useCallback, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
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
    if (!response.ok) throw new Error("The trained pair could not be loaded: try again.");
    return parseSafetensors(await response.arrayBuffer());
  };
  return Promise.all(phases.map(load));
}

// The address as state: change it, and the browser's history follows.
function useAddress(env, mind) {
  const read = () => {
    const { address, error } = readAddress(location.search, env.site, env.about);
    return error ? { address: null, error } : { address: completeAddress(address, env, Math.random, mind), error: null };
  };
  const [state, setState] = useState(read);
  const go = useCallback((address, replace = false) => {
    const url = writeAddress(address);
    if (url !== location.search) history[replace ? "replaceState" : "pushState"](null, "", url);
    setState({ address, error: null });
  }, []);
  useEffect(() => {
    if (state.address) go(state.address, true);
    const back = () => setState(read());
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  return { ...state, go };
}

export function App({ site, about }) {
  const [pair, setPair] = useState(null);
  const [participant, setParticipant] = useState(() => (about?.consent ? knownAnswer(new URLSearchParams(location.search).get("participant")) : null));
  const [shortcuts, setShortcuts] = useState(() => stored("shortcuts", true));
  const [own, setOwn] = useState(() => stored("own-objects", null));
  const [score, setScore] = useState({});
  const [mind, setMind] = useState(randomMind);
  const [news, announce] = useState("");
  const [failed, setFailed] = useState(null);
  const games = useRef(newSession());
  const pairReady = useRef(Promise.resolve(null)); // the pair, or null where it is not needed or could not be loaded
  const env = useMemo(() => ({ site, about, pair, pairReady, games: games.current, participant: participant?.declined ? null : participant, shortcuts, own }), [pair, participant, shortcuts, own]);
  const { address, error, go } = useAddress(env, mind);
  const mode = address?.mode;
  useEffect(() => {
    if (pair || !address || mode === "story" || (address.agent !== "trained" && address.game !== site.pair.game)) return;
    const loaded = loadPair(site.pair.phases);
    pairReady.current = loaded.catch(() => null);
    loaded.then(setPair, (problem) => setFailed(problem.message));
  }, [mode, address?.agent, address?.game]);
  if (error) return html`<${Shell} mode=${null} onMode=${null}><p class="error" role="alert">${error} <button type="button" onClick=${() => { location.search = ""; }}>Start afresh</button></p><//>`;
  if (about?.consent && !participant) {
    return html`<${Shell} mode=${null} onMode=${null}><${Consent} text=${about.consent} code=${address.participant} onAnswer=${(answer) => {
      setParticipant(answer);
      if (answer.code) go({ ...address, participant: answer.code }, true);
    }} /><//>`;
  }
  const change = (changes, replace = false) => go(completeAddress({ ...address, ...changes }, env, Math.random, mind), replace);
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
  const scoreKey = mode === "teacher" ? `teacher ${address.partner} ${address.agent}` : mode;
  const common = {
    env, address, change, announce, onMode, onNext, mind,
    score: score[scoreKey] ?? NO_SCORE,
    onScore: (scores, fits) => setScore((before) => ({ ...before, [scoreKey]: addScore(before[scoreKey] ?? NO_SCORE, scores, fits) })),
    onReasoning: isRemote(address, env) ? null : (play) => toTop({ ...START, mode: "reasoning", game: address.game, candidates: address.candidates, target: address.target, word: play.context.words[play.messages[0]] }),
    onPartner: () => {
      const other = randomMind();
      setMind(other);
      setScore((before) => ({ ...before, [scoreKey]: NO_SCORE }));
      toTop(nextAddress(address, env, Math.random, other));
    },
  };
  const Mode = { story: Story, student: Student, teacher: Teacher, reasoning: Reasoning, watch: Watch }[mode];
  return html`<${Shell} mode=${mode} onMode=${onMode} modes=${env.participant ? ["student", "teacher"] : Object.keys(MODES)} news=${news}>
    ${failed && html`<p class="error" role="alert">${failed}</p>`}
    ${env.participant && html`<p class="recorded">Your answers are recorded as ${env.participant.code}.</p>`}
    <${Mode} ...${common} />
    ${mode !== "story" && !env.participant && html`<${Settings} ...${{ env, address, change, shortcuts, onShortcuts: (value) => { setShortcuts(value); store("shortcuts", value); }, onOwn: (objects) => { setOwn(objects); store("own-objects", objects); } }} />`}
  <//>`;
}

const SHORT_NAMES = { story: "Story", student: "Student", teacher: "Teacher", reasoning: "Table", watch: "Learn" };

const KEYS = {
  student: html`<kbd>1</kbd> … <kbd>9</kbd> choose, <kbd>w</kbd> waits for another word`,
  teacher: html`in games of numbers a digit says it`,
};

function Shell({ mode, onMode, modes = [], news = "", children }) {
  return html`<${Paints} />
    <header><div class="brand"><h1>implicature</h1><p>Say one word. Read between the lines.</p></div>
      ${onMode && html`<nav aria-label="Modes">${modes.map((name) => html`<button key=${name} type="button" aria-current=${mode === name ? "page" : null} onClick=${() => onMode(name)}><span class="long">${MODES[name]}</span><span class="short">${SHORT_NAMES[name]}</span></button>`)}</nav>`}
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
