// Be the teacher: choose a word for somebody whose mind you may have to find out.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
import { exactAgent, follow } from "../engine/agents.js";
import { usableWords } from "../engine/context.js";
import { HE_OF_YOU, percent, quote, reason } from "../engine/reasons.js";
import { best } from "../engine/rsa.js";
import { agentOf, contextOf, isRemote, MINDS, settingsOf, variantOf, workingWords } from "../dealing.js";
import { writeAddress } from "../url.js";
import { answerLine, BarsKey, BeliefTable, Cards, Dialogue, saidLine } from "./board.js";
import { localDriver, roundsLeft, serverDriver, usePlay } from "./play.js";
import { Score } from "./score.js";
import { ShareButton } from "./share.js";
import { useShortcuts } from "./shortcuts.js";

export const MIND_NAMES = { literal: "takes words literally", one: "thinks one step", deep: "thinks several steps" };
const SERIES = 2; // games before one may say who he is
const NOWHERE = { hovered: null, focused: null, tapped: null };
export const randomMind = () => Object.keys(MINDS)[Math.floor(Math.random() * 3)];

export function Teacher({ env, address, onNext, announce, score, onScore, onPartner }) {
  const remote = isRemote(address, env);
  const hidden = address.mind !== null && !remote;
  const actual = address.mind ?? address.partner;
  const partnerDepth = MINDS[actual] ?? MINDS.deep;
  const agent = remote ? null : address.agent === "trained" ? agentOf(address, env, variantOf(address, env)) : exactAgent(settingsOf(address, partnerDepth));
  const key = `${writeAddress(address)} ${remote} ${actual} ${Boolean(agent)}`;
  const driver = useMemo(() => {
    if (remote) return serverDriver({ about: env.about, address, variant: address.variant, mode: "teacher", participant: env.participant });
    if (!agent) return { start: () => new Promise(() => {}) };
    return localDriver({ context: contextOf(address, env), target: address.target, student: agent, rounds: address.rounds, mode: "teacher" });
  }, [key]);
  const { play, error, busy, say } = usePlay(driver, key, env.games);
  const [imagined, imagine] = useState("literal"); // the mind that the preview shows where the real one is hidden
  const [pointed, point] = useState(NOWHERE); // at a word
  const next = useRef(null);
  useEffect(() => point(NOWHERE), [key]);
  useEffect(() => { if (play && !play.over && !play.messages.length) announce(`You mean ${play.context.candidates[play.target].label}. Choose a word.`); }, [play?.context.key]);
  const decide = async (m) => {
    const after = await say(m);
    point(NOWHERE);
    if (!after) return;
    if (!after.over) { announce("He waits for another word."); return; }
    announce(`He guesses ${after.context.candidates[after.answer].label}. ${after.answer === after.target ? "Right." : "Wrong."}`);
    onScore(after.expected ? { You: Math.max(0, after.value), "A literal pair": after.expected.literal, "An exact pair": after.expected.exact }
      : { You: Number(after.answer === after.target), "The best word": 1, "Any true word": chanceAtRandom(after, partnerDepth) }, remote ? [] : mindsThatFit(after, address));
    requestAnimationFrame(() => next.current?.focus({ preventScroll: true }));
  };
  useShortcuts(env.shortcuts, (pressed) => {
    const m = play && !play.over ? play.context.words.indexOf(pressed) : -1;
    if (m >= 0) decide(m);
    else if (pressed === "n") onNext();
  });
  if (error && !play) return html`<p class="error" role="alert">${error}</p>`;
  if (!play) return html`<p class="busy">The agents are getting ready …</p>`;
  const known = remote ? null : hidden ? exactAgent(settingsOf(address, MINDS[imagined])) : agent;
  return html`<${TeacherBoard} ...${{ env, address, play, announce, busy, error, decide, known, hidden, imagined, imagine, preview: pointed.hovered ?? pointed.tapped ?? pointed.focused, tapped: pointed.tapped, focused: pointed.focused, point: (change) => point((before) => ({ ...before, ...change })), next, onNext, score, mind: actual, onPartner, partner: remote || address.agent === "trained" ? null : address.partner }} />`;
}

