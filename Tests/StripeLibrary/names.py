"""Compares the names of Stripe's API in the store's sources with those that Stripe's own library has.

The library's names are generated from Stripe's description of the API. A kind of event or a code of an
error that it does not have never comes.
"""

import os
import re
import sys

import stripe

import answers

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def texts(path, pattern):
    """The texts in quotes, within what a pattern finds in a source."""
    with open(os.path.join(ROOT, path)) as file:
        found = re.search(pattern, file.read(), re.DOTALL)
    return set(re.findall(r'"([a-z_.]+)"', found.group())) if found else set()


def known(kind, field):
    """The values of a field that the library names."""
    names = {**vars(sys.modules[kind.__module__]), **vars(kind)}
    return answers.words(kind.__annotations__[field], names)


def check(rows):
    """Adds a row for each kind of name."""
    events = texts("Services/Payments/ProcessorEvents/ProcessorEvent.swift", r"private static let setupType.*?\n    \]")
    events = {name for name in events if not name.endswith(".")}
    rows.expect("the store asks for kinds of events that Stripe has", set(), events - known(stripe.Event, "type"))
    rows.expect("and for as many as one list takes", True, 0 < len(events) <= 20)
    states = texts("Services/Stripe/Objects/StripePaymentIntent.swift", r"switch text \{.*?default")
    rows.expect("the store knows each state of a payment", known(stripe.PaymentIntent, "status"), states)
    codes = texts("Services/Stripe/Answers/AnswerRules.swift", r"statesThatForbid: Set<String> = .*?\n    \]")
    unknown = codes - known(stripe.PaymentIntent.LastPaymentError, "code")
    rows.expect("the store reads codes of errors that Stripe has", (True, set()), (codes > set(), unknown))
