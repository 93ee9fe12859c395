import EventTypes
import Foundation
import Testing

@testable import Receipts

@Suite struct SignedTransactionPayloadTests {
    private func json(
        _ transaction: Transaction,
        at now: StoreTime = TestChain.now,
        environment: StoreEnvironment = .sandbox
    ) throws -> String {
        let payload = try SignedTransactionPayload(
            transaction,
            environment: environment,
            signedAt: now
        )
        return String(decoding: payload.encoded(), as: UTF8.self)
    }

    @Test func theBytesAreThoseOfFoundationsEncoder() throws {
        var revoked = purchased(applicationUsername: "7C9E6679-7425-40DE-944B-E07FC1F90AE7")
        revoked.revokedAt = TestChain.now
        for transaction in [purchased(), revoked] {
            let payload = try SignedTransactionPayload(
                transaction,
                environment: .production,
                signedAt: TestChain.now
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            #expect(payload.encoded() == Array(try encoder.encode(payload)))
        }
    }

    @Test func aPurchaseSaysWhatApplesPayloadSays() throws {
        let transaction = purchased(
            applicationUsername: "7C9E6679-7425-40DE-944B-E07FC1F90AE7"
        )
        let expected = """
            {"appAccountToken":"7c9e6679-7425-40de-944b-e07fc1f90ae7",\
            "bundleId":"com.example.app","currency":"USD","environment":"Sandbox",\
            "inAppOwnershipType":"PURCHASED","originalPurchaseDate":1795226395000,\
            "originalTransactionId":"2000000000001","price":2970,"productId":"coins.100",\
            "purchaseDate":1795226395000,"quantity":3,"signedDate":1795226400000,\
            "storefront":"USA","storefrontId":"143441","transactionId":"2000000000001",\
            "transactionReason":"PURCHASE","type":"Consumable"}
            """
        #expect(try json(transaction) == expected)
    }

    @Test func whatAFamilySharesSaysSoAndThatItIsTakenAway() throws {
        var shared = purchased(
            reason: .familyShared,
            type: .nonConsumable,
            price: Money(minorUnits: 0, currency: Currency(unchecked: "USD"))
        )
        shared.sharedFrom = TransactionID(number: 2_000_000_000_000)
        let standing = try json(shared)
        #expect(standing.contains(#""inAppOwnershipType":"FAMILY_SHARED","#))
        #expect(!standing.contains("revocation"))
        shared.revokedAt = TestChain.now
        let revoked = try json(shared)
        #expect(revoked.contains(#""revocationReason":0,"revocationType":"FAMILY_REVOKE""#))
        // A copy that a restore makes of it is shared too.
        shared.revokedAt = nil
        shared.reason = .restore
        shared.state = .restored
        #expect(try json(shared).contains(#""inAppOwnershipType":"FAMILY_SHARED","#))
    }

    @Test func aPeriodOfASubscriptionHasTheDatesOfThePeriod() throws {
        var renewal = purchased(
            2_000_000_000_009,
            originalNumber: 2_000_000_000_001,
            reason: .renewal,
            type: .autoRenewableSubscription,
            quantity: 1,
            price: Money(minorUnits: 299, currency: Currency(unchecked: "USD")),
            originalPurchasedAt: TestChain.now.advanced(by: .seconds(-30 * 86_400))
        )
        // A share of it says so, too.
        var share = renewal
        share.reason = .familyShared
        share.sharedFrom = renewal.id
        share.subscription = TransactionPeriod(terms: ClubSubscription.product().terms)
        share.subscription?.shared = TransactionPeriod.Shared(began: .renewed, state: .active)
        #expect(try json(share).contains(#""transactionReason":"RENEWAL""#))
        share.subscription?.shared?.began = .purchased
        #expect(try json(share).contains(#""transactionReason":"PURCHASE""#))
        // It was renewed a day before it begins.
        let start = TestChain.now.advanced(by: .seconds(86_400))
        renewal.subscription = TransactionPeriod(
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "club"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            start: start,
            end: start.advanced(by: .seconds(30 * 86_400))
        )
        let payload = try SignedTransactionPayload(
            renewal,
            environment: .sandbox,
            signedAt: TestChain.now
        )
        #expect(payload.purchaseDate == start && payload.signedDate == TestChain.now)
        #expect(payload.expiresDate == renewal.subscription?.end)
        #expect(payload.subscriptionGroupIdentifier == "club")
        #expect(payload.transactionReason == "RENEWAL")
        let text = try json(renewal)
        #expect(text.contains(#""expiresDate":1797904800000,"#))
        #expect(text.contains(#""subscriptionGroupIdentifier":"club","#))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(payload.encoded() == Array(try encoder.encode(payload)))
    }

    @Test func aCopyOfAPeriodHasTheIdentifierOfThePeriod() throws {
        typealias Club = ClubSubscription
        func payload(
            _ transaction: Transaction,
            isUpgraded: Bool = false
        ) throws -> SignedTransactionPayload {
            try SignedTransactionPayload(
                transaction,
                SigningContext(isUpgraded: isUpgraded),
                environment: .sandbox,
                signedAt: TestChain.now
            )
        }
        let renewal = Club.transaction(Club.renewed.period)
        var copy = renewal
        copy.id = TransactionID(number: 2_000_000_000_003)
        copy.reason = .restore
        copy.subscription?.paidBy = renewal.id
        let period = try payload(renewal)
        #expect(period.webOrderLineItemId == "2000002000000000002")
        #expect(try payload(copy).webOrderLineItemId == period.webOrderLineItemId)
        let first = try payload(Club.transaction(Club.begun.period))
        #expect(first.webOrderLineItemId != period.webOrderLineItemId)
        // The members are sorted like those of every other payload.
        let upgraded = try payload(renewal, isUpgraded: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(upgraded.encoded() == Array(try encoder.encode(upgraded)))
        #expect(upgraded.isUpgraded == true && period.isUpgraded == nil)
    }

    @Test(arguments: [
        (OfferMode.freeTrial, "P1W", Int64(0), "FREE_TRIAL" as String?),
        (.payAsYouGo, "P1M", 99, "PAY_AS_YOU_GO"), (.payUpFront, "P3M", 199, "PAY_UP_FRONT"),
        (.unknown("barter"), "P1M", 99, nil),
    ])
    func aPeriodOfAnOfferSaysWhichOneItIs(
        mode: OfferMode,
        period: String,
        price: Int64,
        discount: String?
    ) throws {
        let length = try #require(SubscriptionPeriod(iso8601: period))
        let introduced = ClubSubscription.introduced(mode, length, price: price)
        let transaction = ClubSubscription.transaction(introduced.period)
        let payload = try SignedTransactionPayload(
            transaction,
            environment: .sandbox,
            signedAt: TestChain.now
        )
        #expect(payload.offerType == 1 && payload.offerDiscountType == discount)
        #expect(payload.offerPeriod == period && payload.price == price * 10)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(payload.encoded() == Array(try encoder.encode(payload)))
        #expect(!(try json(transaction).contains("offerIdentifier")))
    }

    @Test func aPromotionalOfferHasAnIdentifier() throws {
        let promoted = ClubSubscription.promoted(.payAsYouGo, price: 99)
        let transaction = ClubSubscription.transaction(promoted.period)
        let text = try json(transaction)
        #expect(text.contains(#""offerIdentifier":"come_back","offerPeriod":"P1M","offerType":2"#))
    }

    @Test func aRestoredTransactionHasItsOwnDateAndTheFirstPurchases() throws {
        let first = TestChain.now.advanced(by: .seconds(-90 * 86_400))
        let restored = purchased(
            2_000_000_000_009,
            originalNumber: 2_000_000_000_001,
            state: .restored,
            type: .nonConsumable,
            quantity: 1,
            price: .zero(Currency(unchecked: "USD")),
            originalPurchasedAt: first
        )
        let expected = """
            {"bundleId":"com.example.app","currency":"USD","environment":"Production",\
            "inAppOwnershipType":"PURCHASED","originalPurchaseDate":1787450400000,\
            "originalTransactionId":"2000000000001","price":0,"productId":"coins.100",\
            "purchaseDate":1795226395000,"quantity":1,"signedDate":1795226400000,\
            "storefront":"USA","storefrontId":"143441","transactionId":"2000000000009",\
            "transactionReason":"PURCHASE","type":"Non-Consumable"}
            """
        #expect(try json(restored, environment: .production) == expected)
    }

    @Test func aRefundedPurchaseIsRevoked() throws {
        let refunded = purchased(version: 3, revokedAt: TestChain.now)
        let text = try json(refunded)
        #expect(text.contains("\"revocationDate\":1795226400000,\"revocationPercentage\":100000,"))
        #expect(text.contains("\"revocationType\":\"REFUND_FULL\""))
    }

    @Test func aRefundOfAPartSaysItsShareAndNoDate() throws {
        let text = try json(purchased(version: 3, refunds: [.sample(1, 100), .sample(2, 99)]))
        #expect(text.contains("\"revocationPercentage\":67003,"))
        #expect(text.contains("\"revocationType\":\"REFUND_PRORATED\""))
        #expect(!text.contains("revocationDate") && !text.contains("revocationReason"))
    }

    @Test func aRefundOfAPartThatRevokesHasADate() throws {
        let refunded = purchased(
            version: 3,
            revokedAt: TestChain.now,
            refunds: [.sample(1, 99, revokes: true)]
        )
        let text = try json(refunded)
        #expect(text.contains("\"revocationDate\":1795226400000,\"revocationPercentage\":33333,"))
        #expect(text.contains("\"revocationReason\":0,\"revocationType\":\"REFUND_PRORATED\""))
    }

    @Test func refundsThatAddUpToThePriceAreAFullRefund() throws {
        let parts = [Refund.sample(1, 198), .sample(2, 99, revokes: true)]
        let text = try json(purchased(version: 4, revokedAt: TestChain.now, refunds: parts))
        #expect(text.contains("\"revocationPercentage\":100000,"))
        #expect(text.contains("\"revocationType\":\"REFUND_FULL\""))
    }

    /// The receipt does not tell that a bank took the money, and does not blame the app.
    @Test func aDisputeIsAFullRefundForAnotherReason() throws {
        var refund = Refund.sample(1, 297, revokes: true)
        refund.dispute = "dp_1"
        let text = try json(purchased(version: 3, revokedAt: TestChain.now, refunds: [refund]))
        #expect(text.contains("\"revocationReason\":0,\"revocationType\":\"REFUND_FULL\""))
        #expect(!text.contains("dp_1"))
        refund.reversedAt = TestChain.now
        #expect(try json(purchased(version: 4, refunds: [refund])) == json(purchased()))
    }

    @Test func aReversedRefundLeavesNoTrace() throws {
        let reversed = purchased(
            version: 4,
            refunds: [.sample(1, 297, revokes: true, isReversed: true)]
        )
        #expect(try json(reversed) == json(purchased()))
    }

    @Test func aFreePurchaseIsRevokedAsAWhole() throws {
        let free = purchased(
            version: 3,
            price: .zero(Currency(unchecked: "USD")),
            revokedAt: TestChain.now
        )
        #expect(try json(free).contains("\"revocationPercentage\":100000,"))
    }

    @Test func aUserNameThatIsNoUUIDStaysOut() throws {
        for name in [nil, "", "alice", "7c9e6679742540de944be07fc1f90ae7"] {
            #expect(!(try json(purchased(applicationUsername: name)).contains("appAccountToken")))
        }
    }

    @Test(arguments: [
        (ProductType.consumable, "Consumable"), (.nonConsumable, "Non-Consumable"),
        (.autoRenewableSubscription, "Auto-Renewable Subscription"),
        (.nonRenewingSubscription, "Non-Renewing Subscription"),
    ])
    func theFourTypesHaveApplesNames(_ type: ProductType, _ name: String) throws {
        #expect(try json(purchased(type: type)).contains("\"type\":\"\(name)\""))
    }

    @Test(arguments: [
        ("USD", 999 as Int64, 9990 as Int64), ("JPY", 1500, 1_500_000), ("KWD", 250, 250),
        ("EUR", 0, 0),
    ])
    func thePriceIsInWholeMilliunits(
        _ currency: String,
        _ minorUnits: Int64,
        _ milliunits: Int64
    ) throws {
        let price = Money(minorUnits: minorUnits, currency: Currency(unchecked: currency))
        let text = try json(purchased(price: price))
        #expect(text.contains("\"price\":\(milliunits),"))
        #expect(text.contains("\"currency\":\"\(currency)\""))
    }

    @Test func thePriceIsTheTotalOfThePurchaseNotOfOne() throws {
        let one = Money(minorUnits: 99, currency: Currency(unchecked: "USD"))
        let total = try #require(one.multiplied(by: 3))
        #expect(try json(purchased(quantity: 3, price: total)).contains("\"price\":2970,"))
    }

    @Test func theSignatureIsNeverDatedBeforeWhatItVouchesFor() throws {
        let early = TestChain.now.advanced(by: .seconds(-86_400))
        let text = try json(purchased(), at: early)
        #expect(text.contains("\"signedDate\":1795226395000,"))
        let revoked = try json(purchased(revokedAt: TestChain.now), at: early)
        #expect(revoked.contains("\"signedDate\":1795226400000,"))
    }

    @Test func whatHasNoReceiptIsRefused() throws {
        let currency = Currency(unchecked: "JPY")
        let cases: [(Transaction, ReceiptsError.Code)] = [
            (purchased(state: .purchasing, purchasedAt: nil), .transactionNotPaid),
            (purchased(state: .failed), .transactionNotPaid),
            (purchased(purchasedAt: nil), .transactionNotPaid),
            (purchased(state: .unknown("held")), .transactionNotPaid),
            (purchased(type: .unknown("rental")), .productTypeUnknown),
            (purchased(price: Money(minorUnits: .max, currency: currency)), .priceOutOfRange),
            (purchased(price: Money(minorUnits: .min, currency: currency)), .priceOutOfRange),
        ]
        for (transaction, code) in cases {
            let error = #expect(throws: ReceiptsError.self) { try json(transaction) }
            #expect(error?.code == code)
            #expect(error?.isRetriable == false)
        }
    }
}
