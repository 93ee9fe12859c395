import Dispatch
import EventTypes
import StoreAPI
import Synchronization
import Testing

@testable import PaymentQueue

/// The introductory offers that payments name, without a store.
@Suite struct ShownOfferTests {
    private let queue = SKPaymentQueue(
        configuration: nil,
        callbacks: DispatchQueue(label: "shown-offers")
    )

    /// A subscription for 2.99 USD with an introductory offer of a month.
    private func club(introducedAt price: Int64, winBack: OfferListing? = nil) -> SKProduct {
        let month = SubscriptionPeriod(1, .month)
        var listing = ProductListing(
            id: ProductID(unchecked: "club"),
            version: 1,
            type: .autoRenewableSubscription,
            price: .usd(299),
            title: "Club",
            description: "",
            language: LanguageTag(unchecked: "en-US")
        )
        listing.subscription = SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "clubs"),
            level: 1,
            period: month
        )
        listing.introductoryOffer = OfferListing(
            mode: price == 0 ? .freeTrial : .payAsYouGo,
            period: month,
            numberOfPeriods: 1,
            price: .usd(price)
        )
        listing.winBackOffers = winBack.map {
            [NamedOfferListing(id: OfferID(unchecked: "back"), terms: $0)]
        }
        return SKProduct(listing, storefront: "USA")
    }

    private func tellOfOffer() {
        queue.state.withLock { _ = $0.introductoryGroups.insert("clubs") }
    }

    private func problem(_ code: String) -> Problem {
        Problem(code: code, title: "", status: 409, detail: "")
    }

    @Test func anOfferThatTheStoreRefusesIsNotNamedAgain() throws {
        let product = club(introducedAt: 0)
        let payment = SKPayment(product: product)
        #expect(queue.shownOffer(of: product, for: payment) == nil)
        tellOfOffer()
        let shown = try #require(queue.shownOffer(of: product, for: payment))
        #expect(shown.type == .introductory)
        queue.forget(shown, of: product, refusedBy: problem("stale_offer"))
        let other = ShownOffer(type: .promotional)
        queue.forget(other, of: product, refusedBy: problem("offer_not_available"))
        #expect(queue.shownOffer(of: product, for: payment) == shown)
        queue.forget(shown, of: product, refusedBy: problem("offer_not_available"))
        #expect(queue.shownOffer(of: product, for: payment) == nil)
    }

    /// Rule S45.
    @Test(arguments: [(TransactionReason.purchase, false), (.familyShared, true)])
    func onlyAnOwnPurchaseUsesTheOfferUp(reason: TransactionReason, isLeft: Bool) {
        let product = club(introducedAt: 0)
        tellOfOffer()
        var change = QueueChanged.of(1, "club", .purchased, reason: reason)
        change.transaction.productType = .autoRenewableSubscription
        change.transaction.subscription = TransactionPeriod(
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            )
        )
        let arrived = change
        queue.change { $0.receive([arrived]) }
        let shown = queue.shownOffer(of: product, for: SKPayment(product: product))
        #expect((shown != nil) == isLeft)
    }

    @Test(arguments: [(Int64(0), false), (99, true)])
    func aBuyerWhoHasToAskGetsNoFreeOffer(price: Int64, isNamed: Bool) {
        let product = club(introducedAt: price)
        tellOfOffer()
        let payment = SKPayment(product: product).mutableCopy()
        payment.simulatesAskToBuyInSandbox = true
        #expect((queue.shownOffer(of: product, for: payment) != nil) == isNamed)
        payment.simulatesAskToBuyInSandbox = false
        #expect(queue.shownOffer(of: product, for: payment) != nil)
    }

    /// The queue reads what the merchant's server has decided; the store verifies it.
    @Test(arguments: [
        (#"{"allowIntroductoryOffer":true}"#, true), (#"{"allowIntroductoryOffer":false}"#, false),
        (#"{"allowIntroductoryOffer":"true"}"#, false), ("{}", false),
    ])
    func theMerchantsDecisionNamesTheOffer(claims: String, isNamed: Bool) {
        let product = club(introducedAt: 0)
        let payload = StrictBase64.encode(Array(claims.utf8), .url)
        let payment = SKPayment(product: product).mutableCopy()
        for isKnown in [false, true] {
            if isKnown { tellOfOffer() }
            payment.introductoryOfferEligibility =
                "e30." + String(decoding: payload, as: UTF8.self) + ".AAAA"
            #expect((queue.shownOffer(of: product, for: payment) != nil) == isNamed)
            payment.introductoryOfferEligibility = "no JWS"
            #expect(queue.shownOffer(of: product, for: payment) == nil)
        }
    }

    /// A payment with a win-back offer never costs the ordinary price, whatever the app names.
    @Test func aWinBackOfferIsNamedWithItsTerms() throws {
        var listing = try #require(club(introducedAt: 99).introductoryPrice?.listing)
        listing.numberOfPeriods = 3
        let product = club(introducedAt: 99, winBack: listing)
        tellOfOffer()
        let payment = SKPayment(product: product).mutableCopy()
        for (id, terms) in [("back", listing as OfferListing?), ("other", nil), ("no id", nil)] {
            payment.winBackOffer = id
            let shown = try #require(queue.shownOffer(of: product, for: payment))
            #expect(shown.type == .winBack && shown.id?.rawValue == id && shown.terms == terms)
        }
    }
}
