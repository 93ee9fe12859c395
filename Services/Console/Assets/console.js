// The pages work by links and forms. This module adds what only a script can do: it takes the ticket
// out of the address, opens dialogs, and follows the data of a page that stays open.

const ticket = document.querySelector("#ticket");

function useTicket() {
  if (!ticket || !location.hash.startsWith("#ticket=")) return;
  ticket.value = location.hash.slice("#ticket=".length);
  // The ticket is good once; it need not stay in the history.
  history.replaceState(null, "", location.pathname);
  ticket.form.requestSubmit();
}

useTicket();
// An address that is opened in the tab of this page loads nothing.
addEventListener("hashchange", useTicket);

for (const button of document.querySelectorAll("[data-opens]")) {
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}
for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

// A form is sent once, also by a double click.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  for (const button of event.target.querySelectorAll("button")) setTimeout(() => { button.disabled = true; });
});
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button:disabled")) button.disabled = false;
});

// A page that loads itself again gives the focus back to the link or button that had it.
const places = "a[href], button, summary";
const nameOf = (place) =>
  [place.tagName, place.getAttribute("href"), place.dataset.opens, place.textContent].join(" ");
const lastPlace = sessionStorage.getItem("place");
sessionStorage.removeItem("place");
if (lastPlace) {
  [...document.querySelectorAll(places)].find((place) => nameOf(place) === lastPlace)?.focus({ preventScroll: true });
}

function loadAgain() {
  const place = document.activeElement;
  if (place?.matches(places)) sessionStorage.setItem("place", nameOf(place));
  location.reload();
}

// Nobody's dialog is closed, and no field is emptied, while they write.
const isWriting = () =>
  document.querySelector("dialog[open]") || document.activeElement?.matches("input, select, textarea");

const main = document.querySelector("main[data-live]");
const connection = document.querySelector("#connection");
// A story is read from every database. Somebody who has just opened or changed it waits for what comes
// next, so it is read each second for a while, and then less often than the values that all pages share.
const isStory = main?.dataset.story !== undefined;
const quickTurns = 20;
const slowTurns = 32;
// A page of a purchase follows it for three minutes; after that it is loaded again by hand.
let timer;
// Whoever has followed a link is on the way there, and a page that loads itself again would call them back.
// After a download they are still here.
const farewell = 10_000;
let leftAt = -Infinity;
addEventListener("beforeunload", () => { leftAt = performance.now(); });
let turns = isStory ? quickTurns + slowTurns : Infinity;

function pause() {
  if (!isStory) return 2000;
  return turns > slowTurns ? 1000 : 5000;
}

function show(words) {
  connection.hidden = !words;
  if (connection.textContent !== words) connection.textContent = words;
}

function update(fields) {
  for (const place of document.querySelectorAll("[data-field]")) {
    // A value that is missing now is unknown, and never the last one that was known.
    const field = fields[place.dataset.field] ?? { text: "unknown", tone: "warn" };
    if (place.textContent !== field.text) place.textContent = field.text;
    const tone = "tone-" + field.tone;
    if (place.className !== tone) place.className = tone;
  }
}

function move(fields) {
  // A bar whose work has ended stays where it is until the page is loaded again.
  for (const bar of document.querySelectorAll("[data-bar]")) {
    const field = fields[bar.dataset.bar];
    if (field) bar.value = Number(field.text);
  }
  for (const line of document.querySelectorAll("[data-line]")) {
    const field = fields[line.dataset.line];
    if (field) line.setAttribute("points", field.text);
  }
}

async function follow() {
  if (document.visibilityState === "hidden") return;
  if (turns <= 0) {
    show("This page has stopped looking for news. Load it again to see what is new.");
    return;
  }
  turns -= 1;
  try {
    const answer = await fetch(main.dataset.live, { headers: { accept: "application/json" } });
    if (answer.status === 401) { location.assign("/sign-in"); return; }
    if (!answer.ok) throw new Error();
    const { stamp, fields } = await answer.json();
    show("");
    update(fields);
    move(fields);
    const isHere = performance.now() - leftAt > farewell;
    if (isHere && stamp !== (main.dataset.stamp ?? "") && !isWriting()) {
      // A page that is loaded again stays where it was scrolled to; its notice about an act is old by then.
      history.replaceState(null, "", location.pathname);
      loadAgain();
      return;
    }
  } catch {
    show("The console cannot get newer data. What you see may be old; it tries again by itself.");
  }
  clearTimeout(timer);
  timer = setTimeout(follow, pause());
}

if (main) {
  timer = setTimeout(follow, pause());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") follow();
  });
}

// A page that could not be read because a part of the store is away: it is asked for again, and shown once
// there is an answer. Each try counts as a use of the session, so there are only as many as three minutes have.
const away = document.querySelector("main[data-retry]");
const tryPause = 5000;
let tries = 36;

async function tryAgain() {
  if (tries <= 0) {
    show("This page has stopped trying. Load it again by hand.");
    return;
  }
  if (document.visibilityState === "visible") {
    tries -= 1;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      const isHere = performance.now() - leftAt > farewell;
      if (answer.status !== 503 && isHere && !isWriting()) { loadAgain(); return; }
    } catch {
      // The console itself is away for now, too.
    }
  }
  setTimeout(tryAgain, tryPause);
}

if (away) setTimeout(tryAgain, tryPause);
