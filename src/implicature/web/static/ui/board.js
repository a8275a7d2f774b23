// The board: what was said and done, and the candidates as cards on which the beliefs live.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { percent, quote, short } from "../engine/reasons.js";
import { Picture } from "./draw.js";

// A bar that moves from what was believed before to what is believed now.
export function BeliefBar({ before, after, people = null, ghost = false }) {
  const [shown, show] = useState(before);
  useEffect(() => {
    const timer = setTimeout(() => show(after), 60);
    return () => clearTimeout(timer);
  }, [before, after]);
  return html`<span class=${ghost ? "belief ghost" : "belief"}>
    <span class="track"><span class="fill" style=${{ width: `${100 * shown}%` }}></span>
      <span class="was" style=${{ left: `${100 * before}%` }}></span>
      ${people !== null && html`<span class="people" style=${{ left: `${100 * people}%` }}></span>`}</span>
    <span class="number">${short(after)}</span></span>`;
}

export function Card({ space, candidate, i, said, tags, belief, would, guesses, onGuess, className = "" }) {
  const content = html`<${Picture} space=${space} candidate=${candidate} said=${said} />
    ${tags.length > 0 && html`<span class="tags">${tags.map((tag) => html`<span key=${tag} class="tag">${tag}</span>`)}</span>`}
    ${would && html`<span class="would" style=${{ animationDelay: `${300 + 350 * i}ms` }}>for this she would say <b>${would}</b></span>`}
    ${guesses?.length > 0 && html`<span class="guesses">guess: ${guesses.join(", ")}</span>`}
    ${belief && html`<${BeliefBar} ...${belief} />`}`;
  return onGuess
    ? html`<button type="button" class=${`card ${space.kind} ${className}`} onClick=${(event) => event.detail < 2 && onGuess(i)}>${content}</button>`
    : html`<div class=${`card ${space.kind} ${className}`}>${content}</div>`;
}

// beliefs: null, or for each candidate { before, after, people }. would: what she would say for each; guesses: who
// chooses it. target and answer: positions or null.
export function Cards({ context, said = [], target = null, answer = null, answerTag = "your guess", targetTag = "she meant this", beliefs = null, would = null, guesses = null, ghost = false, onGuess = null, keys = false }) {
  const words = said.map((m) => context.words[m]);
  return html`<ol class="cards" data-number=${context.candidates.length}>
    ${context.candidates.map((candidate, i) => html`<li key=${`${context.key} ${i}`}>
      <${Card} space=${context.space} candidate=${candidate} i=${i} said=${words} onGuess=${onGuess}
        tags=${target === i && answer === i ? [`${answerTag}: right`] : [target === i && targetTag, answer === i && answerTag].filter(Boolean)} would=${would?.[i]} guesses=${guesses?.[i]}
        belief=${beliefs && { ...beliefs[i], ghost }}
        className=${[target === i ? "target" : "", answer === i ? "answer" : ""].join(" ")} />
      ${keys && onGuess && i < 9 && html`<span class="key" aria-hidden="true">${i + 1}</span>`}</li>`)}
  </ol>`;
}

export function Bubble({ role, speaker, children }) {
  return html`<p class=${`bubble ${role}`}><span class="speaker">${speaker}</span> <span class="speech">${children}</span></p>`;
}

export function Dialogue({ lines, children }) {
  return html`<div class="dialogue">${lines.map((line, i) => html`<${Bubble} key=${i} ...${line} />`)}${children}</div>`;
}

export const saidLine = (mode, word) => ({ role: "teacher", speaker: mode === "teacher" ? "You say" : "She says", children: quote(word) });
export const answerLine = (mode, text) => ({ role: "student", speaker: mode === "student" ? "You" : "He", children: text });

// The same beliefs as numbers.
export function BeliefTable({ context, round, people = [] }) {
  return html`<details class="numbers"><summary>The beliefs as a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Beliefs"><table>
    <thead><tr><th scope="col">Thing</th><th scope="col">before</th><th scope="col">after</th><th scope="col">she thought, before</th>${people.map((one) => html`<th key=${one.source} scope="col">${one.source}</th>`)}</tr></thead>
    <tbody>${context.candidates.map((candidate, i) => html`<tr key=${i}><th scope="row">${candidate.label}</th>
      <td>${percent(round.before[i])}</td><td>${percent(round.after[i])}</td><td>${percent(round.estimate[i])}</td>
      ${people.map((one) => html`<td key=${one.source}>${percent(one.shares[i])}</td>`)}</tr>`)}</tbody></table></div></details>`;
}

// What the bars on the cards show.
export function BarsKey({ who, people = false }) {
  return html`<p class="legend bars-key"><span><i class="now-key"></i>how much ${who} in each</span> <span><i class="was-key"></i>before the word</span>${people && html` <span><i class="people-key"></i>how many people chose it</span>`}</p>`;
}

const DID = { people: "chose", answers: "were" }; // and bets are on something

function PeopleItem({ context, one, answer }) {
  const top = one.shares.indexOf(Math.max(...one.shares));
  const did = DID[one.unit] ?? "on";
  const own = answer === null ? "" : answer === top ? ", as you did" : `, ${percent(one.shares[answer])} ${did} your guess`;
  return html`<li><i class="people-key"></i>${one.n} ${one.unit} in the same game: ${percent(one.shares[top])} ${did} ${context.candidates[top].label}${own}. <cite>${one.source}</cite></li>`;
}

// What people answered, study by study; the first alone where it is to be brief.
export function PeopleLine({ context, people, answer = null, brief = false }) {
  if (!people.length) return null;
  const items = people.map((one) => html`<${PeopleItem} key=${`${one.source} ${one.n}`} ...${{ context, one, answer }} />`);
  if (!brief || people.length < 2) return html`<ul class="people-lines">${items}</ul>`;
  return html`<ul class="people-lines">${items[0]}</ul><details class="more"><summary>Another study</summary><ul class="people-lines">${items.slice(1)}</ul></details>`;
}
