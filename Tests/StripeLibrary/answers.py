"""Compares the stand-in's objects with the classes that Stripe's own library has for them.

Stripe generates the classes from its description of the API. A field that a class does not have is one
that Stripe does not send. So is a value that is none of those that the class names.
"""

import sys
import typing

import stripe


def classes(kind):
    """The class of an object and those above it that have fields."""
    return [one for one in kind.__mro__ if issubclass(one, stripe.StripeObject) and one is not stripe.StripeObject]


def words(hint, names):
    """The texts that a type names; `None` if it names none, so that every text may stand there."""
    if isinstance(hint, typing.ForwardRef):
        hint = hint.__forward_arg__
    if isinstance(hint, str):
        try:
            hint = eval(hint, names)
        except NameError:
            # A class that is only imported for the checks of types.
            return None
    if typing.get_origin(hint) is typing.Literal:
        return set(typing.get_args(hint))
    found = [words(part, names) for part in typing.get_args(hint)]
    found = [one for one in found if one is not None]
    return set().union(*found) if found else None


def differences(one, place=""):
    """The fields and values of an object that its class does not have, and those of all within it."""
    if isinstance(one, list):
        return set().union(*(differences(element, place) for element in one))
    if not isinstance(one, stripe.StripeObject):
        return set()
    hints, found = {}, set()
    for kind in reversed(classes(type(one))):
        names = {**vars(sys.modules[kind.__module__]), **vars(kind)}
        hints.update({name: (hint, names) for name, hint in kind.__annotations__.items()})
    for name, value in one.to_dict(recursive=False).items():
        path = f"{place}.{name}" if place else name
        # Texts that the store gives, and objects of which the library knows no more, may have any field.
        if hints and name not in hints:
            found.add(path)
        elif hints and isinstance(value, str):
            known = words(*hints[name])
            if known is not None and value not in known:
                found.add(f"{path}={value}")
        found |= differences(value, path)
    return found


def pay(customer, card, **more):
    """A payment of a buyer, or what a declined one has left."""
    try:
        return stripe.PaymentIntent.create(
            amount=999,
            currency="usd",
            customer=customer,
            payment_method=card,
            confirm=True,
            expand=["latest_charge"],
            **more,
        )
    except stripe.CardError as error:
        return stripe.PaymentIntent.retrieve(error.json_body["error"]["payment_intent"]["id"])


def made():
    """Objects of each kind that the store reads, by a name of the kind."""
    customer = stripe.Customer.create(metadata={"account": "grace"})
    setup = stripe.SetupIntent.create(customer=customer.id, usage="off_session")
    saved = stripe.SetupIntent.confirm(setup.id, payment_method="pm_card_visa")
    cards = ["pm_card_chargeDeclined", "pm_card_createDispute", "pm_card_pendingRefund", "pm_card_visa"]
    payments = [pay(customer.id, card) for card in cards]
    payments.append(pay(customer.id, "pm_card_threeDSecure2Required", return_url="http://127.0.0.1/"))
    refunds = [stripe.Refund.create(payment_intent=payment.id) for payment in payments[2:4]]
    return {
        "customers": [customer],
        "setups": [setup, saved],
        "payment methods": [stripe.PaymentMethod.retrieve(saved.payment_method)],
        "payments": payments,
        "refunds": refunds,
        "disputes": list(stripe.Dispute.list().auto_paging_iter()),
        "movements": list(stripe.BalanceTransaction.list(expand=["data.source"]).auto_paging_iter()),
        "balances": [stripe.Balance.retrieve()],
        "events": list(stripe.Event.list(limit=100).auto_paging_iter()),
    }


def check(rows):
    """Adds a row for each kind of object."""
    for kind, objects in made().items():
        kinds = {type(one).__name__ for one in objects}
        rows.expect(f"{kind} are there, and the library knows them", True, kinds > set() and "StripeObject" not in kinds)
        rows.expect(f"{kind} say nothing that Stripe's do not", [], sorted(differences(objects)))
