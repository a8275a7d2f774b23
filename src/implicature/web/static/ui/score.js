// The running mean over games, of the person and of others who hear the same words.

import { html } from "../vendor/htm-preact.js";

export const NO_SCORE = { games: 0, sums: {}, counts: {}, last: {}, fits: {} };

// `scores`: by name, of the game that is over. `fits`: the minds that would have done what the partner did.
export function addScore(score, scores, fits = []) {
  const add = (sums, name, value) => ({ ...sums, [name]: (sums[name] ?? 0) + value });
  const names = Object.keys(scores);
  return {
    games: score.games + 1, last: scores,
    sums: names.reduce((sums, name) => add(sums, name, scores[name]), score.sums),
    counts: names.reduce((counts, name) => add(counts, name, 1), score.counts),
    fits: fits.reduce((counts, name) => add(counts, name, 1), score.fits),
  };
}

const inPercent = (value) => `${Math.round(100 * value)}%`;
const resultOf = (value) => (value === undefined ? "–" : value === 1 ? "found" : value === 0 ? "missed" : inPercent(value));

export function Score({ score, note, title = "Found so far" }) {
  if (!score.games) return null;
  return html`<section class="score" aria-label="Score"><h3>${title}, ${score.games} ${score.games === 1 ? "game" : "games"}</h3><table>
    <thead><tr><th scope="col"><span class="hidden">Who</span></th><th scope="col">last</th><th scope="col" colspan="2">all games</th></tr></thead>
    <tbody>${Object.keys(score.sums).map((name) => {
    const mean = score.sums[name] / score.counts[name];
    return html`<tr key=${name} class=${name === "You" ? "you" : ""}><th scope="row" class="label">${name}</th><td class="last">${resultOf(score.last[name])}</td>
      <td class="bar"><span class="track"><span class="fill" style=${{ width: inPercent(mean) }}></span></span></td><td class="number">${inPercent(mean)}</td></tr>`;
  })}</tbody></table>
    <p class="legend">${note}</p></section>`;
}
