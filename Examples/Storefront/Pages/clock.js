// The store's clock goes forward. Loaded when somebody lets time pass.
import { Problem, call, newKey, pause } from "./api.js";

/** Advances the clock, and shows its time meanwhile. Returns the words for what became of it. */
export async function advance(span, showClock) {
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
