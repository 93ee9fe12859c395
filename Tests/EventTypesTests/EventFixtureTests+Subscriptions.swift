import EventTypes
import Foundation
import Testing

/// Events of subscriptions.
extension EventFixtureTests {
    @Test func aSubscriptionHasTerms() throws {
        let name = "optional/product.changed.subscription"
        let product = try roundTrip(ProductChanged.self, name).product
        #expect(product.subscription?.groupID.rawValue == "club")
        #expect(product.subscription?.level == 1)
        #expect(product.subscription?.period == SubscriptionPeriod(1, .month))
        #expect(product.entitlements.map(\.rawValue) == ["club", "pro"])
    }

    @Test func aChangedGroupReadsBackAndItsKeyIsNoProducts() throws {
        let name = "subscription-group.changed"
        let event = try roundTrip(SubscriptionGroupChanged.self, name)
        #expect(event.group.version == 2 && event.changedBy == "ops")
        #expect(event.group.localizations[LanguageTag(unchecked: "fr")]?.name == "Le club")
        #expect(try surviving(SubscriptionGroupChanged.self, name) == event)
        let key = SubscriptionGroupChanged.key(of: event.group.id)
        #expect(key == "group:club" && !ProductID.isWellFormed(key))
    }

    @Test func aScheduledPriceReadsBack() throws {
        let name = "optional/product.changed.scheduled"
        let product = try roundTrip(ProductChanged.self, name).product
        let (storefront, change) = try #require(product.priceChanges.first)
        #expect(change.existingSubscribers == .raise)
        let before = StoreTime(
            millisecondsSinceEpoch: change.from.millisecondsSinceEpoch - 1
        )
        #expect(product.inForce(at: before).prices[storefront] == product.prices[storefront])
        #expect(product.inForce(at: change.from).prices[storefront] == change.price)
    }

    @Test func anOfferOfACodeReadsBack() throws {
        let product = try roundTrip(ProductChanged.self, "optional/product.changed.code").product
        let offer = try #require(product.codeOffers.first)
        #expect(offer.id.rawValue == "spring" && offer.isActive && offer.isStackable)
        #expect(offer.customers == [.new, .expired])
        let paid = try roundTrip(TransactionChanged.self, "optional/transaction.purchased.code")
        #expect(paid.transaction.subscription?.offer?.type == .code)
        #expect(paid.transaction.subscription?.offer?.introductory == .usedUp)
    }

    @Test func aWinBackOfferReadsBack() throws {
        let name = "optional/product.changed.win-back"
        let product = try roundTrip(ProductChanged.self, name).product
        let offer = try #require(product.winBackOffers.first)
        #expect(offer.id.rawValue == "we_miss_you" && offer.priority == .high)
        #expect(offer.paidMonths == 6 && offer.waitMonths == 12 && offer.monthsSinceEndMax == 24)
        let change = try roundTrip(
            SubscriptionChanged.self,
            "optional/subscription.changed.win-back"
        )
        #expect(change.subscription.period.offer?.type == .winBack)
        #expect(change.subscription.wonBackAt == change.subscription.period.start)
        #expect(change.subscription.paidTime == PaidTime(months: 4, days: 7))
    }

    @Test func aPromotionalOfferReadsBack() throws {
        let name = "optional/product.changed.promotional"
        let product = try roundTrip(ProductChanged.self, name).product
        let offer = try #require(product.promotionalOffers.first)
        #expect(offer.id.rawValue == "come_back" && offer.isActive)
        #expect(offer.terms.mode == .payAsYouGo && offer.terms.numberOfPeriods == 3)
        let paid = try roundTrip(
            TransactionChanged.self,
            "optional/transaction.purchased.promotional"
        )
        #expect(paid.transaction.subscription?.offer?.type == .promotional)
        #expect(paid.transaction.subscription?.offer?.id == offer.id)
        let copy = try roundTrip(
            TransactionChanged.self,
            "optional/transaction.purchased.redeeming"
        ).transaction
        #expect(copy.subscription?.redeems?.id == offer.id && copy.reason == .ownedAgain)
        let change = try roundTrip(
            SubscriptionChanged.self,
            "optional/subscription.changed.redeemed"
        )
        #expect(change.cause == .offerRedeemed)
        #expect(change.subscription.nextOffer?.id == offer.id)
    }

