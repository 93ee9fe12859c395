"""Redeems promotional offers that Apple's library has signed, as a merchant's server does."""

import time
import uuid

import requests
from appstoreserverlibrary.jws_signature_creator import PromotionalOfferV2SignatureCreator
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator

from notifications import administer, eventually, heard
from subscriptions import Life, kind

GROUP, OFFER = "circle", "come_back"
# A higher level is a lower service.
PRODUCTS = {"com.example.circle.gold": 1, "com.example.circle.silver": 2}
GOLD, SILVER = PRODUCTS
PRICE, OFFERED = 999, 199


def money(cents):
    return {"minorUnits": cents, "currency": "USD"}


def sell(store):
    for product, level in PRODUCTS.items():
        draft = {
            "type": "autoRenewableSubscription",
            "prices": {"USA": money(PRICE)},
            "localizations": {"en": {"title": product, "description": "For friends."}},
            "subscription": {"groupID": GROUP, "level": level, "period": "P1M"},
            "promotionalOffers": [
                {"id": OFFER, "mode": "payAsYouGo", "period": "P1M", "numberOfPeriods": 3, "prices": {"USA": money(OFFERED)}}
            ],
        }
        answer = requests.put(
            f"{store.facts['catalogURL']}/v1/admin/products/{product}",
            headers={"Authorization": f"Bearer {store.facts['administratorToken']}"},
            json=draft,
            timeout=60,
        )
        answer.raise_for_status()


def pay(store, product, key=None, **more):
    body = {"paymentMethod": "sandbox_success", "price": money(PRICE), "productID": product, "quantity": 1, "storefront": "USA"}
    return requests.post(
        f"{store.payments}/v1/payments",
        headers={"Authorization": f"Bearer {store.facts['accountToken']}", "Idempotency-Key": key or str(uuid.uuid4())},
        json=body | more,
        timeout=60,
    )


def discount(store, product, username="", age=0):
    """A discount with the signature of Apple's class for the first form."""
    key = store.server_key
    creator = PromotionalOfferSignatureCreator(store.private_key(key), key, store.bundle)
    nonce, timestamp = uuid.uuid4(), int((time.time() - age) * 1000)
    signature = creator.create_signature(product, OFFER, username, nonce, timestamp)
    return {"identifier": OFFER, "keyIdentifier": key, "nonce": str(nonce), "signature": signature, "timestamp": timestamp}


def promotional_offers(store, table):
    sell(store)
    life = Life(store)

    def bought(product, **more):
        """The transaction of a payment. Payments may learn of a new product a moment later."""

        def accepted():
            answer = pay(store, product, **more)
            return answer.json()["transaction"] if answer.status_code == 201 else None

        return eventually(accepted)

    def refusal(product, **more):
        answer = pay(store, product, **more)
        return f"{answer.status_code} {answer.json().get('code')}"

    silver = bought(SILVER)["id"]
    client, verifier = store.client(), store.verifier()

    def signed(transaction):
        """What the store has signed about a transaction, once it is paid."""

        def known():
            answer = store.get(f"/inApps/v1/transactions/{transaction}")
            return answer.json()["signedTransactionInfo"] if answer.status_code == 200 else None

        return verifier.verify_and_decode_signed_transaction(eventually(known))

    def renewal(product):
        """The renewal info of the subscription, once the product runs and an offer follows."""

        def told():
            for group in client.get_all_subscription_statuses(silver).data:
                for one in group.lastTransactions:
                    if one.originalTransactionId == silver:
                        info = verifier.verify_and_decode_renewal_info(one.signedRenewalInfo)
                        return info if info.rawOfferType and info.productId == product else None
            return None

        return eventually(told)

    def expect_redeemed(name, product):
        """The merchant's server hears once of an offer, with the next renewal that still has it."""
        pairs = heard(life.merchant, life.verifier, name, product)
        table.expect(f"  … {name}", [(f"{name} 1", silver)], [(kind(told), one.originalTransactionId) for told, one in pairs])
        infos = [verifier.verify_and_decode_renewal_info(told.data.signedRenewalInfo) for told, _ in pairs]
        table.expect("  … its renewal info", [(2, OFFER, product)], [(one.rawOfferType, one.offerIdentifier, one.productId) for one in infos])

    signed(silver)
    table.expect("an offer signed for another product", "400 offer_signature_invalid", refusal(SILVER, discount=discount(store, GOLD)))
    table.expect("  … for another user", "400 offer_signature_invalid", refusal(SILVER, discount=discount(store, SILVER, "ada")))
    table.expect("  … a day and a minute ago", "409 offer_expired", refusal(SILVER, discount=discount(store, SILVER, age=86_460)))

    once, key = discount(store, SILVER, "Ada"), str(uuid.uuid4())
    copy = bought(SILVER, key=key, discount=once, applicationUsername="Ada")
    table.expect("PromotionalOfferSignatureCreator, the running product", ("ownedAgain", 0), (copy["reason"], copy["price"]["minorUnits"]))
    table.expect("  … the same payment again", copy["id"], bought(SILVER, key=key, discount=once, applicationUsername="Ada")["id"])
    table.expect("  … another payment", "409 offer_nonce_used", refusal(SILVER, discount=once, applicationUsername="Ada"))
    info = renewal(SILVER)
    table.expect("  … its renewal info", (2, OFFER, "P1M", OFFERED * 10), (info.rawOfferType, info.offerIdentifier, info.offerPeriod, info.renewalPrice))
    expect_redeemed("OFFER_REDEEMED", SILVER)

    creator = PromotionalOfferV2SignatureCreator(store.private_key(store.server_key), store.server_key, store.issuer(store.server_key), store.bundle)
    table.expect("a JWS for a stranger", "400 offer_signature_invalid", refusal(GOLD, promotionalOffer=creator.create_signature(GOLD, OFFER, "999999999")))
    token = creator.create_signature(GOLD, OFFER, silver)
    table.expect("PromotionalOfferV2SignatureCreator, an upgrade", OFFERED, bought(GOLD, promotionalOffer=token)["price"]["minorUnits"])
    info = renewal(GOLD)
    table.expect("  … its renewal info", (2, OFFER, GOLD), (info.rawOfferType, info.offerIdentifier, info.productId))
    latest = client.get_all_subscription_statuses(silver).data
    paid = [
        verifier.verify_and_decode_signed_transaction(one.signedTransactionInfo)
        for group in latest for one in group.lastTransactions if one.originalTransactionId == silver
    ]
    table.expect("  … its transaction", [(GOLD, 2, OFFER, OFFERED * 10)], [(one.productId, one.rawOfferType, one.offerIdentifier, one.price) for one in paid])
    table.expect("  … another payment", "409 offer_nonce_used", refusal(GOLD, promotionalOffer=token))
    expect_redeemed("OFFER_REDEEMED UPGRADE", GOLD)
    administer(store, "DELETE", f"/apps/{store.bundle}/notification-endpoint")
