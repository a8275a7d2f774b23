// A candidate as people see it: chips for sets, a picture or a drawing for objects, faces, figures for "some or all".

import { html } from "../vendor/htm-preact.js";

const COLOURS = {
  blue: ["#7fb0ff", "#2f6fe0", "#1a3f8c"], red: ["#ff9a8f", "#d8392c", "#8a1a14"], yellow: ["#ffe680", "#e9bd16", "#96770a"],
  green: ["#93dd9c", "#2f9e44", "#186128"], cyan: ["#a1eef2", "#17b3bd", "#0b6f77"], magenta: ["#f4a3e8", "#c837b0", "#7a1a6b"],
  grey: ["#d9dce0", "#9aa1a9", "#5d646c"],
};
const SHEET = { columns: 24, rows: 12, tile: 130, shown: 126, edge: 1 }; // pixels of objects.png

// The fills of all drawings, once on the page.
export function Paints() {
  const stops = (colours) => colours.map((colour, i) => html`<stop offset=${i / (colours.length - 1)} stop-color=${colour} />`);
  return html`<svg width="0" height="0" class="paints" aria-hidden="true"><defs>
    ${Object.entries(COLOURS).map(([name, [light, middle, dark]]) => html`
      <radialGradient key=${`${name}-r`} id=${`round-${name}`} cx="0.36" cy="0.3" r="0.75">${stops([light, middle, dark])}</radialGradient>
      <linearGradient key=${`${name}-s`} id=${`side-${name}`} x1="0" x2="1" y1="0" y2="0">${stops([middle, light, middle, dark])}</linearGradient>`)}
  </defs></svg>`;
}

