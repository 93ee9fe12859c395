#!/usr/bin/env python3
"""Calls the stand-in for Stripe with Stripe's own library, and compares the answers.

Nobody of this project wrote the library. What it can read, what it makes of errors, and which
signatures it believes are a second opinion on the stand-in. The calls that it would make are one on
the store's client.
"""

import http.server
import sys
import threading
import time
import urllib.parse
import urllib.request

import answers
import calls
import names
import stripe


class Hooks:
    """A server that keeps the webhooks which it gets."""

    def __init__(self, port):
        self.received = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.received.append((body, self.headers["stripe-signature"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def wait(self, count):
        """Waits until there are so many webhooks, for a minute at most."""
        end = time.monotonic() + 60
        while len(self.received) < count and time.monotonic() < end:
            time.sleep(0.02)
        return self.received[:]


class Rows:
    """A table of calls: the expected result, the actual one, and whether both are equal."""

    def __init__(self):
        self.count = 0
        self.misses = 0

    def expect(self, call, expected, got):
        self.count += 1
        mark = "ok" if expected == got else "MISS"
        self.misses += expected != got
        print(f"  {call:<58} {str(expected):<34.34} {str(got):<34.34} {mark}", flush=True)


def outcome(body):
    """The result of a call, or the class and the codes of its error."""
    try:
        return body()
    except stripe.StripeError as error:
        body = error.json_body or {}
        details = body.get("error", {})
        code = details.get("decline_code") or details.get("code")
        return " ".join(filter(None, [type(error).__name__, str(error.http_status), code]))


def ids(objects):
    return [one.id for one in objects]


def pay(customer, attempt, key, card="pm_card_visa", amount=999, **more):
    return stripe.PaymentIntent.create(
        amount=amount,
        currency="usd",
        customer=customer,
        payment_method=card,
        confirm=True,
        metadata={"attempt": attempt, "text": "ä & b=c+d"},
        expand=["latest_charge"],
        idempotency_key=key,
        **more,
    )


def control(url, what, **fields):
    data = urllib.parse.urlencode(fields).encode()
    urllib.request.urlopen(f"{url}/control/{what}", data=data).close()


def payments(rows, url, customer):
    first = pay(customer, "a1", "a1-charge-0")
    rows.expect("a payment is made", "succeeded", first.status)
    rows.expect("its charge is read as a charge", "Charge", type(first.latest_charge).__name__)
    rows.expect("its texts arrive unchanged", "ä & b=c+d", first.metadata["text"])
    again = pay(customer, "a1", "a1-charge-0")
    rows.expect("the same key answers with the same payment", first.id, again.id)
    replayed = again.last_response.headers.get("Idempotent-Replayed")
    rows.expect("and says that it is a repetition", "true", replayed)
    replayed = first.last_response.headers.get("Idempotent-Replayed")
    rows.expect("the first answer was none", None, replayed)
    other = outcome(lambda: pay(customer, "a1", "a1-charge-0", amount=1000))
    rows.expect("the key for another amount", "IdempotencyError 400", other)
    found = stripe.PaymentIntent.retrieve(first.id)
    rows.expect("it is found by its id", (999, 999), (found.amount, found.amount_received))
    rows.expect(
        "a card without money",
        "CardError 402 insufficient_funds",
        outcome(lambda: pay(customer, "a2", "k2", "pm_card_visa_chargeDeclinedInsufficientFunds")),
    )
    rows.expect(
        "the decline is kept under its key",
        "CardError 402 insufficient_funds",
        outcome(lambda: pay(customer, "a2", "k2", "pm_card_visa_chargeDeclinedInsufficientFunds")),
    )
    rows.expect(
        "a renewal that needs the buyer",
        "CardError 402 authentication_required",
        outcome(
            lambda: pay(customer, "a3", "k3", "pm_card_authenticationRequired", off_session=True)
        ),
    )
    waiting = pay(
        customer, "a4", "k4", "pm_card_threeDSecure2Required", return_url="http://127.0.0.1/"
    )
    rows.expect("a payment that waits for the buyer", "requires_action", waiting.status)
    rows.expect("is given up", "canceled", stripe.PaymentIntent.cancel(waiting.id).status)
    rows.expect(
        "a payment that was made is not",
        "InvalidRequestError 400 payment_intent_unexpected_state",
        outcome(lambda: stripe.PaymentIntent.cancel(first.id)),
    )
    rows.expect(
        "a parameter that the call does not have",
        "InvalidRequestError 400 parameter_unknown",
        outcome(lambda: pay(customer, "a5", "k5", shoe_size=43)),
    )
    rows.expect(
        "one that this version of the API has no more",
        "InvalidRequestError 400 payment_method_types_no_longer_supported",
        outcome(lambda: pay(customer, "a5", "k5", payment_method_types=["card"])),
    )
    rows.expect("keeps no key", "succeeded", pay(customer, "a5", "k5").status)
    rows.expect(
        "an id that is none",
        "InvalidRequestError 404 resource_missing",
        outcome(lambda: stripe.PaymentIntent.retrieve("pi_none")),
    )
    return first


def faults(rows, url, customer):
    control(url, "faults", kind="error_after", path="/v1/payment_intents")
    rows.expect(
        "a failure after the effect",
        "APIError 500",
        outcome(lambda: pay(customer, "f1", "f1")),
    )
    rows.expect("is kept under its key", "APIError 500", outcome(lambda: pay(customer, "f1", "f1")))
    control(url, "faults", kind="rate_limit", path="/v1/payment_intents")
    rows.expect(
        "too many requests",
        "RateLimitError 429 rate_limit",
        outcome(lambda: pay(customer, "f2", "f2")),
    )
    stripe.max_network_retries = 2
    control(url, "faults", kind="lost_after", path="/v1/payment_intents")
    rows.expect(
        "the library repeats a lost call under its key",
        "succeeded",
        outcome(lambda: pay(customer, "f3", "f3").status),
    )
    control(url, "faults", kind="lock_timeout", path="/v1/payment_intents")
    rows.expect(
        "and one that met a lock", "succeeded", outcome(lambda: pay(customer, "f4", "f4").status)
    )
    stripe.max_network_retries = 0
    made = [p.metadata["attempt"] for p in stripe.PaymentIntent.list(customer=customer, limit=100)]
    rows.expect("each was made once", [1, 0, 1, 1], [made.count(f"f{n}") for n in range(1, 5)])


def refunds(rows, first):
    part = stripe.Refund.create(payment_intent=first.id, amount=500, idempotency_key="r1")
    rows.expect("a part is given back", ("succeeded", 500), (part.status, part.amount))
    again = stripe.Refund.create(payment_intent=first.id, amount=500, idempotency_key="r1")
    rows.expect("once", part.id, again.id)
    rows.expect(
        "more than the rest is not",
        "InvalidRequestError 400",
        outcome(lambda: stripe.Refund.create(payment_intent=first.id, amount=500)),
    )
    rest = stripe.Refund.create(payment_intent=first.id)
    rows.expect("the rest is", 499, rest.amount)
    rows.expect(
        "nothing is left",
        "InvalidRequestError 400 charge_already_refunded",
        outcome(lambda: stripe.Refund.create(payment_intent=first.id)),
    )
    listed = [refund.id for refund in stripe.Refund.list(payment_intent=first.id)]
    rows.expect("both are listed, the newest first", [rest.id, part.id], listed)


def lists(rows, customer):
    everything = stripe.PaymentIntent.list(customer=customer, limit=100).data
    paged = list(stripe.PaymentIntent.list(customer=customer, limit=2).auto_paging_iter())
    rows.expect("pages hold the list without a gap", ids(everything), ids(paged))
    later = stripe.PaymentIntent.list(customer=customer, created={"gte": int(time.time()) + 60})
    rows.expect("a list of the future is empty", 0, len(later.data))
    kinds = {movement.type for movement in stripe.BalanceTransaction.list(limit=100)}
    rows.expect("the balance has charges and refunds", {"charge", "refund"}, kinds)
    moved = sum(movement.net for movement in stripe.BalanceTransaction.list(limit=100).auto_paging_iter())
    balance = stripe.Balance.retrieve()
    held = sum(part.amount for part in [*balance.available, *balance.pending])
    rows.expect("what is available and what is pending are what has moved", moved, held)


def webhooks(rows, hooks, secret):
    events = list(stripe.Event.list(limit=100).auto_paging_iter())
    received = hooks.wait(len(events))

    def read(body, signature, secret=secret):
        return stripe.Webhook.construct_event(body, signature, secret).id

    genuine = {read(body, signature) for body, signature in received}
    rows.expect("every event came as a webhook that is genuine", set(ids(events)), genuine)
    body, signature = received[0]
    refused = "SignatureVerificationError"
    got = outcome(lambda: read(body, signature, "whsec_no"))
    rows.expect("not under another secret", refused, got.split()[0])
    got = outcome(lambda: read(body + b" ", signature))
    rows.expect("not with another body", refused, got.split()[0])


def main():
    url, port, secret = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    stripe.api_base = url
    stripe.api_key = "sk_test_abcdefgh1"
    stripe.max_network_retries = 0
    hooks = Hooks(port)
    rows = Rows()
    print(f"\nStripe's library {stripe.VERSION}, version {stripe.api_version} of the API")
    calls.check(rows)
    names.check(rows)
    customer = stripe.Customer.create(metadata={"account": "ada"}, idempotency_key="ada").id
    first = payments(rows, url, customer)
    faults(rows, url, customer)
    refunds(rows, first)
    lists(rows, customer)
    webhooks(rows, hooks, secret)
    answers.check(rows)
    print(f"\n{rows.count - rows.misses} of {rows.count} rows are as expected.")
    return 1 if rows.misses else 0


if __name__ == "__main__":
    sys.exit(main())
