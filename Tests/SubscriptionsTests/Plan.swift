import EventTypes
import Foundation
import Subscriptions

/// Midnight of a date of 2026 or later in UTC, or a time of that day.
func at(_ text: String) -> StoreTime {
    let full = text.contains("T") ? text + "Z" : text + "T00:00:00Z"
    guard let time = StoreTime(full) else { preconditionFailure("\(text) is a date.") }
    return time
}

func usd(_ minorUnits: Int64) -> Money {
    Money(minorUnits: minorUnits, currency: Currency(unchecked: "USD"))
}

let usa = Storefront(unchecked: "USA")
let alice = AccountID(unchecked: "alice")
let app = BundleID(unchecked: "com.example.app")

/// A product of the one group that the tests use.
func plan(
    _ id: String,
    level: Int,
    _ period: SubscriptionPeriod = SubscriptionPeriod(1, .month),
    price: Int64
) -> SubscriptionProduct {
    SubscriptionProduct(
        id: ProductID(unchecked: id),
        terms: SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "news"),
            level: level,
            period: period
        ),
        price: usd(price)
    )
}

let gold = plan("gold", level: 1, price: 1999)
let silver = plan("silver", level: 2, price: 999)
let silverTwin = plan("silver.twin", level: 2, price: 899)
let silverYear = plan("silver.year", level: 2, SubscriptionPeriod(1, .year), price: 9999)
let bronze = plan("bronze", level: 3, price: 499)

/// The first period of an introductory offer.
func introductory(
    _ mode: OfferMode,
    _ period: SubscriptionPeriod = SubscriptionPeriod(1, .month),
    _ numberOfPeriods: Int = 1,
    price: Int64
) -> PeriodOffer {
    PeriodOffer(
        type: .introductory,
        mode: mode,
        period: period,
        numberOfPeriods: numberOfPeriods,
        price: usd(price)
    )
}

/// A policy in UTC that charges everybody at the same time.
func policy(grace: Duration? = nil) -> SubscriptionPolicy {
    guard let zone = TimeZone(identifier: "Etc/UTC") else {
        preconditionFailure("The system knows UTC.")
    }
    var policy = SubscriptionPolicy(calendar: PeriodCalendar(timeZone: zone))
    policy.spread = .zero
    policy.grace = grace
    return policy
}

func purchase(
    _ product: SubscriptionProduct,
    _ number: Int64,
    replacing replaced: SubscriptionProduct? = nil
) -> SubscriptionPurchase {
    SubscriptionPurchase(
        transactionID: TransactionID(number: number),
        accountID: alice,
        bundleID: app,
        storefront: usa,
        product: product,
        replaces: replaced?.id
    )
}