// The minds that might have guessed what he did.
function mindsThatFit(play, address) {
  return Object.keys(MINDS).filter((mind) => {
    const { after } = follow(exactAgent(settingsOf(address, MINDS[mind])), play.context, play.target, play.messages).at(-1);
    return best(after).includes(play.answer);
  });
}

function chanceAtRandom(play, depth) {
  const number = play.context.truth[play.target].filter(Boolean).length;
  return number ? workingWords(play.context, depth, play.target).length / number : 0;
}

function TeacherBoard({ env, address, play, announce, busy, error, decide, known, hidden, imagined, imagine, preview, tapped, focused, point, next, onNext, score, mind, onPartner, partner }) {
  const { context, target } = play;
  const grounded = play.agent.grounded !== false;
  // Where his mind is hidden, what is shown is what the imagined one would think.
  const rounds = hidden ? follow(known, context, target, play.messages) : play.rounds;
  const last = rounds.at(-1);
  const before = last?.after ?? context.prior;
  const thought = preview !== null && known ? known.tables(context, before).belief.map((row) => row[preview]) : null;
  // Who does not see the bars is told what they show of the target.
  useEffect(() => {
    if (thought && preview === focused) announce(`After ${quote(context.words[focused])} ${hidden ? `one who ${MIND_NAMES[imagined]}` : "he"} would believe in ${context.candidates[target].label}: ${percent(thought[target])}.`);
  }, [focused, imagined]);
  const lines = play.messages.flatMap((m, i) => [
    saidLine("teacher", context.words[m]),
    ...(play.answers[i] === undefined ? [] : [answerLine("teacher", play.answers[i] === "wait" ? "waits for another word" : `guesses ${context.candidates[play.answers[i]].label}`)]),
  ]);
  const showReason = play.over && last;
  const beliefs = showReason || (last && !thought) ? context.candidates.map((_, i) => ({ before: last.before[i], after: last.after[i] }))
    : thought ? context.candidates.map((_, i) => ({ before: before[i], after: thought[i] })) : context.candidates.map((_, i) => ({ before: before[i], after: before[i] }));
  const right = play.answer === target;
  return html`<div class="play">
    <section class="board" aria-labelledby="board-title"><h2 id="board-title" class="hidden">The game</h2>
      <${Dialogue} lines=${lines}>
        ${play.over ? html`<p class=${`verdict ${right ? "correct" : "wrong"}`}>${right ? "Right." : "Not this one."} You meant ${context.candidates[target].label}.</p>`
    : html`<p class="task">${play.messages.length ? `He waits. Another word? You have ${roundsLeft(play)} left.` : html`You mean <b>${context.candidates[target].label}</b>. Which word will make him find it?`}</p>`}<//>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <${Cards} context=${context} said=${grounded ? play.messages : []} target=${target} targetTag="you mean this" answer=${play.over ? play.answer : null} answerTag="his guess" beliefs=${beliefs} ghost=${!showReason && Boolean(thought)} />
      ${(showReason || known) && html`<${BarsKey} who=${hidden ? `one who ${MIND_NAMES[imagined]} believes` : "he believes"} />`}
      ${!play.over && html`<${Words} ...${{ context, target, grounded, tapped, point, onSay: (m) => !busy && decide(m), twoTaps: Boolean(known) }} />`}
      ${!play.over && !grounded && html`<p class="hint">These two agents have made up what their words mean: “${context.words[usableWords(context)[0]]}” need not mean what it says.</p>`}
      ${!play.over && known && tapped === null && html`<p class="hint">${tapsOnly() ? "Tap a word" : "Point at a word, or move to it with Tab"}: the bars show what ${hidden ? `somebody who ${MIND_NAMES[imagined]} would think` : "he would think"}.</p>`}
      <div class="actions">
        ${!play.over && tapped !== null && html`<button type="button" class="main" onClick=${() => !busy && decide(tapped)}>Say ${quote(context.words[tapped])}</button>`}
        ${play.over && html`<button type="button" class="main" ref=${next} onClick=${onNext}>Next game</button><${ShareButton} address=${address} announce=${announce} />`}
        ${!play.over && !env.participant && html`<button type="button" class="quiet" onClick=${onNext}>Another game</button>`}</div>
    </section>
    <aside class="beside" aria-label="Your partner">
      ${showReason && rounds.map((round, i) => html`<p key=${i} class="reason">${hidden && html`<em>If he ${MIND_NAMES[imagined]}: </em>`}${reason(context, round, hidden ? known : play.agent, target, HE_OF_YOU)}</p>`)}
      ${!hidden && !showReason && html`<p class="hint">${partner ? `Your partner ${MIND_NAMES[partner]}.` : "You and he see the same things, and he would like to find what you mean."}</p>`}
      ${hidden && html`<${Partner} key=${mind} ...${{ score, mind, imagined, imagine, onPartner }} />`}
      ${showReason && !hidden && html`<${BeliefTable} context=${context} round=${last} />`}
      <${Score} score=${score} note="In the same games: with the best word for this partner, and with a true word at random." />
    </aside></div>`;
}

