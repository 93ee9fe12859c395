// What all dialogs share. Loaded with the first of them.
import { find } from "./text.js";

/**
 * Opens a dialog, and gives the focus back when it is closed.
 *
 * The browser gives it to the button that opened the dialog. That button may have been made anew meanwhile; then the
 * row or the list that it was in gets the focus.
 */
export function openDialog(dialog) {
  const place = document.activeElement?.closest("[tabindex='-1']");
  const giveBack = () => {
    const current = document.activeElement;
    if (current && current !== document.body && !dialog.contains(current)) return;
    (place?.isConnected ? place : find("shelf")).focus();
  };
  dialog.addEventListener("close", giveBack, { once: true });
  dialog.showModal();
}
