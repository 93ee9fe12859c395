import ClockAndIDs
import EventTypes
import Messaging

@testable import Receipts

/// A subscription of `alice` to a club, as `payments` publishes it.
enum ClubSubscription {
    static let month = Duration.seconds(30 * 86_400)
    static let usd = Currency(unchecked: "USD")
    static let first = TransactionID(number: 2_000_000_000_001)
    static let second = TransactionID(number: 2_000_000_000_002)

    /// Returns a product of the group.
    static func product(_ id: String = "club", _ price: Int64 = 299) -> SubscriptionProduct {
        SubscriptionProduct(
            id: ProductID(unchecked: id),
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            price: Money(minorUnits: price, currency: usd)
        )
    }

    /// Returns one of its periods.
    static func period(
        _ transactionID: TransactionID,
        _ number: Int,
        from start: StoreTime
    ) -> PaidPeriod {
        PaidPeriod(
            transactionID: transactionID,
            reason: number == 1 ? .purchase : .renewal,
            product: product(),
            price: product().price,
            anchor: TestChain.now,
            number: number,
            start: start,
            end: start.advanced(by: month)
        )
    }

    /// Returns the first version, whose period is paid with an introductory offer.
    static func introduced(
        _ mode: OfferMode,
        _ length: SubscriptionPeriod = SubscriptionPeriod(1, .month),
        _ numberOfPeriods: Int = 1,
        price: Int64
    ) -> Subscription {
        var introduced = begun
        let offer = PeriodOffer(
            type: .introductory,
            mode: mode,
            period: length,
            numberOfPeriods: numberOfPeriods,
            price: Money(minorUnits: price, currency: usd)
        )
        introduced.period.offer = offer
        introduced.period.price = offer.price
        return introduced
    }

    /// Returns the first version, whose period is paid with a promotional offer.
    static func promoted(_ mode: OfferMode, price: Int64) -> Subscription {
        var promoted = introduced(mode, price: price)
        promoted.period.offer?.type = .promotional
        promoted.period.offer?.id = OfferID(unchecked: "come_back")
        return promoted
    }

    /// The first version, whose period begins now.
    static let begun = Subscription(
        accountID: AccountID(unchecked: "alice"),
        bundleID: BundleID(unchecked: "com.example.app"),
        storefront: Storefront(unchecked: "USA"),
        firstPeriod: period(first, 1, from: TestChain.now)
    )

    /// The version after a renewal that was paid early.
    static var renewed: Subscription {
        var renewed = begun
        renewed.version = 2
        renewed.earlierPeriod = begun.period
        renewed.period = period(second, 2, from: begun.period.end)
        return renewed
    }

    /// The version after the refund of the first period.
    static var refunded: Subscription {
        var refunded = begun
        refunded.version = 2
        refunded.state = .revoked
        refunded.autoRenewOffReason = .refund
        refunded.period.earlyEnd = EarlyEnd(time: TestChain.now, reason: .refunded)
        return refunded
    }

    /// Returns the change to a version.
    static func change(
        _ subscription: Subscription,
        _ cause: SubscriptionCause,
        making transactionID: TransactionID? = nil,
        refunding refundedTransactionID: TransactionID? = nil
    ) -> SubscriptionChanged {
        SubscriptionChanged(
            subscription: subscription,
            cause: cause,
            changedAt: TestChain.now,
            transactionID: transactionID,
            refundedTransactionID: refundedTransactionID,
            environment: StoreEnvironment.sandbox.rawValue
        )
    }

    /// Returns the transaction of a period.
    static func transaction(_ period: PaidPeriod, version: Int = 2, isRefunded: Bool = false)
        -> Transaction
    {
        var transaction = purchased(
            period.transactionID.number,
            originalNumber: first.number,
            reason: period.reason == .renewal ? .renewal : .purchase,
            version: version,
            type: .autoRenewableSubscription,
            quantity: 1,
            price: period.price,
            purchasedAt: TestChain.now,
            revokedAt: isRefunded ? TestChain.now : nil
        )
        transaction.productID = period.product.id
        transaction.subscription = TransactionPeriod(
            terms: period.product.terms,
            start: period.start,
            end: period.end,
            offer: period.offer,
            renewalPrice: period.offer == nil ? nil : period.product.price
        )
        return transaction
    }
}

extension ReceivedEvent {
    /// Returns an event of a subscription as the consumer receives it.
    static func of(_ change: SubscriptionChanged) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: TestChain.now),
            type: .subscriptionChanged,
            topic: Topics.paymentsTransactions.name,
            key: change.subscription.accountID.rawValue,
            subject: change.subscription.id.rawValue,
            time: TestChain.now,
            data: try EventCoding.encode(change)
        )
    }
}
