// Beside the board: beliefs before and after the word, her estimate, her values, and the reason in words.

import { element, percent } from "./dom.js";

function bar(kind, chance) {
  const filled = element("span", { className: `fill ${kind}` });
  filled.style.width = percent(Math.max(0, Math.min(1, chance)));
  return filled;
}

function beliefs(board, thought, target) {
  const rows = board.candidates.map((shown, i) => {
    const tick = element("span", { className: "tick" });
    tick.style.left = percent(thought.estimate[i]);
    const told = `${shown.called}: before ${percent(thought.before[i])}, after ${percent(thought.after[i])}, `
      + `she thought ${percent(thought.estimate[i])} before`;
    return element("li", { className: i === target ? "meant" : "", "aria-label": told },
      element("span", { className: "who", "aria-hidden": "true" }, shown.called),
      element("span", { className: "bars", "aria-hidden": "true" }, bar("before", thought.before[i]), bar("after", thought.after[i]), tick),
      element("span", { className: "number", "aria-hidden": "true" }, percent(thought.after[i])));
  });
  return element("div", { className: "beliefs" }, element("h3", {}, "What he believes"),
    element("ul", {}, ...rows),
    element("p", { className: "legend", "aria-hidden": "true" }, element("i", { className: "key before" }), "before the word ",
      element("i", { className: "key after" }), "after it ", element("i", { className: "key tick" }), "what she thinks he believes, before"));
}

function values(words, thought, meant) {
  const order = words.map((word, i) => [word, thought.values[i], i]).filter(([, value]) => value !== null)
    .sort((one, other) => other[1] - one[1] || one[2] - other[2]);
  const rows = order.map(([word, value, i]) => element("li", { className: i === thought.word ? "said" : "", "aria-label": `“${word}” ${value.toFixed(2)}` },
    element("span", { className: "who", "aria-hidden": "true" }, word),
    element("span", { className: "bars", "aria-hidden": "true" }, bar("value", value)),
    element("span", { className: "number", "aria-hidden": "true" }, value.toFixed(2))));
  return element("div", { className: "values" }, element("h3", {}, "What each word is worth to her"),
    element("p", { className: "legend" }, `To name ${meant}: how well he would understand each word that she may say.`), element("ul", {}, ...rows));
}

export function thinking(board, words, outcome, the) {
  return outcome.thoughts.flatMap((thought, i) => [
    outcome.thoughts.length > 1 ? element("h2", {}, `Word ${i + 1}: “${words[thought.word]}”`) : null,
    element("p", { className: "why" }, thought.why),
    beliefs(board, thought, outcome.target),
    values(words, thought, the(outcome.target)),
  ]).filter(Boolean);
}
