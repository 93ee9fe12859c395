// The list of what the buyer subscribes to. Most buyers have nothing there, and load no more than this.
import { Problem, call, load } from "./api.js";
import { find } from "./text.js";

let hasClock = false;
let turn = {};

/** Says whether the store's clock is shown, and forgets the buyer before. */
export function clearSubscriptions(mayControl) {
  hasClock = mayControl;
  turn = {};
  find("subscriptions").replaceChildren();
  find("subscriptions-part").hidden = true;
}

/** Loads the subscriptions, and the time of the store's clock. */
export async function loadSubscriptions() {
  const mine = turn;
  try {
    const { subscriptions } = await call("GET", "/api/subscriptions");
    const part = subscriptions.length ? await load("./subscription.js") : undefined;
    // Another buyer may have signed in meanwhile. Without the part of the page the list stays as it is.
    if (mine !== turn || (subscriptions.length && !part)) return;
    const list = find("subscriptions");
    const { activeElement } = document;
    const place = [...list.children].findIndex((each) => each.contains(activeElement));
    list.replaceChildren(...subscriptions.map((each) => part.item(each)));
    find("subscriptions-part").hidden = subscriptions.length === 0;
    // What had the focus is made anew: who uses the keys stays where they were.
    const again = list.querySelector(`[data-act="${activeElement?.dataset?.act}"]`) ?? list.children[place];
    if (place >= 0) again?.focus({ preventScroll: true });
    if (hasClock && subscriptions.length) await (await load("./clock.js"))?.showClock();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
  }
}
