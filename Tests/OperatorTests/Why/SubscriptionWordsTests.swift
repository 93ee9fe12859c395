import EventTypes
import Testing

@testable import Operator
@testable import OperatorCore

/// The life of a subscription in words.
@Suite struct SubscriptionWordsTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let end = start.advanced(by: .seconds(30 * 86_400))

    private static func usd(_ cents: Int64) -> Money {
        Money(minorUnits: cents, currency: Currency(unchecked: "USD"))
    }

    private static func change(
        _ cause: SubscriptionCause,
        _ edit: (inout SubscriptionChanged) -> Void = { _ in }
    ) -> SubscriptionChanged {
        let product = SubscriptionProduct(
            id: ProductID(unchecked: "club"),
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            price: usd(299)
        )
        var change = SubscriptionChanged(
            subscription: Subscription(
                accountID: AccountID(unchecked: "ada"),
                bundleID: BundleID(unchecked: "com.example.app"),
                storefront: Storefront(unchecked: "USA"),
                firstPeriod: PaidPeriod(
                    transactionID: TransactionID(number: 7),
                    reason: .purchase,
                    product: product,
                    price: usd(299),
                    anchor: start,
                    number: 1,
                    start: start,
                    end: end
                )
            ),
            cause: cause,
            changedAt: end,
            environment: "Sandbox"
        )
        edit(&change)
        return change
    }

    @Test func eachChangeIsASentenceWithItsDates() {
        let failure = PaymentsChapter.FailedTry(
            id: TransactionID(number: 9),
            number: 4,
            price: Self.usd(299),
            reason: "paymentDeclined",
            time: Self.end
        )
        let words = SubscriptionWords(failures: [failure])
        let paid = "2.99 USD, from 2026-11-21 05:00:00 until 2026-12-21 05:00:00"
        #expect(words.text(of: Self.change(.purchased)) == "began with club: \(paid)")
        #expect(
            words.text(of: Self.change(.renewed)) == "renewed by transaction 7 with club: \(paid)"
        )
        let grace = Self.change(.gracePeriodBegan) { change in
            change.subscription.gracePeriodEnd = Self.end.advanced(by: .seconds(3 * 86_400))
            change.subscription.billingRetryEnd = Self.end.advanced(by: .seconds(60 * 86_400))
        }
        #expect(
            words.text(of: grace)
                == "the period ended unpaid (paymentDeclined): grace until 2026-12-24 05:00:00, "
                + "charged again until 2027-02-19 05:00:00"
        )
        #expect(
            SubscriptionWords.text(of: failure)
                == "try 4 to charge 2.99 USD for the next period failed: paymentDeclined "
                + "(transaction 9)"
        )
        let upgraded = Self.change(.upgraded) { change in
            var period = change.subscription.period
            period.refunded = Self.usd(149)
            change.changedPeriods = [period]
        }
        #expect(
            words.text(of: upgraded)
                == "upgraded to club by transaction 7: \(paid); gives back 1.49 USD of "
                + "transaction 7"
        )
        #expect(
            words.text(of: Self.change(.autoRenewTurnedOff))
                == "cancelled: runs until 2026-12-21 05:00:00 and does not renew"
        )
        #expect(words.text(of: Self.change(.unknown("thawed"))) == "changed: thawed")
    }

    private static func offer(_ number: Int = 1) -> PeriodOffer {
        PeriodOffer(
            type: .introductory,
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 3,
            number: number,
            price: usd(99)
        )
    }

    @Test func aPeriodWithAnOfferNamesItAndItsNumber() {
        let change = Self.change(.renewed) { change in
            change.subscription.period.offer = Self.offer(2)
            change.subscription.period.price = Self.usd(99)
        }
        #expect(
            SubscriptionWords().text(of: change)
                == "renewed by transaction 7 with club: 0.99 USD with the introductory offer, "
                + "period 2 of 3, from 2026-11-21 05:00:00 until 2026-12-21 05:00:00"
        )
    }

    @Test func aPaymentNamesItsOfferTheOneForLaterAndTheCampaign() {
        #expect(SubscriptionWords.offerText(of: nil, from: nil) == "")
        let terms = Self.change(.purchased).subscription.product.terms
        var period = TransactionPeriod(terms: terms, offer: Self.offer())
        #expect(
            SubscriptionWords.offerText(of: period, from: nil)
                == " with the introductory offer, period 1 of 3"
        )
        period.offer?.introductory = .again
        #expect(
            SubscriptionWords.offerText(of: period, from: nil)
                == " with the introductory offer that the merchant's server gave once more, "
                + "period 1 of 3"
        )
        period.offer = nil
        period.redeems = Self.offer()
        period.redeems?.type = .code
        period.redeems?.id = OfferID(unchecked: "spring")
        #expect(
            SubscriptionWords.offerText(of: period, from: 4)
                == ", redeems the code offer spring for later, by a code of campaign 4"
        )
    }

    @Test func whoComesBackWithAWinBackOfferIsToldWithIt() {
        var offer = Self.offer()
        offer.type = .winBack
        offer.id = OfferID(unchecked: "we_miss_you")
        let change = Self.change(.resubscribed) { change in
            change.subscription.period.offer = offer
            change.subscription.period.price = Self.usd(99)
        }
        #expect(
            SubscriptionWords().text(of: change)
                == "began again with club by transaction 7: 0.99 USD with the win-back offer "
                + "we_miss_you, period 1 of 3, from 2026-11-21 05:00:00 until 2026-12-21 05:00:00"
        )
        let period = TransactionPeriod(terms: change.subscription.product.terms, offer: offer)
        #expect(
            SubscriptionWords.offerText(of: period, from: nil)
                == " with the win-back offer we_miss_you, period 1 of 3"
        )
    }

    @Test func thePresentStateSaysWhatComesNext() {
        var subscription = Self.change(.purchased).subscription
        #expect(
            SubscriptionWords.present(subscription)
                == "Subscription 7 of club runs until 2026-12-21 05:00:00, and renews then with club "
                + "for 2.99 USD."
        )
        subscription.autoRenewOffReason = .customer
        #expect(SubscriptionWords.present(subscription).hasSuffix("does not renew (customer)."))
        subscription.state = .expired
        #expect(
            SubscriptionWords.present(subscription)
                == "Subscription 7 of club has lapsed (customer)."
        )
    }
}
