// Watch a pair learn: the same game after each phase, beside the learning curve; or two agents of the server.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
import { exactAgent, follow, pickTied, speak, trainedAgent } from "../engine/agents.js";
import { dealWhere, makeContext, pragmaticTargets } from "../engine/context.js";
import { quote, reason, short } from "../engine/reasons.js";
import { best, chanceOf } from "../engine/rsa.js";
import { contextOf, isRemote, settingsOf, variantOf } from "../dealing.js";
import { findSpace, MAX_DEPTH, writeAddress } from "../url.js";
import { answerLine, BarsKey, BeliefTable, Cards, Dialogue, saidLine } from "./board.js";
import { serverAgent, serverDriver } from "./play.js";
import { ShareButton } from "./share.js";

const CURVE_GAMES = 200, CURVE_TIME = 25; // milliseconds at a time, so that the page answers meanwhile
const PHASE_TIME = 2200;
export const phaseName = (phase) => (phase ? `after phase ${phase}` : "before phase 1: literal");

function playGame(agent, context, target) {
  const word = speak(agent, context, target, context.prior, []);
  const [round] = follow(agent, context, target, [word]);
  return { context, target, agent, rounds: [round], messages: [word], answer: pickTied(round.after, `${context.key} ${word}`), over: true };
}

export function Watch({ env, address, change, announce, onNext }) {
  if (isRemote(address, env)) return html`<${WatchServer} ...${{ env, address, change, announce, onNext }} />`;
  if (address.agent === "exact") return html`<${WatchExact} ...${{ env, address, change, announce, onNext }} />`;
  if (!env.pair) return html`<p class="busy">The pair is being loaded …</p>`;
  return html`<${WatchPair} ...${{ env, address, change, announce, onNext }} />`;
}

function WatchPair({ env, address, change, announce, onNext }) {
  const context = contextOf(address, env);
  const agents = useMemo(() => env.pair.map((tensors) => trainedAgent(tensors, env.site.pair.lapse_rate)), [env.pair]);
  const plays = useMemo(() => agents.map((agent) => playGame(agent, context, address.target)), [context.key, address.target, agents]);
  const phase = Math.min(address.variant ?? 0, plays.length - 1);
  const curve = useCurve(env, agents);
  return html`<div class="play"><${Phases} ...${{ address, plays, names: plays.map((_, i) => phaseName(i)), variant: phase, change, announce, onNext, title: "A pair that learns" }} />
    <aside class="beside" aria-label="How they learn">
      <${Curve} curve=${curve} phase=${phase} />
      <${PhaseTable} plays=${plays} names=${plays.map((_, i) => phaseName(i))} phase=${phase} />
      <p class="legend">In turns, he learns what her words have come to mean, and she learns what he makes of them. Nobody tells them the rule of the other pages; they are trained on games (numbers-4, seed 0) and evaluated here, in your browser.</p>
      <button type="button" onClick=${() => { change({ mode: "student", agent: "exact", variant: null, candidates: null, target: null }); scrollTo({ top: 0 }); }}>Play against them: you, literal, one step, trained</button>
    </aside></div>`;
}

// The same game at each depth of the recursion.
function WatchExact({ env, address, change, announce, onNext }) {
  const context = contextOf(address, env);
  const plays = useMemo(() => Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => playGame(exactAgent(settingsOf(address, depth)), context, address.target)), [context.key, address.target]);
  const names = plays.map((_, depth) => (depth ? `at depth ${depth}` : "at depth 0: literal"));
  const depth = Math.min(address.variant ?? 0, MAX_DEPTH);
  return html`<div class="play"><${Phases} ...${{ address, plays, names, variant: depth, change, announce, onNext, title: "An exact pair, deeper and deeper" }} />
    <aside class="beside" aria-label="How they reason"><${PhaseTable} plays=${plays} names=${names} phase=${depth} /></aside></div>`;
}

