// The mean return over games played, beside what a literal and an exact pair can expect in the same games.

import { byId, element } from "./dom.js";

const EMPTY = '{"games":0,"person":0,"literal":0,"exact":0,"counted":[]}';
const readScore = () => JSON.parse(sessionStorage.getItem("score") ?? EMPTY);

export function addGame(key, state) {
  const score = readScore();
  if (score.counted.includes(key)) return; // the same game again does not count
  score.counted = [...score.counted, key].slice(-500);
  score.games += 1;
  score.person += state.return;
  score.literal += state.literal_return;
  score.exact += state.exact_return;
  sessionStorage.setItem("score", JSON.stringify(score));
}

export function renderScore() {
  const score = readScore();
  const rows = [["You", "person"], ["A literal pair", "literal"], ["An exact pair", "exact"]].map(([label, key]) => {
    const bar = element("span", { className: `bar ${key}` });
    bar.style.width = `${score.games ? Math.max(0, 100 * score[key] / score.games) : 0}%`;
    return element("li", {}, element("span", { className: "label" }, label), element("span", { className: "bars", "aria-hidden": "true" }, bar),
      element("span", { className: "number" }, score[key].toFixed(1)));
  });
  const reset = element("button", { type: "button", className: "quiet", onclick: () => { sessionStorage.removeItem("score"); renderScore(); } }, "Start again");
  const games = score.games === 1 ? "1 game" : `${score.games} games`;
  byId("score").replaceChildren(...(score.games
    ? [element("h2", {}, `Score, ${games}`), element("ul", {}, ...rows),
      element("p", { className: "legend" }, "Expected of others in the same games."), reset]
    : [element("p", { className: "legend" }, "Your score will stand here, beside what a literal and an exact pair can expect.")]));
}
