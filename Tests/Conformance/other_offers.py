"""Takes introductory offers, codes and win-back offers as a buyer does, and checks what the store signs about them."""

import html
import re

import requests
from appstoreserverlibrary.jws_signature_creator import IntroductoryOfferEligibilitySignatureCreator

from notifications import administer, eventually, heard
from receipts import app_receipt, verify
from subscriptions import Life

# A product with an introductory and a win-back offer, one with a code offer, and one with an introductory offer.
GOLD, SILVER, BRONZE = "com.example.guild.gold", "com.example.lodge.silver", "com.example.salon.bronze"
PRICE, OFFERED = 999, 199
WIN_BACK, CODE = "we_miss_you", "spring"
BACK = {"type": "winBack", "id": WIN_BACK}


def money(cents):
    return {"minorUnits": cents, "currency": "USD"}


def terms(mode, period, cents, count=1):
    return {"mode": mode, "period": period, "numberOfPeriods": count, "prices": {"USA": money(cents)}}


def sell(life, product, group, **offers):
    draft = {
        "type": "autoRenewableSubscription",
        "prices": {"USA": money(PRICE)},
        "localizations": {"en": {"title": product, "description": "With offers."}},
        "subscription": {"groupID": group, "level": 1, "period": "P1M"},
    }
    url = f"{life.store.facts['catalogURL']}/v1/admin/products/{product}"
    life.call("PUT", url, life.store.facts["administratorToken"], draft | offers).raise_for_status()


def pay(life, product, **more):
    body = {"paymentMethod": "sandbox_success", "price": money(PRICE), "productID": product, "quantity": 1, "storefront": "USA"}
    return life.buyer("POST", "/payments", body | more)


def bought(life, product, **more):
    """The transaction of a payment. Payments may learn of a new product a moment later."""

    def accepted():
        answer = pay(life, product, **more)
        return answer.json()["transaction"] if answer.status_code == 201 else None

    return eventually(accepted)


def refusal(life, product, **more):
    """The reason why a payment is refused, once payments knows the product."""

    def refused():
        code = pay(life, product, **more).json().get("code")
        return None if code == "product_unknown" else code

    return eventually(refused)


def offer(payload):
    """What a transaction or a renewal info says of an offer."""
    return (payload.rawOfferType, payload.offerIdentifier, payload.rawOfferDiscountType, payload.offerPeriod)


def other_offers(store, table):
    life = Life(store)
    life.administer("POST", "/clock/freeze", {})
    gold = {
        "introductoryOffer": terms("payAsYouGo", "P1M", OFFERED, 2),
        "winBackOffers": [{"id": WIN_BACK} | terms("payUpFront", "P3M", OFFERED)],
    }
    sell(life, GOLD, "guild", **gold)
    sell(life, SILVER, "lodge", codeOffers=[{"id": CODE} | terms("freeTrial", "P1M", 0)])
    introductory(store, table, life)
    win_back(store, table, life)
    codes(store, table, life)
    eligibility(store, table, life)
    administer(store, "DELETE", f"/apps/{store.bundle}/notification-endpoint")


def told(life, name, product):
    """The newest notification of a kind about a product: its transaction and its renewal info."""
    pairs = heard(life.merchant, life.verifier, name, product)
    if not pairs:
        raise LookupError(f"no {name} about {product}")
    notification, transaction = pairs[-1]
    return transaction, life.verifier.verify_and_decode_renewal_info(notification.data.signedRenewalInfo)


def introductory(store, table, life):
    """The first purchase in a group has the introductory offer, for its two periods."""
    table.expect("a win-back offer for who never subscribed", "offer_not_available", refusal(life, GOLD, offer=BACK))
    charged = bought(life, GOLD)["price"]["minorUnits"]
    table.expect("an introductory offer is charged", OFFERED, charged)
    transaction, info = told(life, "SUBSCRIBED INITIAL_BUY", GOLD)
    table.expect("  … its transaction", (1, None, "PAY_AS_YOU_GO", "P1M"), offer(transaction))
    table.expect("  … price", OFFERED * 10, transaction.price)
    table.expect("  … its renewal info", (1, None, "PAY_AS_YOU_GO", "P1M"), offer(info))
    table.expect("  … renewalPrice", OFFERED * 10, info.renewalPrice)
    entry = entry_of(store, transaction.transactionId)
    table.expect("  … verifyReceipt", ("true", "false"), (entry["is_in_intro_offer_period"], entry["is_trial_period"]))


def win_back(store, table, life):
    """Who has left may come back with an offer."""
    first = told(life, "SUBSCRIBED INITIAL_BUY", GOLD)[0].transactionId
    life.buyer("PUT", f"/subscriptions/{first}/auto-renew", {"isOn": False})
    life.advance("32d")
    _, info = told(life, "EXPIRED VOLUNTARY", GOLD)
    table.expect("the end, eligibleWinBackOfferIds", [WIN_BACK], info.eligibleWinBackOfferIds)
    charged = bought(life, GOLD, offer=BACK)["price"]["minorUnits"]
    table.expect("a win-back offer is charged", OFFERED, charged)
    transaction, info = told(life, "SUBSCRIBED RESUBSCRIBE", GOLD)
    table.expect("  … its transaction", (4, WIN_BACK, "PAY_UP_FRONT", "P3M"), offer(transaction))
    table.expect("  … price", OFFERED * 10, transaction.price)
    table.expect("  … continues the subscription", first, transaction.originalTransactionId)
    table.expect("  … the renewal after it", (None, PRICE * 10), (info.rawOfferType, info.renewalPrice))
    table.expect("  … eligibleWinBackOfferIds", None, info.eligibleWinBackOfferIds)


