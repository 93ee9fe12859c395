import EventTypes
import StoreAPI

@testable import PaymentQueue

extension QueueChanged {
    /// Makes the stream's event about one transaction.
    static func of(
        _ number: Int64,
        _ product: String,
        _ state: EventTypes.TransactionState,
        version: Int? = nil,
        isDelivered: Bool = false,
        finishedAt: Int64? = nil,
        revokedAt: Int64? = nil,
        original: Int64? = nil,
        reason: TransactionReason? = nil,
        refunds: [Refund]? = nil,
        revision: Int64 = 1,
        contents: [HostedContent]? = nil
    ) -> QueueChanged {
        let id = TransactionID(number: number)
        let isPaid = state == .purchased || state == .restored
        let paidAt = isPaid ? StoreTime(millisecondsSinceEpoch: 1_000) : nil
        return QueueChanged(
            revision: revision,
            transaction: EventTypes.Transaction(
                id: id,
                originalID: original.map { TransactionID(number: $0) } ?? id,
                reason: reason
                    ?? (state == .restored ? .restore : original == nil ? .purchase : .ownedAgain),
                version: version ?? (state == .purchasing ? 1 : state == .deferred ? 2 : 3),
                state: state,
                accountID: AccountID(unchecked: "ada"),
                bundleID: BundleID(unchecked: "com.example.app"),
                productID: ProductID(unchecked: product),
                productVersion: 1,
                productType: .consumable,
                quantity: 1,
                storefront: EventTypes.Storefront(unchecked: "USA"),
                price: .usd(99),
                applicationUsername: nil,
                deliveryPlan: [],
                requestedAt: StoreTime(millisecondsSinceEpoch: 0),
                purchasedAt: paidAt,
                originalPurchasedAt: paidAt,
                failureReason: state == .failed ? .paymentDeclined : nil,
                revokedAt: revokedAt.map(StoreTime.init(millisecondsSinceEpoch:)),
                refunds: refunds
            ),
            isDelivered: isDelivered,
            finishedAt: finishedAt.map(StoreTime.init(millisecondsSinceEpoch:)),
            contents: contents
        )
    }
}

extension Refund {
    /// A refund of some cents, in second `number`.
    static func of(
        _ number: Int,
        _ cents: Int64,
        revokes: Bool = false,
        isReversed: Bool = false
    ) -> Refund {
        let time = StoreTime(millisecondsSinceEpoch: Int64(number) * 1_000)
        return Refund(
            number: number,
            amount: .usd(cents),
            refundedAt: time,
            revokes: revokes,
            reversedAt: isReversed ? time : nil
        )
    }
}

extension Money {
    /// An amount in US dollars' cents.
    static func usd(_ cents: Int64) -> Money {
        Money(minorUnits: cents, currency: Currency(unchecked: "USD"))
    }
}

extension SKProduct {
    /// A product at 0.99 USD.
    static func sample(_ id: String, _ type: ProductType = .consumable) -> SKProduct {
        SKProduct(
            ProductListing(
                id: ProductID(unchecked: id),
                version: 1,
                type: type,
                price: .usd(99),
                title: id,
                description: "",
                language: LanguageTag(unchecked: "en-US")
            ),
            storefront: "USA"
        )
    }
}

extension SKPaymentTransaction {
    /// A payment for one of a product, just added.
    static func payment(of product: String) -> SKPaymentTransaction {
        SKPaymentTransaction(
            payment: SKPayment(product: .sample(product)),
            fields: .init(state: .purchasing)
        )
    }
}

extension StoreConfiguration {
    /// A store that nobody reaches, asked once and then not for a long time.
    static var unreachable: StoreConfiguration {
        var configuration = StoreConfiguration(
            addresses: .init(origin: "http://127.0.0.1:1"),
            storefront: "USA",
            language: "en-US",
            paymentMethod: { _ in "method" },
            accountToken: { _ in "token" }
        )
        configuration.retryBase = .seconds(600)
        configuration.retryMax = .seconds(600)
        return configuration
    }
}
