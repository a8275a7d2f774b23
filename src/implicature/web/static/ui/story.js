// A story in five steps, from "some" to a hard game, after one question without any word of jargon.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { exactAgent, follow } from "../engine/agents.js";
import { FACES, makeContext } from "../engine/context.js";
import { peopleFor } from "../engine/people.js";
import { reason, wordsFor, YOU } from "../engine/reasons.js";
import { findSpace } from "../url.js";
import { BarsKey, Cards, Dialogue, PeopleLine, saidLine } from "./board.js";
import { RecursionTable, recursionSteps } from "./table.js";

const BLUE = [["red", "sphere"], ["blue", "sphere"], ["blue", "cone"]];
// Only 11 belongs to one set alone. So “2” is free for {2, 6, 10}, and so “6” for {1, 3, 6, 8}: L₀ has 43%, L₁ 60%, L₂ 100%.
const HARD = ["3.5.8.9", "1.2.4.7.11", "1.3.6.8", "7.8.9", "3.4.5.9.10", "1.3.9.10", "2.6.10"].map((names) => names.split("."));
const SETTINGS = { depth: 1, rationality: 10, utility: "belief" };
export const STORY_STEPS = 5;

// One question: a word, some cards, a guess; then the beliefs, what she would say for each, and the reason.
function Question({ env, context, word, target, depth = 1, moral = null, after = null, announce, onDone, lead = null }) {
  const [answer, setAnswer] = useState(null);
  const section = useRef(null);
  const agent = exactAgent({ ...SETTINGS, depth });
  const m = context.words.indexOf(word);
  const [round] = follow(agent, context, target, [m]);
  const people = peopleFor(env.site.people, context, m);
  const why = moral ?? reason(context, round, agent, target, YOU);
  const guess = (i) => {
    setAnswer(i);
    onDone?.();
    announce(`${i === target ? "Yes, " : "Not this one: "}${context.candidates[target].label}. ${why}`);
  };
  useLayoutEffect(() => {
    if (answer === null) return;
    section.current.focus({ preventScroll: true }); // the card that had the focus is no button any more
    if (section.current.getBoundingClientRect().bottom > innerHeight) section.current.scrollIntoView({ block: "start" });
  }, [answer]);
  const beliefs = answer === null ? null : context.candidates.map((_, i) => ({ before: round.before[i], after: round.after[i], people: people[0]?.shares[i] ?? null }));
  const would = answer === null || context.candidates.length > 4 ? null : wordsFor(context, round, agent);
  return html`<section class="board question" aria-label="The question" tabindex="-1" ref=${section}>${lead}
    <${Dialogue} lines=${[saidLine("student", word)]}>
      ${answer === null ? html`<p class="task">Which one does she mean?</p>` : html`<p class=${`verdict ${answer === target ? "correct" : "wrong"}`}>${answer === target ? "Yes, " : "Not this one: "}${context.candidates[target].label}.</p>`}<//>
    <${Cards} context=${context} said=${[m]} target=${answer === null ? null : target} answer=${answer} beliefs=${beliefs} would=${would} onGuess=${answer === null ? guess : null} />
    ${answer !== null && html`<div class="after"><p class=${moral ? "reason moral" : "reason"}>${why}</p>${after}<${BarsKey} who="you can believe" people=${people.length > 0} /><${PeopleLine} context=${context} people=${people} answer=${answer} brief=${moral !== null} /></div>`}</section>`;
}

const spaceContext = (env, name, candidates) => makeContext(findSpace(env.site, name), candidates);

const MORAL = "“Blue” fits two of them. But for the cone she had a better word: “cone”, which fits nothing else. She did not say it. So she means the sphere.";

function Opening({ env, announce, onNext }) {
  return html`<div class="opening"><${Question} env=${env} context=${spaceContext(env, "three-objects", BLUE)} word="blue" target=${1} announce=${announce} moral=${MORAL}
    lead=${html`<h2>You and a friend see three things. She has one in mind and may say one word: a colour or a shape.</h2>`}
    after=${html`<div class="actions"><button type="button" class="main" onClick=${onNext}>How did that work? →</button></div>`} /></div>`;
}

// The same word to somebody who takes it literally and to somebody who asks why she said it.
function TwoReaders({ env, onDone }) {
  const [depth, setDepth] = useState(0);
  const context = spaceContext(env, "three-objects", BLUE);
  const agent = exactAgent({ ...SETTINGS, depth });
  const m = context.words.indexOf("blue");
  const [round] = follow(agent, context, 1, [m]);
  return html`<section class="board" aria-label="Two ways to hear a word"><${Dialogue} lines=${[saidLine("watch", "blue")]} />
    <div class="segments" role="group" aria-label="How he hears it">${["He takes it literally", "He asks why she said it"].map((text, i) => html`<button key=${i} type="button" aria-pressed=${depth === i} onClick=${() => { setDepth(i); onDone(); }}>${text}</button>`)}</div>
    <${Cards} context=${context} said=${[m]} beliefs=${context.candidates.map((_, i) => ({ before: round.before[i], after: round.after[i] }))} would=${depth ? wordsFor(context, round, agent) : null} />
    <p class="reason">${reason(context, round, agent)}</p><${BarsKey} who="he believes" /></section>`;
}