    @Test func aPriceIncreaseReadsBack() throws {
        let change = try roundTrip(
            SubscriptionChanged.self,
            "optional/subscription.changed.price"
        )
        #expect(change.cause == .priceIncreaseAsked && change.subscription.raisedAt != nil)
        let increase = try #require(change.subscription.nextIncrease)
        #expect(increase.status == .pending && increase.price.description == "12.99 USD")
        #expect(change.subscription.nextPrice?.description == "9.99 USD")
        #expect(change.subscription.priceIncreaseStatus == 0)
    }

    @Test func anIntroductoryOfferReadsBack() throws {
        let product = try roundTrip(ProductChanged.self, "optional/product.changed.offer").product
        let terms = try #require(product.introductoryOffer)
        #expect(terms.numberOfPeriods == 3 && terms.prices.values.map(\.minorUnits) == [99])
        let name = "optional/transaction.purchased.offer"
        let paid = try roundTrip(TransactionChanged.self, name).transaction
        let offer = try #require(paid.subscription?.offer)
        #expect(offer.type == .introductory && offer.number == 2 && offer.price == paid.price)
        #expect(paid.subscription?.renewalPrice?.description == "2.99 USD")
        #expect(paid.subscription?.beginsIntroductoryOffer == false)
        var begun = try #require(paid.subscription)
        begun.charge = nil
        begun.offer?.number = 1
        #expect(begun.beginsIntroductoryOffer)
        // The merchant's server gives an offer once more, which is not the account's own.
        begun.offer?.introductory = .again
        #expect(!begun.beginsIntroductoryOffer)
        #expect(IntroductoryUse(rawValue: "again") == .again)
        #expect(IntroductoryUse.again.rawValue == "again")
        let change = try roundTrip(SubscriptionChanged.self, "optional/subscription.changed.offer")
        #expect(change.subscription.nextPrice?.description == "4.99 USD")
        #expect(change.subscription.charge?.price.description == "4.99 USD")
    }

    @Test func aChangedSubscriptionReadsBack() throws {
        let change = try roundTrip(SubscriptionChanged.self, "subscription.changed")
        #expect(change.cause == .upgraded && change.subscription.state == .active)
        #expect(change.transactionID == change.subscription.period.transactionID)
        #expect(change.changedPeriods?.map(\.isUpgraded) == [true])
        #expect(change.subscription.entitlementEnd == change.subscription.period.end)
        let refund = try roundTrip(
            SubscriptionChanged.self,
            "optional/subscription.changed.refunded"
        )
        #expect(refund.refundedTransactionID == refund.subscription.period.transactionID)
        let shown = try roundTrip(QueueSubscriptionChanged.self, "queue.subscription-changed")
        #expect(shown.revision == 14 && shown.subscription.state == .expired)
        #expect(shown.subscription.expirationIntent == .autoRenewDisabled)
    }

    @Test func unknownFieldsAndValuesOfASubscriptionSurvive() throws {
        let change = try surviving(
            SubscriptionChanged.self,
            "subscription.changed",
            without: ["size"]
        )
        #expect(change.cause == .unknown("adopted"))
        #expect(change.subscription.state == .unknown("paused"))
        #expect(change.subscription.autoRenewOffReason == .unknown("moved"))
        #expect(change.subscription.entitlementEnd == nil && !change.subscription.state.isRunning)
        let shown = try surviving(
            QueueSubscriptionChanged.self,
            "queue.subscription-changed",
            without: ["size"]
        )
        #expect(shown.subscription == change.subscription)
    }

    @Test func everyCauseReadsBack() {
        for cause in SubscriptionCause.all {
            #expect(SubscriptionCause(rawValue: cause.rawValue) == cause)
        }
    }
}
