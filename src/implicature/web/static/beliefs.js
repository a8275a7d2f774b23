// Beside the board: beliefs before and after the message, the teacher's estimate, her values, and the explanation.

import { element, percent } from "./dom.js";

function bar(kind, fraction) {
  const created = element("span", { className: `bar ${kind}` });
  created.style.width = percent(Math.max(0, Math.min(1, fraction)));
  return created;
}

function beliefBars(view, round, target) {
  const rows = view.candidates.map((candidate, i) => {
    const tick = element("span", { className: "tick" });
    tick.style.left = percent(round.teacher_estimate[i]);
    const [before, after] = [round.belief_before[i], round.belief_after[i]];
    const description = `${candidate.label}: before ${percent(before)}, after ${percent(after)}, `
      + `she thought ${percent(round.teacher_estimate[i])} before`;
    return element("li", { className: i === target ? "target" : "", "aria-label": description },
      element("span", { className: "label", "aria-hidden": "true" }, candidate.label),
      element("span", { className: "bars", "aria-hidden": "true" }, bar("before", before), bar("after", after), tick),
      element("span", { className: "number", "aria-hidden": "true" }, percent(after)));
  });
  return element("div", { className: "beliefs" }, element("h3", {}, "What he believes"),
    element("ul", {}, ...rows),
    element("p", { className: "legend", "aria-hidden": "true" }, element("i", { className: "key before" }), "before the word ",
      element("i", { className: "key after" }), "after it ", element("i", { className: "key tick" }), "what she thinks he believes, before"));
}

function valueBars(words, round, target) {
  const sorted = words.map((word, i) => [word, round.values[i], i]).filter(([, value]) => value !== null)
    .sort((one, other) => other[1] - one[1] || one[2] - other[2]);
  const rows = sorted.map(([word, value, i]) => element("li", { className: i === round.message ? "sent" : "", "aria-label": `“${word}” ${value.toFixed(2)}` },
    element("span", { className: "label", "aria-hidden": "true" }, word),
    element("span", { className: "bars", "aria-hidden": "true" }, bar("value", value)),
    element("span", { className: "number", "aria-hidden": "true" }, value.toFixed(2))));
  return element("div", { className: "values" }, element("h3", {}, "What each word is worth to her"),
    element("p", { className: "legend" }, `To name ${target}: how well he would understand each word that she may say.`), element("ul", {}, ...rows));
}

export function renderRounds(view, words, state, describe) {
  return state.rounds.flatMap((round, i) => [
    state.rounds.length > 1 ? element("h2", {}, `Word ${i + 1}: “${words[round.message]}”`) : null,
    element("p", { className: "explanation" }, round.explanation),
    beliefBars(view, round, state.target),
    valueBars(words, round, describe(state.target)),
  ]).filter(Boolean);
}