// The same board at every position of the slider.
function Phases({ address, plays, names, variant, change, announce, onNext, title }) {
  const play = plays[variant];
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return undefined;
    if (variant >= plays.length - 1) { setPlaying(false); return undefined; }
    const timer = setTimeout(() => change({ variant: variant + 1 }, true), PHASE_TIME);
    return () => clearTimeout(timer);
  }, [playing, variant]);
  const { context } = play;
  const grounded = play.agent.grounded !== false;
  const last = play.rounds.at(-1);
  const right = play.answer === play.target;
  const verdict = `${right ? "Right." : "Not this one."} She meant ${context.candidates[play.target].label}.`;
  const told = useRef(variant);
  useEffect(() => {
    if (told.current !== variant) announce(`${names[variant]}: she says ${quote(context.words[play.messages.at(-1)])}, he guesses ${context.candidates[play.answer].label}. ${verdict}`);
    told.current = variant;
  }, [variant]);
  const lines = play.messages.flatMap((m, i) => [saidLine("watch", context.words[m]), answerLine("watch", i === play.messages.length - 1 ? `guesses ${context.candidates[play.answer].label}` : "waits for another word")]);
  return html`<section class="board" aria-labelledby="watch-title"><h2 id="watch-title">${title}</h2>
    ${plays.length > 1 && html`<label class="slider"><span>They are shown <strong class="value">${names[variant]}</strong></span>
      <input type="range" min="0" max=${plays.length - 1} step="1" value=${variant} aria-valuetext=${names[variant]} onInput=${(event) => { setPlaying(false); change({ variant: Number(event.target.value) }, true); }} /></label>`}
    <${Dialogue} lines=${lines}><p class=${`verdict ${right ? "correct" : "wrong"}`}>${verdict}</p><//>
    <${Cards} context=${context} said=${grounded ? play.messages : []} target=${play.target} answer=${play.answer} answerTag="his guess" beliefs=${context.candidates.map((_, i) => ({ before: last.before[i], after: last.after[i] }))} />
    <${BarsKey} who="he believes" />
    ${play.rounds.map((round, i) => html`<p key=${i} class="reason">${reason(context, round, play.agent, play.target)}</p>`)}
    <div class="actions">${plays.length > 1 && html`<button type="button" class="main" onClick=${() => { if (!playing && variant >= plays.length - 1) change({ variant: 0 }, true); setPlaying(!playing); }}>${playing ? "Stop" : play.agent.depth === null ? "Let them learn" : "Let them think deeper"}</button>`}
      <button type="button" onClick=${onNext}>Another game</button><${ShareButton} address=${address} announce=${announce} /></div>
    <${BeliefTable} context=${context} round=${last} /></section>`;
}

