// A candidate as people see it: chips for sets, an image or a drawing for objects, figures for "some or all".

import { element, svg } from "./dom.js";

const COLOURS = {
  blue: ["#7fb0ff", "#2f6fe0", "#1a3f8c"], red: ["#ff9a8f", "#d8392c", "#8a1a14"], yellow: ["#ffe680", "#e9bd16", "#96770a"],
  green: ["#93dd9c", "#2f9e44", "#186128"], cyan: ["#a1eef2", "#17b3bd", "#0b6f77"], magenta: ["#f4a3e8", "#c837b0", "#7a1a6b"],
};
const SHAPES = ["box", "sphere", "cylinder", "pyramid", "cone", "ellipsoid"];
let drawings = 0;

// Each shape around (0, 0), about 100 wide and standing on y = 40; g are its fills, lit from the upper left.
const DRAW_SHAPE = {
  sphere: (g) => [svg("circle", { r: 42, cy: -2, fill: g.round })],
  ellipsoid: (g) => [svg("ellipse", { rx: 54, ry: 30, cy: 10, fill: g.round })],
  box: (g) => [
    svg("path", { d: "M-40-22 0-38 40-22 0-6Z", fill: g.light }), svg("path", { d: "M-40-22V24L0 42V-6Z", fill: g.middle }),
    svg("path", { d: "M40-22V24L0 42V-6Z", fill: g.dark }),
  ],
  cylinder: (g) => [
    svg("path", { d: "M-34-30V28A34 12 0 0 0 34 28V-30Z", fill: g.side }), svg("ellipse", { cy: -30, rx: 34, ry: 12, fill: g.light }),
  ],
  cone: (g) => [svg("path", { d: "M0-48-38 28A38 13 0 0 0 38 28Z", fill: g.side })],
  pyramid: (g) => [
    svg("path", { d: "M0-48-44 24 6 42Z", fill: g.middle }), svg("path", { d: "M0-48 6 42 44 18Z", fill: g.dark }),
  ],
};

function fills(colour) {
  const id = `paint-${++drawings}`;
  const [light, middle, dark] = COLOURS[colour];
  const stops = (...colours) => colours.map((stop, i) => svg("stop", { offset: i / (colours.length - 1), "stop-color": stop }));
  const defs = svg("defs", {},
    svg("radialGradient", { id: `${id}-r`, cx: 0.36, cy: 0.3, r: 0.75 }, ...stops(light, middle, dark)),
    svg("linearGradient", { id: `${id}-s`, x1: 0, x2: 1, y1: 0, y2: 0 }, ...stops(middle, light, middle, dark)));
  return [defs, { light, middle, dark, round: `url(#${id}-r)`, side: `url(#${id}-s)` }];
}

function drawObject(attributes) {
  const colour = attributes.find((name) => name in COLOURS) ?? "blue";
  const shape = attributes.find((name) => SHAPES.includes(name)) ?? "sphere";
  const position = attributes.find((name) => name.includes("-"))?.split("-");
  const size = attributes.includes("small") ? 0.42 : position ? 0.72 : 0.95;
  const x = position ? (position[1] === "left" ? 52 : 108) : 80;
  const y = position ? (position[0] === "upper" ? 46 : 88) : 68;
  const [defs, paint] = fills(colour);
  return svg("svg", { viewBox: "0 0 160 128", class: "drawing", "aria-hidden": "true" }, defs,
    svg("rect", { width: 160, height: 128, rx: 10, class: "sky" }), svg("path", { d: "M0 34H160V118Q160 128 150 128H10Q0 128 0 118Z", class: "floor" }),
    svg("g", { transform: `translate(${x} ${y}) scale(${size})` },
      svg("ellipse", { cx: 8, cy: 40, rx: 50, ry: 12, class: "shadow" }), ...DRAW_SHAPE[shape](paint)));
}

function drawBoys(instance) {
  const present = instance === 0 ? 2 : 4;
  const figures = [0, 1, 2, 3].map((i) => svg("g", { transform: `translate(${22 + 38 * i} 20)`, class: i < present ? "present" : "absent" },
    svg("circle", { cx: 0, cy: 10, r: 10 }), svg("path", { d: "M-14 56V40A14 14 0 0 1 14 40V56Z" })));
  return svg("svg", { viewBox: "0 0 160 92", class: "drawing", "aria-hidden": "true" }, ...figures);
}

function chips(attributes, mentioned) {
  return element("span", { className: "chips" }, ...attributes.map((name) =>
    element("span", { className: mentioned.includes(name) ? "chip mentioned" : "chip" }, name)));
}

const caption = (...content) => element("span", { className: "caption" }, ...content);

// The label, with the words that were mentioned in bold.
function boldLabel(label, mentioned) {
  return label.split(" ").flatMap((word, i) => [i ? " " : "", mentioned.includes(word) ? element("b", {}, word) : word]);
}

export function drawCandidate(game, { instance, attributes, label }, mentioned) {
  if (game.kind === "numbers") return [chips(attributes, mentioned)];
  if (game.name === "some-all") return [drawBoys(instance), caption(label)];
  if (game.kind === "words" && !game.images) return [caption(label), chips(attributes, mentioned)];
  const source = `api/image/${game.name}/${instance}.png`;
  const image = game.images ? element("img", { src: source, alt: "", className: "drawing rendered" }) : drawObject(attributes);
  return [image, caption(...boldLabel(label, mentioned))];
}
