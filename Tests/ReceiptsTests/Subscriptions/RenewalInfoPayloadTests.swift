import EventTypes
import Foundation
import ReceiptValidation
import Testing

@testable import Receipts

/// The renewal info that is signed for a subscription.
@Suite struct RenewalInfoPayloadTests {
    private static let usd = Currency(unchecked: "USD")

    private static func product(_ id: String, _ price: Int64) -> SubscriptionProduct {
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

    private static func subscription() -> Subscription {
        let club = product("club", 299)
        return Subscription(
            accountID: AccountID(unchecked: "alice"),
            bundleID: BundleID(unchecked: "com.example.app"),
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: 7),
                reason: .purchase,
                product: club,
                price: club.price,
                anchor: TestChain.now,
                number: 1,
                start: TestChain.now,
                end: TestChain.now.advanced(by: .seconds(30 * 86_400))
            )
        )
    }

    private func payload(of subscription: Subscription) throws -> RenewalInfoPayload {
        let payload = RenewalInfoPayload(
            subscription,
            environment: .sandbox,
            signedAt: TestChain.now
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(payload.encoded() == Array(try encoder.encode(payload)))
        return payload
    }

    @Test(
        arguments: [
            (PriceIncreaseStatus.scheduled, nil, 2990), (.pending, 0, 2990), (.declined, 0, 2990),
            (.agreed, 1, 3990), (.notified, 1, 3990),
        ] as [(PriceIncreaseStatus, Int?, Int64)]
    )
    func anIncreaseHasItsStatusAndCountsOnceItIsAccepted(
        status: PriceIncreaseStatus,
        number: Int?,
        price: Int64
    ) throws {
        var subscription = Self.subscription()
        subscription.priceIncrease = PriceIncrease(
            id: PriceChangeID(unchecked: "7:399USD:0"),
            productID: subscription.product.id,
            price: Money(minorUnits: 399, currency: Self.usd),
            effectiveAt: TestChain.now,
            status: status
        )
        let info = try payload(of: subscription)
        #expect(info.priceIncreaseStatus == number && info.renewalPrice == price)
    }

    @Test func whoDidNotAgreeHasAStatusAfterTheEnd() throws {
        var subscription = Self.subscription()
        subscription.state = .expired
        subscription.autoRenewOffReason = .price
        subscription.expirationIntent = .didNotConsentToPriceIncrease
        let info = try payload(of: subscription)
        #expect(info.priceIncreaseStatus == 0 && info.expirationIntent == 3)
        #expect(info.autoRenewStatus == 0)
    }

    @Test func aRunningSubscriptionNamesItsNextPeriod() throws {
        var subscription = Self.subscription()
        let running = try payload(of: subscription)
        #expect(running.autoRenewStatus == 1 && running.renewalPrice == 2990)
        #expect(running.renewalDate == subscription.period.end)
        #expect(running.isInBillingRetryPeriod == nil && running.expirationIntent == nil)
        subscription.pendingProduct = Self.product("lower", 99)
        let changing = try payload(of: subscription)
        #expect(changing.productId.rawValue == "club" && changing.renewalPrice == 990)
        #expect(changing.autoRenewProductId.rawValue == "lower")
    }

    @Test func theOfferIsThatOfTheNextPeriod() throws {
        typealias Club = ClubSubscription
        let month = SubscriptionPeriod(1, .month)
        var paid = Club.introduced(.payAsYouGo, month, 2, price: 99)
        let first = try payload(of: paid)
        #expect(first.offerType == 1 && first.offerDiscountType == "PAY_AS_YOU_GO")
        #expect(first.offerPeriod == "P1M" && first.renewalPrice == 990)
        paid.period.offer = paid.period.offer?.next
        let last = try payload(of: paid)
        #expect(last.offerType == nil && last.offerDiscountType == nil)
        #expect(last.offerPeriod == nil && last.renewalPrice == 2990)
        let trial = try payload(of: Club.introduced(.freeTrial, month, price: 0))
        #expect(trial.offerType == nil && trial.renewalPrice == 2990)
        var redeemed = Club.begun
        redeemed.pendingOffer = Club.promoted(.payAsYouGo, price: 99).period.offer
        let pending = try payload(of: redeemed)
        #expect(pending.offerType == 2 && pending.offerIdentifier == "come_back")
        #expect(pending.renewalPrice == 990)
    }

    @Test func aCancelledSubscriptionHasNoNextPrice() throws {
        var subscription = Self.subscription()
        subscription.autoRenewOffReason = .customer
        let cancelled = try payload(of: subscription)
        #expect(cancelled.autoRenewStatus == 0 && cancelled.renewalPrice == nil)
        #expect(cancelled.autoRenewProductId.rawValue == "club")
    }

    @Test func theStatesOfFailureAreTold() throws {
        var subscription = Self.subscription()
        subscription.state = .inGracePeriod
        subscription.expirationIntent = .billingError
        subscription.gracePeriodEnd = subscription.period.end.advanced(by: .seconds(86_400))
        let grace = try payload(of: subscription)
        #expect(grace.isInBillingRetryPeriod == true && grace.expirationIntent == 2)
        #expect(grace.gracePeriodExpiresDate == subscription.gracePeriodEnd)
        subscription.state = .expired
        subscription.gracePeriodEnd = nil
        subscription.autoRenewOffReason = .billing
        let expired = try payload(of: subscription)
        #expect(expired.isInBillingRetryPeriod == false && expired.autoRenewStatus == 0)
    }

    @Test func itNamesTheCustomerOfTheTransaction() throws {
        let customer = try RenewalInfoPayload.Customer(
            payload: Array(#"{"appAccountToken":"a","appTransactionId":"9","price":1}"#.utf8)
        )
        let info = RenewalInfoPayload(
            Self.subscription(),
            of: customer,
            environment: .sandbox,
            signedAt: TestChain.now
        )
        #expect(info.appAccountToken == "a" && info.appTransactionId == "9")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(info.encoded() == Array(try encoder.encode(info)))
    }

    @Test func theValidatorReadsIt() throws {
        let bytes = try payload(of: Self.subscription()).encoded()
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        let info = try decoder.decode(JWSRenewalInfo.self, from: Data(bytes))
        #expect(info.originalTransactionId == "7" && info.currency == "USD")
    }
}
