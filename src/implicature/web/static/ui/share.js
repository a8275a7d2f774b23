// A link to this game that anybody can open.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { writeAddress } from "../url.js";

const isLoopback = (host) => ["localhost", "127.0.0.1", "[::1]"].includes(host);

export function ShareButton({ address, label = "Copy a link to this game", announce }) {
  const [text, setText] = useState(null);
  const link = new URL(writeAddress({ ...address, participant: null }), location.href);
  useEffect(() => setText(null), [link.href]);
  const copy = async () => {
    const tell = (result) => { setText(result); announce(result); };
    try {
      await navigator.clipboard.writeText(link.href);
      tell(isLoopback(location.hostname) ? "Copied. It opens on this computer only; “implicature play --export” makes a page to share." : "Copied");
    } catch {
      tell("Copy it from the address bar");
    }
  };
  return html`<button type="button" class="quiet" onClick=${copy}>${text ?? label}</button>`;
}
