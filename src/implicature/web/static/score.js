// The score over games played, beside what a literal and an exact pair can expect in the same games.

import { by, element } from "./dom.js";

const kept = () => JSON.parse(sessionStorage.getItem("score") ?? '{"games":0,"you":0,"literal":0,"exact":0,"seen":[]}');

export function count(name, outcome) {
  const score = kept();
  if (score.seen.includes(name)) return; // the same game again does not count
  score.seen = [...score.seen, name].slice(-500);
  score.games += 1;
  score.you += outcome.gain;
  score.literal += outcome.literal;
  score.exact += outcome.exact;
  sessionStorage.setItem("score", JSON.stringify(score));
}

export function show() {
  const score = kept();
  const rows = [["You", score.you, "you"], ["A literal pair", score.literal, "literal"], ["An exact pair", score.exact, "exact"]];
  const lines = rows.map(([who, points, kind]) => {
    const filled = element("span", { className: `fill ${kind}` });
    filled.style.width = `${score.games ? Math.max(0, 100 * points / score.games) : 0}%`;
    return element("li", {}, element("span", { className: "who" }, who), element("span", { className: "bars", "aria-hidden": "true" }, filled),
      element("span", { className: "number" }, points.toFixed(1)));
  });
  const again = element("button", { type: "button", className: "quiet", onclick: () => { sessionStorage.removeItem("score"); show(); } }, "Start again");
  const games = score.games === 1 ? "1 game" : `${score.games} games`;
  by("score").replaceChildren(...(score.games
    ? [element("h2", {}, `Score, ${games}`), element("ul", {}, ...lines),
      element("p", { className: "legend" }, "Expected of others in the same games."), again]
    : [element("p", { className: "legend" }, "Your score will stand here, beside what a literal and an exact pair can expect.")]));
}
