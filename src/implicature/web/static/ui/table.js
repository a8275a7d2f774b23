// The recursion as a table: candidates × words, from what is true to what each student makes of it, step by step.

import { html, useEffect, useRef } from "../vendor/htm-preact.js";
import { usableWords } from "../engine/context.js";
import { peopleFor, speakersFor } from "../engine/people.js";
import { cellReason, percent, short } from "../engine/reasons.js";
import { recursion } from "../engine/rsa.js";
import { Picture } from "./draw.js";

const subscript = (t) => [...String(t)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
const SWEEP = 1100; // milliseconds in which all rows, or all columns, are shared out one after the other

const TRUTH = { symbol: "✓", name: "What is true", text: "A mark where the word is true of the thing. From here on she, the speaker (S), and he, the listener (L), take turns." };
const TEACHER_NAMES = ["She says any true word", "She thinks of how he will take it", "She knows that he asks why"];
const STUDENT_NAMES = ["He takes words literally", "He asks why she said it", "He knows that she knows"];
const nameOf = (names, t) => names[t] ?? `${names.at(-1)}, round ${t}`;

function teacherStep(t, table, source) {
  const before = `L${subscript(t - 1)}`;
  const text = t ? `Along each row she shares out 100% among the words for one thing: most to those after which he (${before}) would believe in it most.`
    : "Along each row she shares out 100% among the words that are true of one thing.";
  return { kind: "teacher", depth: t, table, source, symbol: `S${subscript(t)}`, name: nameOf(TEACHER_NAMES, t), text };
}

function studentStep(t, table, source) {
  const text = t ? `Down each column he shares out 100% among the things: for which of them would she (S${subscript(t)}) say this word?`
    : "Down each column he shares out 100% among the things that the word is true of.";
  return { kind: "student", depth: t, table, source, symbol: `L${subscript(t)}`, name: nameOf(STUDENT_NAMES, t), text };
}

// S_0 → L_0 → S_1 → L_1 … as { kind, depth, table, source, symbol, name, text }.
export function recursionSteps(context, settings) {
  const start = settings.start ?? context.start;
  const { teacher, student } = recursion(context.truth, { ...settings, start }, context.prior, context.costs);
  const steps = [{ kind: "truth", depth: 0, table: context.truth, source: null, ...TRUTH }];
  if (start === "share") steps.push(teacherStep(0, teacher[0], context.truth));
  for (let t = 0; t <= settings.depth; t++) {
    if (t) steps.push(teacherStep(t, teacher[t], student[t - 1]));
    steps.push(studentStep(t, student[t], teacher[t]));
  }
  return steps;
}

function Cell({ context, step, o, m, delay, selected, onSelect, people }) {
  const value = step.table[o][m];
  const isSelected = selected?.o === o && selected?.m === m;
  const text = step.kind === "truth" ? (value ? "✓" : "") : value > 0 || context.truth[o][m] ? short(value) : "";
  const select = () => onSelect({ o, m });
  return html`<td>
    <button type="button" class=${["cell", context.truth[o][m] ? "" : "untrue", isSelected ? "selected" : ""].join(" ")} style=${{ animationDelay: delay }} aria-pressed=${isSelected} aria-describedby=${isSelected ? "cell-reason" : null} aria-label=${`${context.candidates[o].label}, ${context.words[m]}: ${step.kind === "truth" ? (value ? "true" : "not true") : percent(value)}`}
      onClick=${select} onMouseEnter=${select} onFocus=${select}>
      <span class="level" style=${{ height: `${100 * Math.min(1, value)}%`, transitionDelay: delay }}></span>
      ${people !== null && html`<span class="people-level" style=${{ bottom: `clamp(9px, ${100 * people}%, 100% - 9px)` }}></span>`}
      <span class="cell-number">${text}</span></button></td>`;
}

// Rows are shared out from top to bottom, columns from left to right.
const delayOf = (step, rows, columns, row, column) => {
  if (step.kind === "truth") return "0ms";
  const [i, number] = step.kind === "teacher" ? [row, rows] : [column, columns];
  return `${Math.round((SWEEP * i) / Math.max(4, number))}ms`;
};

const SUM = html`<span class="equals">= </span>100%`;

function Matrix({ context, step, index, words, shares, selected, onSelect }) {
  const rowSum = (o) => (step.kind === "teacher" ? (context.truth[o].some(Boolean) ? SUM : "no word") : "");
  const rows = context.candidates.length;
  return html`<div class="scroll"><table class=${`matrix ${step.kind} turn-${index % 2} ${rows > 4 ? "tall" : ""}`} style=${{ minWidth: `${8.5 + 3.3 * words.length}rem` }}>
      <caption class="hidden">${step.symbol}, ${step.name}. ${step.text}</caption>
      <thead><tr><td></td>${words.map((m) => html`<th key=${m} scope="col"><span class="word-head">${context.words[m]}</span></th>`)}<td class="sum"></td></tr></thead>
      <tbody>${context.candidates.map((candidate, o) => html`<tr key=${o}>
        <th scope="row"><span class="thumb"><${Picture} space=${context.space} candidate=${candidate} /></span></th>
        ${words.map((m, column) => html`<${Cell} key=${m} context=${context} step=${step} o=${o} m=${m} delay=${delayOf(step, rows, words.length, o, column)} selected=${selected} onSelect=${onSelect}
          people=${shares(o, m)} />`)}<td class="sum">${rowSum(o)}</td></tr>`)}</tbody>
      <tfoot><tr><td></td>${words.map((m) => html`<td key=${m} class="sum">${step.kind === "student" ? SUM : ""}</td>`)}<td></td></tr></tfoot></table></div>`;
}

// What people answered in the game of this step, from the first study that asked: by word where he hears, by candidate
// where she speaks.
function peopleIn(items, context, step, words) {
  const rows = step.kind === "teacher" ? context.candidates.map((_, o) => speakersFor(items, context, o)[0] ?? null) : [];
  const columns = step.kind === "student" ? context.words.map((_, m) => (words.includes(m) ? peopleFor(items, context, m)[0] ?? null : null)) : [];
  const found = [...rows, ...columns].filter(Boolean);
  const asked = [...new Set(found.map((one) => one.source))].map((source) => {
    const own = found.filter((one) => one.source === source);
    return `${[...new Set(own.map((one) => one.n))].join(" and ")} ${own[0].unit} (${source})`;
  });
  return { shares: (o, m) => (context.truth[o][m] || step.kind === "student" ? rows[o]?.shares[m] ?? columns[m]?.shares[o] ?? null : null), asked };
}

export function RecursionTable({ context, steps, index, onIndex, selected, onSelect, announce, people: items = [], playing = false, onPlay = null }) {
  const step = steps[Math.min(index, steps.length - 1)];
  const words = usableWords(context);
  const { shares, asked } = peopleIn(items, context, step, words);
  const told = useRef(index);
  useEffect(() => {
    if (told.current !== index) announce(`${step.symbol}: ${step.name}. ${step.text}`);
    told.current = index;
  }, [index]);
  const sentence = selected ? cellReason(context, step, selected.o, selected.m) : "Every cell has a sentence: point at one, tap it, or move to it with Tab.";
  return html`<div class="recursion">
    <ol class="ladder" aria-label="Steps">${steps.map((one, i) => html`<li key=${i}><button type="button" class=${one.kind} aria-current=${i === index ? "step" : null} aria-label=${`${one.symbol}: ${one.name}`} onClick=${() => onIndex(i)}>${one.symbol}</button></li>`)}</ol>
    <div class="actions steps"><button type="button" disabled=${index <= 0} onClick=${() => onIndex(index - 1)}>← Step back</button>
      <button type="button" class="main" disabled=${index >= steps.length - 1} onClick=${() => onIndex(index + 1)}>Next step →</button>
      ${onPlay && html`<button type="button" class="quiet" onClick=${onPlay}>${playing ? "Stop" : "Play all steps"}</button>`}</div>
    <div class="step-title"><h3><span class=${`symbol ${step.kind}`}>${step.symbol}</span> ${step.name}</h3><p>${step.text}</p></div>
    <${Matrix} ...${{ context, step, index, words, shares, selected, onSelect }} />
    <p class="cell-reason" id="cell-reason">${sentence}</p>
    ${asked.length > 0 && html`<p class="legend"><i class="people-key side"></i>how many of the people who were asked ${step.kind === "student" ? "chose" : "said"} it: ${asked.join("; ")}</p>`}
  </div>`;
}
