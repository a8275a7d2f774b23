// Single keys, which can be turned off (WCAG 2.1.4). Held keys count once.

import { useLayoutEffect } from "../vendor/htm-preact.js";

export function useShortcuts(enabled, onPress) {
  useLayoutEffect(() => {
    if (!enabled) return undefined;
    const listener = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (/INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
      onPress(event.key);
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  });
}