def codes(store, table, life):
    """A code is typed on the store's page, and its offer arrives unsolicited."""
    campaign = {"bundleID": store.bundle, "productID": SILVER, "offerID": CODE, "count": 1}

    def made():
        answer = life.administer("POST", "/code-campaigns", campaign)
        return answer.json()["codes"] if answer.status_code == 201 else None

    code = eventually(made)[0]
    ticket = life.buyer("POST", "/redemption-tickets", {"storefront": "USA", "paymentMethod": "sandbox_success"}).json()
    page, secret = ticket["path"].split("?ticket=")

    def submit(**fields):
        return requests.post(store.payments + page, data={"ticket": secret} | fields, timeout=60)

    table.expect("a code that nobody made", 422, submit(code="NOBODYMADEIT").status_code)
    asked = submit(code=code).text
    confirmed = html.unescape(re.search('name="confirmed" value="([^"]*)"', asked).group(1))
    done = submit(code=code, confirmed=confirmed)
    table.expect("a code is redeemed", (200, True), (done.status_code, "Your code was redeemed" in done.text))
    transaction, info = told(life, "SUBSCRIBED INITIAL_BUY", SILVER)
    table.expect("  … its transaction", (3, CODE, "FREE_TRIAL", "P1M"), offer(transaction))
    table.expect("  … price", 0, transaction.price)
    table.expect("  … the renewal after it", (None, PRICE * 10), (info.rawOfferType, info.renewalPrice))
    entry = entry_of(store, transaction.transactionId)
    table.expect("  … verifyReceipt", (CODE, "true"), (entry["offer_code_ref_name"], entry["is_trial_period"]))
    table.expect("  … once", 422, submit(code=code).status_code)


def eligibility(store, table, life):
    """The merchant's server withholds the introductory offer, and later gives it once more."""
    sell(life, BRONZE, "salon", introductoryOffer=terms("payAsYouGo", "P1M", OFFERED, 2))
    key = store.server_key
    creator = IntroductoryOfferEligibilitySignatureCreator(store.private_key(key), key, store.issuer(key), store.bundle)
    buyer = told(life, "SUBSCRIBED INITIAL_BUY", GOLD)[0].transactionId

    def decided(allowed, product=BRONZE, transaction=buyer):
        return {"introductoryOfferEligibility": creator.create_signature(product, allowed, transaction)}

    def leave(first):
        life.buyer("PUT", f"/subscriptions/{first}/auto-renew", {"isOn": False})
        life.advance("32d")
        told(life, "EXPIRED VOLUNTARY", BRONZE)

    table.expect("an eligibility signed for another product", "offer_signature_invalid", refusal(life, BRONZE, **decided(True, GOLD)))
    table.expect("  … for a stranger", "offer_signature_invalid", refusal(life, BRONZE, **decided(True, transaction="999999999")))
    withheld = bought(life, BRONZE, **decided(False))
    table.expect("IntroductoryOfferEligibilitySignatureCreator, withheld", PRICE, withheld["price"]["minorUnits"])
    transaction, _ = told(life, "SUBSCRIBED INITIAL_BUY", BRONZE)
    table.expect("  … its transaction", (None, None, None, None), offer(transaction))
    leave(withheld["id"])
    table.expect("  … the offer is kept", OFFERED, bought(life, BRONZE)["price"]["minorUnits"])
    told(life, "SUBSCRIBED RESUBSCRIBE", BRONZE)
    leave(withheld["id"])
    token = decided(True)
    again = bought(life, BRONZE, **token)
    table.expect("IntroductoryOfferEligibilitySignatureCreator, once more", OFFERED, again["price"]["minorUnits"])
    signed = eventually(lambda: known(store, again["id"]))
    transaction = life.verifier.verify_and_decode_signed_transaction(signed)
    table.expect("  … its transaction", (1, None, "PAY_AS_YOU_GO", "P1M"), offer(transaction))
    table.expect("  … price", OFFERED * 10, transaction.price)
    table.expect("  … another payment", "offer_nonce_used", refusal(life, BRONZE, **token))


def known(store, transaction):
    """What the store has signed about a transaction; None before it is paid."""
    answer = store.get(f"/inApps/v1/transactions/{transaction}")
    return answer.json()["signedTransactionInfo"] if answer.status_code == 200 else None


def entry_of(store, transaction):
    """What verifyReceipt says of a period. The app receipt may learn of it a moment later."""

    def found():
        entries = verify(store, app_receipt(store)[1]).get("latest_receipt_info", [])
        return next((one for one in entries if one["transaction_id"] == transaction), None)

    return eventually(found)
