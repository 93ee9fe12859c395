// The clock of the store, which makes a month pass. Loaded with the first subscription, if this server may set the clock.
import { Problem, call, newKey, pause } from "./api.js";
import { loadOwned, takeTime } from "./owned.js";
import { loadSubscriptions } from "./subscriptions.js";
import { element, find, time } from "./text.js";

const button = (span, label) =>
  element("button", { type: "button", class: "quiet", onclick: () => advance(span) }, label);
const buttons = [button("1d", "A day passes"), button("31d", "A month passes")];
const now = element("strong", { id: "clock-now" });
const status = element("span", { id: "clock-status", role: "status" });
find("subscriptions-part").append(element("div", { id: "clock", class: "outside" },
  element("p", {}, "The store’s time is ", now, ". Let it pass to see what falls due."),
  element("p", { class: "acts" }, ...buttons, status)));

/** Shows what the store's clock says, and returns it. */
export async function showClock() {
  const clock = await call("GET", "/api/sandbox/clock");
  now.textContent = time(clock.now);
  if (clock.status !== "advancing") takeTime(clock.now);
  return clock;
}

/** Advances the clock, and shows its time meanwhile. */
async function advance(span) {
  for (const each of buttons) each.disabled = true;
  status.textContent = "Time passes…";
  status.textContent = await outcome(span);
  for (const each of buttons) each.disabled = false;
  await Promise.all([loadSubscriptions(), loadOwned()]);
}

/** Advances the clock. Returns the words for what became of it. */
async function outcome(span) {
  try {
    await call("POST", "/api/sandbox/clock/advance", { body: { by: span }, key: newKey() });
    let clock = await showClock();
    while (clock.status === "advancing") {
      await pause(300);
      clock = await showClock();
    }
    return clock.status === "failed" ? clock.failure : "Everything that fell due is done.";
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return problem.message;
  }
}
