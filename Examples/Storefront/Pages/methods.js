// How a payment may end in the sandbox. Loaded with the first dialog that asks for it.

/** The sandbox's payment methods: its name, how it ends, and what it will do. */
export const methods = [
  ["sandbox_success", "pays", "Goes through at once."],
  ["sandbox_slow", "pays", "Goes through after two seconds."],
  ["sandbox_flaky", "pays", "The processor fails twice. The store asks again, and it goes through."],
  ["sandbox_unknown_charged", "pays", "The answer is lost. The store finds out that it was charged."],
  ["sandbox_processing", "pays", "The processor works on it for two seconds. Then it goes through."],
  ["sandbox_throttled", "pays", "The processor is asked too often. The store asks later, and it goes through."],
  ["sandbox_stored_error", "pays", "The processor repeats its first error. The store asks under another key."],
  ["sandbox_refund_pending", "pays", "Goes through. A refund takes two seconds."],
  ["sandbox_refund_failed", "pays", "Goes through. Every refund fails."],
  ["sandbox_needs_action", "waits", "Waits until you confirm it at your bank, as with 3-D Secure."],
  ["sandbox_needs_approval", "waits", "Waits until somebody approves it, as with Ask to Buy."],
  ["sandbox_interrupted", "fails", "You leave to solve a problem. It fails, and support can resume it."],
  ["sandbox_unknown_not_charged", "fails", "The answer is lost. The store finds out that nothing was charged."],
  ["sandbox_wrong_amount", "fails", "The processor charges too much. The store gives the money back."],
  ["sandbox_decline", "fails", "The card is declined."],
  ["sandbox_insufficient_funds", "fails", "There is not enough money."],
  ["sandbox_cancelled", "fails", "You cancel at the prompt."],
];

/** The methods for subscriptions: those that say how renewals end come second. */
export const subscriptionMethods = [
  methods[0],
  ["sandbox_renewal_recovers", "pays", "Goes through. The first renewal is declined four times, and then paid."],
  ["sandbox_renewal_declined", "pays", "Goes through. Every renewal is declined."],
  ...methods.slice(1),
];
