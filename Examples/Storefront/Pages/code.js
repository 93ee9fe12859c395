// The way to the store's own page for codes. Loaded when somebody has a code.
import { Problem, call } from "./api.js";
import { openDialog } from "./dialog.js";
import { subscriptionMethods } from "./methods.js";
import { element, find } from "./text.js";

const dialog = element("dialog", { id: "codes", "aria-labelledby": "codes-title" },
  element("form", { id: "codes-form", onsubmit: open },
    element("h2", { id: "codes-title" }, "Redeem a code"),
    element("p", { class: "dim" }, "You type it on a page of the store, so that no shop sees codes. "
      + "A code begins a subscription or changes one. Choose how to pay for what the code does not make free."),
    element("label", {}, "Payment method ", element("select", { name: "method" },
      ...subscriptionMethods.map(([method, , words]) =>
        element("option", { value: method }, words)))),
    element("p", { id: "codes-problem", class: "problem", role: "alert", hidden: true }),
    element("p", { class: "acts" },
      element("button", { id: "codes-go" }, "Continue"),
      element("a", { id: "codes-page", target: "_blank", rel: "noopener", hidden: true, onclick: () => dialog.close() },
        "Open the store’s page"),
      element("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Not now"))));
document.body.append(dialog);
// The address signs the buyer in, so it leaves the page with the dialog.
dialog.addEventListener("close", clear);

function clear() {
  find("codes-problem").hidden = true;
  find("codes-go").hidden = false;
  find("codes-page").hidden = true;
  find("codes-page").removeAttribute("href");
}

/** Opens the dialog. */
export function askForCode() {
  clear();
  openDialog(dialog);
}

/** Gets the page's address, and shows it as a link, which no browser takes for an advertisement. */
async function open(event) {
  event.preventDefault();
  find("codes-problem").hidden = true;
  try {
    const body = { paymentMethod: find("codes-form").elements.method.value };
    const { url } = await call("POST", "/api/code-page", { body });
    if (!dialog.open) return;
    find("codes-page").setAttribute("href", url);
    find("codes-go").hidden = true;
    find("codes-page").hidden = false;
    find("codes-page").focus();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("codes-problem").textContent = problem.message;
    find("codes-problem").hidden = false;
  }
}
