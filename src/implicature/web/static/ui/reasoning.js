// The reasoning: the recursion as a table, with the field's knobs. Everything is computed here; a slider costs no request.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { usableWords } from "../engine/context.js";
import { peopleFor } from "../engine/people.js";
import { contextOf, settingsOf, variantOf } from "../dealing.js";
import { MAX_DEPTH } from "../url.js";
import { BeliefBar, PeopleLine } from "./board.js";
import { Picture } from "./draw.js";
import { ShareButton } from "./share.js";
import { RecursionTable, recursionSteps } from "./table.js";

// Items that people were asked, or that textbooks have.
export const ITEMS = [
  { title: "Blue sphere, red sphere, blue cone", game: "three-objects", candidates: [["blue", "sphere"], ["red", "sphere"], ["blue", "cone"]], word: "blue" },
  { title: "Some or all", game: "some-all", candidates: [["some"], ["some", "all"]], word: "some" },
  { title: "Faces, one step (Frank et al.)", game: "faces", candidates: [[], ["glasses"], ["hat", "glasses"]], word: "glasses" },
  { title: "Faces, two steps (Frank et al.)", game: "faces", candidates: [["moustache"], ["glasses", "moustache"], ["hat", "glasses"]], word: "moustache" },
  { title: "Simple item (Franke & Degen)", game: "own", candidates: [["sphere"], ["red", "sphere"], ["blue", "cone"]], word: "sphere" },
  { title: "Complex item (Franke & Degen)", game: "own", candidates: [["red", "sphere"], ["red", "cone"], ["sphere"]], word: "red" },
];
const STEP_TIME = 1800;

export function Reasoning({ env, address, change, announce }) {
  const context = contextOf(address, env);
  const depth = Math.min(MAX_DEPTH, variantOf({ ...address, agent: "exact" }, env));
  const steps = recursionSteps(context, settingsOf(address, depth));
  const index = Math.min(address.step, steps.length - 1);
  const word = context.words.includes(address.word) ? context.words.indexOf(address.word) : usableWords(context)[0];
  const [selected, select] = useState(null);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return undefined;
    if (index >= steps.length - 1) { setPlaying(false); return undefined; }
    const timer = setTimeout(() => change({ step: index + 1 }, true), STEP_TIME);
    return () => clearTimeout(timer);
  }, [playing, index]);
  useEffect(() => select(null), [context.key]);
  const peopleOf = (m) => peopleFor(env.site.people, context, m);
  const onPlay = () => { if (!playing && index >= steps.length - 1) change({ step: 0 }, true); setPlaying(!playing); };
  const cell = selected && selected.o < context.candidates.length && selected.m < context.words.length ? selected : null;
  return html`<div class=${usableWords(context).length > 8 ? "reasoning wide" : "reasoning"}>
    <section class="board" aria-labelledby="table-title"><h2 id="table-title">What would she say, and what would he make of it?</h2>
      <label class="item">Game <select value=${ITEMS.findIndex((item) => item.game === address.game && JSON.stringify(item.candidates) === JSON.stringify(address.candidates))} onChange=${(event) => {
    const item = ITEMS[Number(event.target.value)];
    if (item) change({ game: item.game, candidates: item.candidates, target: 0, word: item.word, step: 0, prior: null, costs: {} });
  }}><option value="-1">your game</option>${ITEMS.map((item, i) => html`<option key=${i} value=${i}>${item.title}</option>`)}</select></label>
      <${RecursionTable} context=${context} steps=${steps} index=${index} onIndex=${(step) => { setPlaying(false); change({ step }, true); }} selected=${cell} onSelect=${select} announce=${announce} people=${env.site.people} playing=${playing} onPlay=${onPlay} />
      <div class="actions"><${ShareButton} address=${address} announce=${announce} label="Copy a link to this table" /></div>
    </section>
    <aside class="beside" aria-label="Settings of the recursion">
      <${Knobs} ...${{ address, context, depth, change }} />
      <${WordPanel} ...${{ context, word, step: lastStudent(steps, index), peopleOf, change }} />
    </aside></div>`;
}