function PhaseTable({ plays, names, phase }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="The same game in each phase"><table class="phases"><thead><tr><th scope="col">The same game</th><th scope="col">she says</th><th scope="col">his belief in it</th><th scope="col">found</th></tr></thead>
    <tbody>${plays.map((play, i) => html`<tr key=${i} class=${i === phase ? "now" : ""}><th scope="row">${names[i]}</th><td>“${play.context.words[play.messages.at(-1)]}”</td><td>${short(play.rounds.at(-1).after[play.target])}</td><td>${play.answer === play.target ? "yes" : "no"}</td></tr>`)}</tbody></table></div>`;
}

// The accuracy of each phase, and of exact pairs, over random games: computed here, some games at a time.
function useCurve(env, agents) {
  const [curve, setCurve] = useState({ games: 0, phases: agents.map(() => 0), literal: 0, one: 0, deep: 0 });
  useEffect(() => {
    let current = true;
    const space = findSpace(env.site, env.site.pair.game);
    const exact = { literal: exactAgent({ depth: 0, rationality: 10, utility: "belief" }), one: exactAgent({ depth: 1, rationality: 10, utility: "belief" }), deep: exactAgent({ depth: 6, rationality: 10, utility: "belief" }) };
    const accuracy = (agent, context, target) => {
      const words = best(agent.values(context, target, context.prior));
      const belief = agent.tables(context, context.prior).belief;
      return words.reduce((sum, m) => sum + chanceOf(belief.map((row) => row[m]), target), 0) / words.length;
    };
    const add = (before) => {
      const next = { ...before, phases: [...before.phases] };
      const until = performance.now() + CURVE_TIME;
      do {
        const { candidates, target } = dealWhere(space, space.candidates, Math.random, pragmaticTargets);
        const context = makeContext(space, candidates);
        agents.forEach((agent, phase) => { next.phases[phase] += accuracy(agent, context, target); });
        for (const name of Object.keys(exact)) next[name] += accuracy(exact[name], context, target);
        next.games += 1;
      } while (next.games < CURVE_GAMES && performance.now() < until);
      return next;
    };
    const step = () => {
      if (!current) return;
      setCurve((before) => {
        const next = add(before);
        if (next.games < CURVE_GAMES) setTimeout(step, 0);
        return next;
      });
    };
    const timer = setTimeout(step, 100);
    return () => { current = false; clearTimeout(timer); };
  }, [agents]);
  return curve;
}

const LOWEST = 0.2;
const REFERENCES = { deep: "an exact pair, six steps deep", one: "an exact pair, one step deep", literal: "a literal pair" };

function Curve({ curve, phase }) {
  if (!curve.games) return html`<p class="busy">They play some games …</p>`;
  const [width, height, left, top] = [300, 170, 34, 10];
  const mean = (sum) => sum / curve.games;
  const inPercent = (sum) => `${Math.round(100 * mean(sum))}%`;
  const x = (i) => left + 14 + (i * (width - left - 40)) / (curve.phases.length - 1);
  const y = (p) => top + ((1 - Math.max(LOWEST, p)) * (height - top - 26)) / (1 - LOWEST);
  const points = curve.phases.map((sum, i) => [x(i), y(mean(sum))]);
  return html`<figure class="curve"><figcaption><h3>How often they find it</h3></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${`Accuracy of the pair: ${curve.phases.map((sum, i) => `${phaseName(i)} ${inPercent(sum)}`).join(", ")}`}>
      ${[0.2, 0.4, 0.6, 0.8, 1].map((p) => html`<g key=${p} class="grid"><path d=${`M${left} ${y(p)}H${width}`} /><text x=${left - 5} y=${y(p) + 4} text-anchor="end">${Math.round(100 * p)}%</text></g>`)}
      ${Object.keys(REFERENCES).map((name) => html`<path key=${name} class=${`reference ${name}`} d=${`M${left} ${y(mean(curve[name]))}H${width}`} />`)}
      <polyline class="learned" points=${points.map((point) => point.join(",")).join(" ")} />
      ${points.map(([cx, cy], i) => html`<g key=${i}><circle class=${i === phase ? "dot now" : "dot"} cx=${cx} cy=${cy} r=${i === phase ? 7 : 4} /><text x=${cx} y=${height - 6} text-anchor="middle">${i ? `phase ${i}` : "start"}</text></g>`)}
    </svg>
    <ul class="keys"><li><svg viewBox="0 0 24 6" aria-hidden="true"><path class="learned" d="M0 3H24" /></svg> this pair, ${inPercent(curve.phases[phase])} ${phaseName(phase)}</li>
      ${Object.entries(REFERENCES).map(([name, text]) => html`<li key=${name}><svg viewBox="0 0 24 6" aria-hidden="true"><path class=${`reference ${name}`} d="M0 3H24" /></svg> ${text}, ${inPercent(curve[name])}</li>`)}</ul>
    <p class="legend">${curve.games} random games of four sets, chosen so that a literal pair finds the target at most half of the time and a deep exact pair nearly always.</p></figure>`;
}

// Runs and own agents: each phase or depth is asked for when it is shown.
function WatchServer({ env, address, change, announce, onNext }) {
  const info = serverAgent(env.about, address.agent);
  const key = writeAddress({ ...address, variant: null, participant: null });
  const [state, setState] = useState({ key: null, plays: [], error: null });
  const variant = Math.min(variantOf(address, env), (info?.variants.length ?? 1) - 1);
  useEffect(() => {
    let current = true;
    const load = async () => {
      const plays = [];
      for (let i = 0; i < (info?.variants.length ?? 1); i++) plays.push(await serverDriver({ about: env.about, address, variant: i, mode: "watch", participant: null }).start());
      return plays;
    };
    load().then((plays) => current && setState({ key, plays, error: null }), (error) => current && setState({ key, plays: [], error: error.message }));
    return () => { current = false; };
  }, [key]);
  if (state.key !== key) return html`<p class="busy">The agents are getting ready for this kind of game …</p>`;
  if (state.error) return html`<p class="error" role="alert">${state.error}</p>`;
  const names = info?.variants ?? ["as given"];
  return html`<div class="play"><${Phases} ...${{ address, plays: state.plays, names, variant, change, announce, onNext, title: info?.title ?? "Two agents" }} />
    <aside class="beside" aria-label="How they learn"><${PhaseTable} plays=${state.plays} names=${names} phase=${variant} /></aside></div>`;
}
