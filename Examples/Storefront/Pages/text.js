// Texts for people. Nothing here ever makes HTML out of a text.

/** An element with attributes, listeners (`onclick`) and children; texts stay texts. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** The picture of a type of product. */
export function picture(type) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  const known = document.getElementById(type) ? type : "nonConsumable";
  use.setAttribute("href", `#${known}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/** An amount in the buyer's own form. */
export function money({ minorUnits, currency }) {
  try {
    const format = new Intl.NumberFormat(navigator.language, { style: "currency", currency });
    return format.format(minorUnits / 10 ** format.resolvedOptions().maximumFractionDigits);
  } catch {
    return `${minorUnits} ${currency}`;
  }
}

/** A time of the store in the buyer's own form. */
export function time(milliseconds) {
  return new Intl.DateTimeFormat(navigator.language, { dateStyle: "medium", timeStyle: "short" })
    .format(milliseconds);
}

const units = { D: "day", W: "week", M: "month", Y: "year" };

/** The length of a subscription's period: `P1M` is "month". */
export function period(text) {
  const [, count, letter] = /^P(\d+)([DWMY])$/.exec(text) ?? [];
  if (!letter) return text;
  return count === "1" ? units[letter] : `${count} ${units[letter]}s`;
}

export const types = {
  consumable: "Used up, and bought again",
  nonConsumable: "Yours for good",
  nonRenewingSubscription: "For a season, not renewed",
  autoRenewableSubscription: "Renews until you cancel",
};

/** The sandbox's payment methods, with what each will do. */
export const methods = [
  ["sandbox_success", "Goes through at once."],
  ["sandbox_slow", "Goes through after two seconds."],
  ["sandbox_flaky", "The processor fails twice; the store asks again, and it goes through."],
  ["sandbox_needs_approval", "Waits until somebody approves it, as with Ask to Buy."],
  ["sandbox_interrupted", "You leave to solve a problem: it fails, and can be resumed later."],
  ["sandbox_unknown_charged", "The answer is lost; the store finds out that it was charged."],
  ["sandbox_unknown_not_charged", "The answer is lost; the store finds out that nothing was charged."],
  ["sandbox_decline", "The card is declined."],
  ["sandbox_insufficient_funds", "There is not enough money."],
  ["sandbox_cancelled", "You cancel at the prompt."],
];

/** What a failed purchase says. */
export const failures = {
  paymentCancelled: "You cancelled the payment. Nothing was charged.",
  paymentDeclined: "The card was declined. Nothing was charged.",
  insufficientFunds: "There was not enough money. Nothing was charged.",
  approvalDeclined: "It was not approved. Nothing was charged.",
  approvalExpired: "Nobody approved it in time. Nothing was charged.",
  processorRefused: "The payment was refused. Nothing was charged.",
  storefrontChanged: "Your region has changed meanwhile. Nothing was charged.",
  paymentsNotAllowed: "This account may not pay. Nothing was charged.",
  interrupted: "You left to solve a problem. Nothing was charged; it can be resumed.",
  subscriptionChanged: "The subscription changed meanwhile. A charge is given back.",
};