function StoryTable({ env, announce, onDone }) {
  const context = spaceContext(env, "three-objects", BLUE);
  const steps = recursionSteps(context, { ...SETTINGS, depth: 2 });
  const [index, setIndex] = useState(0);
  const [selected, select] = useState({ o: 2, m: context.words.indexOf("blue") }); // the cell that the text speaks of
  return html`<section class="board" aria-label="The table"><${RecursionTable} context=${context} steps=${steps} index=${index} onIndex=${(to) => { setIndex(to); if (steps[to].symbol === "L₁") onDone(); }} selected=${selected} onSelect=${select} announce=${announce}
    people=${env.site.people} /></section>`;
}

function HardGame({ env, announce, onMode, onDone }) {
  return html`<${Question} env=${env} context=${spaceContext(env, "numbers-7", HARD)} word="6" target=${2} depth=${3} announce=${announce} onDone=${onDone}
    after=${html`<div class="actions"><button type="button" class="main" onClick=${() => onMode("student")}>Play on</button><button type="button" onClick=${() => onMode("teacher")}>Be the one who speaks</button><button type="button" onClick=${() => onMode("watch")}>Watch two networks learn such games</button></div>`} />`;
}

const STEPS = [
  {
    title: "Some is not all",
    text: html`<p>Four boys were invited. “Some of the boys came”, she says. How many do you think of?</p>`,
    after: html`<p>If all four came, “some” is true as well. And yet few people hear it so: had all come, she would have said “all”.</p>
      <p>She never said “not all”; you took it from what she did <em>not</em> say. Linguists call that an <em>implicature</em>, a word coined by the philosopher Paul Grice.</p>`,
    board: ({ env, announce, onDone }) => html`<${Question} env=${env} onDone=${onDone} context=${spaceContext(env, "some-all", [["some"], ["some", "all"]])} word="some" target=${0} announce=${announce} />`,
  },
  {
    title: "The same with a blue thing",
    text: html`<p>“Blue” is true of two things. Taken literally, it leaves a coin toss.</p>
      <p>But somebody who asks <em>why she said it</em> notices: for the cone there was a better word. Switch between the two, and see what he believes on the cards.</p>`,
    board: TwoReaders,
  },
  {
    title: "A table does it",
    text: html`<p>Things down the side, words along the top. The one who speaks looks along a row: which word for this thing? The one who listens looks down a column: which thing, after this word?</p>
      <p>Press <em>Next step</em>. In the column “blue”, watch the cone fade.</p>`,
    board: StoryTable,
  },
  {
    title: "Twice round the corner",
    text: html`<p>Sometimes one thought is not enough. Here “moustache” is true of two faces, and so is “glasses”: neither belongs to one face alone.</p>`,
    after: html`<p>For the face with the hat she would say “hat”. So “glasses” is free for the one in the middle. So “moustache” is left for the first.</p>`,
    board: ({ env, announce, onDone }) => html`<${Question} env=${env} onDone=${onDone} context=${makeContext(FACES, [["moustache"], ["glasses", "moustache"], ["hat", "glasses"]])} word="moustache" target=${0} depth=${2} announce=${announce} />`,
  },
  {
    title: "A hard game",
    text: html`<p>Seven sets of numbers; she says one number. Only one number belongs to one set alone, so each conclusion rests on another.</p>
      <p>People need a while for this. A computer goes round the table a few times; two neural networks can learn such games by playing.</p>
      <details><summary>A hint</summary><p>Only {1, 2, 4, 7, 11} has an 11. Whoever means it says “11”. So “2” is free for another set. So …</p></details>`,
    board: HardGame,
  },
];

export function Story({ env, address, change, announce, onMode }) {
  const step = Math.min(address.step, STORY_STEPS);
  const heading = useRef(null);
  const moved = useRef(false);
  const [done, setDone] = useState(null); // the step whose board has been used: only then does "Next" call for attention
  useEffect(() => { if (moved.current) heading.current?.focus({ preventScroll: true }); moved.current = true; }, [step]);
  const go = (to) => { change({ step: to }); scrollTo({ top: 0 }); };
  if (step === 0) return html`<${Opening} env=${env} announce=${announce} onNext=${() => go(1)} />`;
  const { title, text, after = null, board: Board } = STEPS[step - 1];
  return html`<div class="story"><div class="text"><p class="count">${step} of ${STORY_STEPS}</p><h2 ref=${heading} tabindex="-1">${title}</h2>${text}</div>
    <${Board} key=${step} env=${env} announce=${announce} onMode=${onMode} onDone=${() => setDone(step)} />
    <div class="text story-nav">${done === step && after}<div class="actions"><button type="button" onClick=${() => go(step - 1)}>← Back</button>
        ${step < STORY_STEPS && html`<button type="button" class=${done === step ? "main" : ""} onClick=${() => go(step + 1)}>Next →</button>`}</div>
      <ol class="step-dots" aria-hidden="true">${STEPS.map((_, i) => html`<li key=${i} class=${i + 1 === step ? "now" : ""}></li>`)}</ol></div></div>`;
}