const lastStudent = (steps, index) => steps.slice(0, index + 1).reverse().find((step) => step.kind === "student") ?? steps.find((step) => step.kind === "student");

// What the student of the step that is shown believes after one word, beside what people answered.
function WordPanel({ context, word, step, peopleOf, change }) {
  const people = peopleOf(word);
  return html`<section class="word-panel"><h3>Heard: <select aria-label="The word" value=${context.words[word]} onChange=${(event) => change({ word: event.target.value }, true)}>
      ${usableWords(context).map((m) => html`<option key=${m} value=${context.words[m]}>${context.words[m]}</option>`)}</select></h3>
    <ul class="bars">${context.candidates.map((candidate, o) => html`<li key=${o}><span class="label">${candidate.label}</span>
      <${BeliefBar} before=${context.prior[o]} after=${step.table[o][word]} people=${people[0]?.shares[o] ?? null} /></li>`)}</ul>
    <${PeopleLine} context=${context} people=${people} /></section>`;
}

function Range({ label, name, value, min, max, step, onChange, text = String(value), about = null }) {
  return html`<label class="slider"><span>${label} <strong class="value">${text}</strong>${about && html`<span class="about">${about}</span>`}</span>
    <input type="range" name=${name} min=${min} max=${max} step=${step} value=${value} aria-valuetext=${text} onInput=${(event) => onChange(Number(event.target.value))} /></label>`;
}

function Knobs({ address, context, depth, change }) {
  const set = (changes) => change(changes, true);
  const position = Math.round(10 * Math.log2(Math.max(0.5, address.rationality)));
  const prior = context.prior.map((p) => Math.round(100 * p * context.prior.length) / 100);
  return html`<section class="knobs"><h3>The model</h3>
    <${Range} label="Depth" about="how many times they think of each other" name="depth" value=${depth} min="0" max=${MAX_DEPTH} step="1" onChange=${(variant) => set({ variant })} />
    <${Range} label=${address.utility === "log" ? "Rationality α" : "Rationality β"} about="how strictly she keeps to the best word" name="rationality" value=${position} min="-10" max="50" step="1" text=${address.rationality.toFixed(1)}
      onChange=${(value) => set({ rationality: Math.round(10 * 2 ** (value / 10)) / 10 })} />
    <fieldset><legend>She values a word by</legend>
      ${[["belief", "his belief"], ["log", "its logarithm"]].map(([name, text]) => html`<label key=${name} class="choice"><input type="radio" name="utility" checked=${address.utility === name} onChange=${() => set({ utility: name })} /> ${text}</label>`)}</fieldset>
    <fieldset><legend>L₀ starts from</legend>
      ${[["share", "a random true word"], ["indicator", "truth alone"]].map(([name, text]) => html`<label key=${name} class="choice"><input type="radio" name="start" checked=${(address.start ?? context.start) === name} onChange=${() => set({ start: name })} /> ${text}</label>`)}</fieldset>
    <details><summary>Cost of each word</summary>${usableWords(context).map((m) => html`<${Range} key=${m} label=${context.words[m]} name=${`cost-${context.words[m]}`} value=${Math.round(100 * context.costs[m])} min="0" max="100" step="5" text=${context.costs[m].toFixed(2)}
      onChange=${(value) => set({ costs: { ...address.costs, [context.words[m]]: value / 100 } })} />`)}</details>
    <details><summary>Prior: how likely each is before any word</summary>${context.candidates.map((candidate, o) => html`<${Range} key=${o} label=${candidate.label} name=${`prior-${o}`} value=${address.prior?.[o] ?? 1} min="0.1" max="5" step="0.1" text=${`${Math.round(100 * context.prior[o])}%`}
      onChange=${(value) => set({ prior: (address.prior ?? prior.map(() => 1)).map((one, i) => (i === o ? value : one)) })} />`)}</details>
  </section>`;
}