// Each shape around (0, 0), about 100 wide and standing on y = 40, lit from the upper left.
const SHAPES = {
  sphere: (c) => html`<circle r="42" cy="-2" fill=${`url(#round-${c})`} />`,
  ellipsoid: (c) => html`<ellipse rx="54" ry="30" cy="10" fill=${`url(#round-${c})`} />`,
  box: (c) => html`<path d="M-40-22 0-38 40-22 0-6Z" fill=${COLOURS[c][0]} /><path d="M-40-22V24L0 42V-6Z" fill=${COLOURS[c][1]} /><path d="M40-22V24L0 42V-6Z" fill=${COLOURS[c][2]} />`,
  cylinder: (c) => html`<path d="M-34-30V28A34 12 0 0 0 34 28V-30Z" fill=${`url(#side-${c})`} /><ellipse cy="-30" rx="34" ry="12" fill=${COLOURS[c][0]} />`,
  cone: (c) => html`<path d="M0-48-38 28A38 13 0 0 0 38 28Z" fill=${`url(#side-${c})`} />`,
  pyramid: (c) => html`<path d="M0-48-44 24 6 42Z" fill=${COLOURS[c][1]} /><path d="M0-48 6 42 44 18Z" fill=${COLOURS[c][2]} />`,
};
const ACCESSORIES = {
  hat: html`<path class="wear" d="M-46-30H46V-24H-46ZM-26-62Q0-70 26-62L28-30H-28Z" />`,
  glasses: html`<g class="wire"><circle cx="-16" cy="-8" r="11" /><circle cx="16" cy="-8" r="11" /><path d="M-5-8H5M-27-10-38-14M27-10 38-14" /></g>`,
  moustache: html`<path class="wear" d="M0 14C-8 6-24 8-28 20-18 16-8 22 0 18 8 22 18 16 28 20 24 8 8 6 0 14Z" />`,
};
const accessoriesOf = (attributes) => Object.keys(ACCESSORIES).filter((name) => attributes.includes(name)).map((name) => html`<g key=${name}>${ACCESSORIES[name]}</g>`);

function ObjectDrawing({ attributes }) {
  const colour = attributes.find((name) => name in COLOURS) ?? "grey";
  const shape = attributes.find((name) => name in SHAPES) ?? "sphere";
  const position = attributes.find((name) => /^(upper|lower)-/.test(name))?.split("-");
  const size = attributes.includes("small") ? 0.5 : position ? 0.72 : 0.92;
  const x = position ? (position[1] === "left" ? 52 : 108) : 80;
  const y = position ? (position[0] === "upper" ? 46 : 88) : 72;
  return html`<svg viewBox="0 0 160 128" class="drawing" aria-hidden="true">
    <rect width="160" height="128" rx="10" class="sky" /><path d="M0 40H160V118Q160 128 150 128H10Q0 128 0 118Z" class="floor" />
    <g transform=${`translate(${x} ${y}) scale(${size})`}><ellipse cx="8" cy="40" rx="50" ry="12" class="shadow" />${SHAPES[shape](colour)}${accessoriesOf(attributes)}</g></svg>`;
}

function FaceDrawing({ attributes }) {
  return html`<svg viewBox="0 0 160 128" class="drawing" aria-hidden="true"><rect width="160" height="128" rx="10" class="sky" />
    <g transform="translate(80 76)"><circle r="42" class="skin" /><circle cx="-16" cy="-8" r="4" class="eye" /><circle cx="16" cy="-8" r="4" class="eye" />
    <path d="M-16 22Q0 34 16 22" class="mouth" />${accessoriesOf(attributes)}</g></svg>`;
}

function Boys({ attributes }) {
  const present = attributes.includes("all") ? 4 : 2;
  return html`<svg viewBox="0 0 160 92" class="drawing boys" aria-hidden="true">${[0, 1, 2, 3].map((i) => html`
    <g key=${i} transform=${`translate(${22 + 38 * i} 20)`} class=${i < present ? "present" : "absent"}><circle cx="0" cy="10" r="10" /><path d="M-14 56V40A14 14 0 0 1 14 40V56Z" /></g>`)}</svg>`;
}

function SheetPicture({ instance }) {
  const { columns, rows, tile, shown, edge } = SHEET;
  const place = (i, number) => `${(100 * (i * tile + edge)) / (number * tile - shown)}%`;
  const style = { backgroundPosition: `${place(instance % columns, columns)} ${place(Math.floor(instance / columns), rows)}` };
  return html`<span class="drawing picture sheet" style=${style}></span>`;
}

// The label, with the words that were said in bold where they are true of it.
function Caption({ label, said }) {
  const text = label.replace(/^the /, "");
  return html`<span class="caption">${text.split(" ").map((word, i) => html`${i ? " " : ""}${said.includes(word.replace(/,$/, "")) ? html`<b>${word}</b>` : word}`)}</span>`;
}

export function Picture({ space, candidate, said = [] }) {
  const { attributes, label, instance } = candidate;
  if (space.kind === "numbers") {
    return html`<span class="chips" aria-hidden="true">${attributes.map((name) => html`<span key=${name} class=${said.includes(name) ? "chip said" : "chip"}>${name}</span>`)}</span>
      <span class="hidden">${label}</span>`;
  }
  const drawing = space.name === "some-all" ? html`<${Boys} attributes=${attributes} />`
    : candidate.image ? html`<img src=${candidate.image} alt="" class="drawing picture" />`
      : space.pictures && instance >= 0 ? html`<${SheetPicture} instance=${instance} />`
        : space.kind === "faces" || (space.name === "own" && !attributes.some((name) => name in SHAPES || name in COLOURS) && attributes.some((name) => name in ACCESSORIES))
          ? html`<${FaceDrawing} attributes=${attributes} />`
          : space.kind === "objects" ? html`<${ObjectDrawing} attributes=${attributes} />`
            : html`<span class="chips" aria-hidden="true">${attributes.map((name) => html`<span key=${name} class=${said.includes(name) ? "chip said" : "chip"}>${name}</span>`)}</span>`;
  return html`${drawing}<${Caption} label=${label} said=${said} />`;
}
