"""Compares the calls of the store's client with those that Stripe's own library makes.

The library has a class for the parameters of each call, which Stripe generates from its description
of the API. A name or a value that is not in it is one that Stripe may refuse. The library then makes
the same call, and both requests have to be the same.
"""

import os
import re
import sys
import types
import typing
from urllib.parse import parse_qsl, urlsplit

import stripe
import stripe.params
import typing_extensions

# How the library makes each call, and the class of its parameters.
CALLS = {
    "POST /v1/customers": (stripe.Customer.create, "CustomerCreateParams"),
    "POST /v1/setup_intents": (stripe.SetupIntent.create, "SetupIntentCreateParams"),
    "GET /v1/setup_intents/ID": (stripe.SetupIntent.retrieve, "SetupIntentRetrieveParams"),
    "GET /v1/payment_methods/ID": (stripe.PaymentMethod.retrieve, "PaymentMethodRetrieveParams"),
    "POST /v1/payment_methods/ID/detach": (stripe.PaymentMethod.detach, "PaymentMethodDetachParams"),
    "POST /v1/payment_intents": (stripe.PaymentIntent.create, "PaymentIntentCreateParams"),
    "GET /v1/payment_intents/ID": (stripe.PaymentIntent.retrieve, "PaymentIntentRetrieveParams"),
    "POST /v1/payment_intents/ID": (stripe.PaymentIntent.modify, "PaymentIntentModifyParams"),
    "POST /v1/payment_intents/ID/cancel": (stripe.PaymentIntent.cancel, "PaymentIntentCancelParams"),
    "GET /v1/payment_intents": (stripe.PaymentIntent.list, "PaymentIntentListParams"),
    "POST /v1/refunds": (stripe.Refund.create, "RefundCreateParams"),
    "GET /v1/refunds/ID": (stripe.Refund.retrieve, "RefundRetrieveParams"),
    "GET /v1/refunds": (stripe.Refund.list, "RefundListParams"),
    "GET /v1/disputes/ID": (stripe.Dispute.retrieve, "DisputeRetrieveParams"),
    "GET /v1/events": (stripe.Event.list, "EventListParams"),
    "GET /v1/balance_transactions": (stripe.BalanceTransaction.list, "BalanceTransactionListParams"),
    "GET /v1/balance": (stripe.Balance.retrieve, "BalanceRetrieveParams"),
}


class Mismatch(Exception):
    """A value that is none of the type that Stripe's description has."""


class Recorder(stripe.HTTPClient):
    """Keeps what the library would send, and sends nothing."""

    name = "recorder"

    def request(self, method, url, headers, post_data=None):
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query) + parse_qsl(post_data or "", keep_blank_values=True)
        self.sent = method.upper(), parts.path, sorted(pairs)
        return '{"object": "list", "data": [], "has_more": false}', 200, {}

    def close(self):
        pass


def tree(pairs):
    """The values by their names: `a[b]=1` is {"a": {"b": "1"}}, and so is an element of a list."""
    found = {}
    for name, value in pairs:
        place = found
        *heads, last = re.findall(r"[^\[\]]+", name)
        for head in heads:
            place = place.setdefault(head, {})
        place[last] = value
    return found


def typed(value, hint, names):
    """The value as the library takes it.

    `names` are those of the module in which the type is written.
    """
    if isinstance(hint, typing.ForwardRef):
        hint = eval(hint.__forward_arg__, names)
    if isinstance(hint, str):
        hint = eval(hint, names)
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.NotRequired, typing.Required):
        return typed(value, parts[0], names)
    if origin in (typing.Union, types.UnionType):
        # Beside the values that Stripe names, the library takes any text.
        if any(typing.get_origin(part) is typing.Literal for part in parts):
            parts = [part for part in parts if part is not str]
        for part in parts:
            try:
                return typed(value, part, names)
            except Mismatch:
                continue
        raise Mismatch(f"{value!r}")
    if origin is typing.Literal and value in parts:
        return value
    if origin is list and isinstance(value, dict) and list(value) == list(map(str, range(len(value)))):
        return [typed(one, parts[0], names) for one in value.values()]
    if origin is dict and isinstance(value, dict):
        return {name: typed(one, parts[1], names) for name, one in value.items()}
    if typing_extensions.is_typeddict(hint) and isinstance(value, dict):
        return members(value, hint)
    if hint is bool and value in ("true", "false"):
        return value == "true"
    if hint is int and isinstance(value, str) and re.fullmatch("-?[0-9]+", value):
        return int(value)
    if hint is str and isinstance(value, str):
        return value
    raise Mismatch(f"{value!r}")


def members(values, kind):
    """The members of a value, of which each is known and none that is required is missing."""
    names, hints = vars(sys.modules[kind.__module__]), kind.__annotations__
    found = {}
    for name, value in values.items():
        if name not in hints:
            raise Mismatch(f"{name} is unknown")
        try:
            found[name] = typed(value, hints[name], names)
        except Mismatch as mismatch:
            raise Mismatch(f"{name}: {mismatch}") from None
    for name in kind.__required_keys__ - set(values):
        raise Mismatch(f"{name} is missing")
    return found


def outcome(line, recorder):
    """The difference between a call of the store and the library's; `as the library` if there is none."""
    method, target, body = (line.split(" ") + [""])[:3]
    parts = urlsplit(target)
    pairs = parse_qsl(parts.query or body, keep_blank_values=True, strict_parsing=bool(parts.query or body))
    ids = re.findall(r"(?<=/)[a-z]+_[0-9]+", parts.path)
    call, kind = CALLS[method + " " + re.sub(r"/[a-z]+_[0-9]+", "/ID", parts.path)]
    try:
        call(*ids, **members(tree(pairs), getattr(stripe.params, kind)))
    except Mismatch as mismatch:
        return str(mismatch)
    expected = method, parts.path, sorted(pairs)
    return "as the library" if recorder.sent == expected else str(recorder.sent)


def check(rows):
    """Adds a row for each call of the store, and one for the version of the API."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.txt")) as file:
        version, *lines = [line.strip() for line in file if not line.startswith("#")]
    rows.expect("the version of the API that the store asks for", version, f"version {stripe.api_version}")
    recorder = Recorder()
    before, stripe.default_http_client = stripe.default_http_client, recorder
    try:
        for line in lines:
            rows.expect(line[:56], "as the library", outcome(line, recorder))
    finally:
        stripe.default_http_client = before
    made = {re.sub(r"/[a-z]+_[0-9]+", "/ID", re.split(r"[ ?]", line, maxsplit=2)[1]) for line in lines}
    rows.expect("every kind of call is listed", {call.split(" ")[1] for call in CALLS}, made)
