import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import ReceiptValidation
import TestSupport
import Testing

@testable import Receipts

/// The win-back offers in renewal info, on a real PostgreSQL (rule S60).
@Suite(.timeLimit(.minutes(10))) struct EligibleWinBackTests {
    private typealias Club = ClubSubscription

    /// A version of the club in the catalog, with some win-back offers.
    private static func product(_ version: Int, _ ids: String...) throws -> ReceivedEvent {
        let usa = Storefront(unchecked: "USA")
        let product = Product(
            id: Club.product().id,
            version: version,
            type: .autoRenewableSubscription,
            isOnSale: true,
            isRestorable: true,
            prices: [usa: Club.product().price],
            localizations: [:],
            deliveryPlan: [.entitlement],
            subscription: Club.product().terms,
            winBackOffers: ids.map {
                WinBackOffer(
                    id: OfferID(unchecked: $0),
                    terms: OfferTerms(
                        mode: .payUpFront,
                        period: SubscriptionPeriod(1, .month),
                        prices: [usa: Money(minorUnits: 99, currency: Club.usd)]
                    )
                )
            }
        )
        return ReceivedEvent(
            id: EventID(time: TestChain.now),
            type: .productChanged,
            topic: Topics.catalogProducts.name,
            key: product.id.rawValue,
            subject: product.id.rawValue,
            time: TestChain.now,
            data: try EventCoding.encode(ProductChanged(product: product))
        )
    }

    private static var expired: Subscription {
        var expired = Club.begun
        expired.version = 2
        expired.state = .expired
        expired.autoRenewOffReason = .customer
        expired.expirationIntent = .autoRenewDisabled
        expired.period.end = TestChain.now
        return expired
    }

    private func offers(in told: JWSNotification, _ store: NotificationsUnderTest) throws
        -> [String]?
    {
        let signed = try #require(told.data?.signedRenewalInfo)
        return try store.validator().verify(signed, as: JWSRenewalInfo.self)
            .eligibleWinBackOfferIds
    }

    @Test func anEndIsNotifiedWithTheOffersOfTheNewestVersion() async throws {
        try await withNotifications { store in
            try await store.receipts.apply([
                Self.product(3, "b", "a"), Self.product(2, "old"),
                .of(.transactionPurchased, Club.transaction(Club.begun.period)),
                .of(Club.change(Club.begun, .purchased, making: Club.first)),
            ])
            try await store.receipts.apply([.of(Club.change(Self.expired, .expired))])
            try await store.untilSent(2)
            let told = try store.sent()
            // Who subscribes has no use for them.
            #expect(try offers(in: told[0], store) == nil)
            #expect(try offers(in: told[1], store) == ["a", "b"])
        }
    }

    /// The offers follow the catalog without any change of the subscription.
    @Test func aLaterOfferIsThereAtOnce() async throws {
        try await withNotifications { store in
            let reader = store.statuses
            let owner = OwnerKey(account: Club.begun.accountID, bundle: Club.begun.bundleID)
            func offers() async throws -> [String]? {
                let status = try #require(try await reader.statuses(of: owner).first)
                return try store.validator().verify(status.renewalInfo, as: JWSRenewalInfo.self)
                    .eligibleWinBackOfferIds
            }
            try await store.receipts.apply([
                Self.product(1),
                .of(.transactionPurchased, Club.transaction(Club.begun.period)),
                .of(Club.change(Self.expired, .expired)),
            ])
            #expect(try await offers() == nil)
            try await store.receipts.apply([Self.product(2, "back")])
            #expect(try await offers() == ["back"])
        }
    }
}
