// The page: reads its data and its address, then renders.

import { html, render } from "./vendor/htm-preact.js";
import { App } from "./ui/app.js";
import { request } from "./ui/play.js";
import { Study } from "./ui/study.js";

async function start() {
  const root = document.getElementById("root");
  try {
    const response = await fetch("data/site.json");
    if (!response.ok) throw new Error("The page’s data are missing: export it again, or start “implicature play” again.");
    const site = await response.json();
    const about = site.server ? await request("about") : null;
    root.replaceChildren();
    render(about?.study ? html`<${Study} about=${about} />` : html`<${App} site=${site} about=${about} />`, root);
  } catch (error) {
    const message = document.createElement("p");
    message.setAttribute("role", "alert");
    message.className = "error";
    message.textContent = error.message;
    root.replaceChildren(message);
  }
}

start();