const tapsOnly = () => matchMedia("(hover: none)").matches;

// A finger cannot point without pressing: its first tap shows what he would think, the second says the word.
function Words({ context, target, grounded, tapped, point, onSay, twoTaps }) {
  const pointer = useRef(null);
  const press = (event, m) => {
    if (event.detail > 1) return;
    if (twoTaps && pointer.current === "touch" && tapped !== m) point({ tapped: m });
    else onSay(m);
  };
  return html`<div class="words" role="group" aria-label="Words">${usableWords(context).map((m) => {
    const isTrue = grounded && context.truth[target][m];
    return html`<button key=${m} type="button" class=${`word ${grounded ? (isTrue ? "" : "untrue") : "ungrounded"} ${tapped === m ? "tapped" : ""}`} aria-label=${grounded && !isTrue ? `${context.words[m]}, not true of it` : context.words[m]}
      onPointerDown=${(event) => { pointer.current = event.pointerType; }} onKeyDown=${() => { pointer.current = null; }}
      onMouseEnter=${() => !tapsOnly() && point({ hovered: m })} onMouseLeave=${() => point({ hovered: null })} onFocus=${() => point({ focused: m })} onBlur=${() => point({ focused: null })}
      onClick=${(event) => press(event, m)}>${context.words[m]}</button>`;
  })}</div>`;
}

// The minds that might have guessed what he did in every game.
const suspects = (score) => Object.keys(MIND_NAMES).filter((name) => score.fits[name] === score.games);
const EVIDENCE = {
  1: "Only one of the three would have guessed as he did.",
  2: "Two of the three would have guessed as he did: to tell them apart, say a word after which they differ.",
  3: "All three would have guessed as he did: to tell them apart, say a word after which they differ.",
};

// Somebody whose mind is to be found out by playing.
function Partner({ score, mind, imagined, imagine, onPartner }) {
  const [guess, setGuess] = useState(null);
  return html`<section class="partner"><h3>Who is he?</h3>
    <p>Find out by playing. He stays the same until you name him.</p>
    <fieldset disabled=${guess !== null}><legend>Imagine that he</legend>${Object.entries(MIND_NAMES).map(([name, text]) => html`<label key=${name} class="choice"><input type="radio" name="imagined" checked=${imagined === name} onChange=${() => imagine(name)} /> ${text}</label>`)}</fieldset>
    ${guess === null && (score.games < SERIES ? html`<p class="legend">After ${SERIES} games you may name him.</p>`
    : html`<p class="legend">${EVIDENCE[suspects(score).length] ?? EVIDENCE[3]}</p><button type="button" onClick=${() => setGuess(imagined)}>Name him: he ${MIND_NAMES[imagined]}</button>`)}
    ${guess !== null && html`<p class=${`verdict ${guess === mind ? "correct" : "wrong"}`}>${guess === mind ? "Yes:" : "No:"} he ${MIND_NAMES[mind]}.</p>
      <p class="legend">Games in which one would have guessed as he did who ${Object.entries(MIND_NAMES).map(([name, text]) => `${text}: ${score.fits[name] ?? 0} of ${score.games}`).join("; ")}.</p>
      <button type="button" class="main" onClick=${() => { setGuess(null); onPartner(); }}>Meet another partner</button>`}
  </section>`;
}
