import EventTypes
import Testing

@testable import PaymentQueue

@Suite struct PriceQuestionsTests {
    private func subscription(
        _ version: Int,
        number: Int64 = 7,
        asked time: Int64 = 0,
        _ status: PriceIncreaseStatus?
    ) -> Subscription {
        let sold = SubscriptionProduct(
            id: ProductID(unchecked: "club"),
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            price: .usd(299)
        )
        let start = StoreTime(millisecondsSinceEpoch: 0)
        var subscription = Subscription(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            storefront: EventTypes.Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: number),
                reason: .purchase,
                product: sold,
                price: sold.price,
                anchor: start,
                number: 1,
                start: start,
                end: start.advanced(by: .seconds(31 * 86_400))
            )
        )
        subscription.version = version
        subscription.priceIncrease = status.map { status in
            PriceIncrease(
                id: PriceChangeID(unchecked: "raise-\(number)"),
                productID: sold.id,
                price: .usd(1299),
                effectiveAt: start,
                status: status,
                askedAt: StoreTime(millisecondsSinceEpoch: time)
            )
        }
        return subscription
    }

    @Test func aQuestionIsAskedAboutOnceAndWaitsUntilItIsAnswered() {
        var questions = PriceQuestions()
        let asked = [
            subscription(1, nil), subscription(2, .scheduled), subscription(3, .pending),
            subscription(3, .pending),
        ].map { questions.take([$0]) }
        #expect(asked == [false, false, true, false])
        #expect(questions.pending.map(\.increase.price) == [.usd(1299)])
        // The last one is an answer of the store that was on its way for longer.
        let answered = [subscription(4, .agreed), subscription(3, .pending)]
            .map { questions.take([$0]) }
        #expect(answered == [false, false])
        #expect(questions.pending.isEmpty)
    }

    @Test func whoeverIsAskedAgainIsAskedAboutAgain() {
        var questions = PriceQuestions()
        let asked = [
            subscription(2, asked: 5, .pending), subscription(3, .scheduled),
            subscription(4, asked: 5, .pending),
        ].map { questions.take([$0]) }
        #expect(asked == [true, false, true])
    }

    @Test func aSheetThatIsOpenIsNotOpenedAgain() {
        var questions = PriceQuestions()
        _ = questions.take([subscription(2, .pending)])
        let first = questions.show()
        let again = questions.show()
        #expect(first.count == 1)
        #expect(again.isEmpty)
        _ = questions.take([subscription(2, number: 9, .pending)])
        let second = questions.show()
        #expect(second.map(\.subscriptionID) == [TransactionID(number: 9)])
        for question in first { questions.close(question) }
        let afterwards = questions.show()
        #expect(afterwards == first)
    }

    @Test func whoHasNotPaidOrHasLeftIsNotAsked() {
        for state in [SubscriptionState.inGracePeriod, .inBillingRetryPeriod, .expired] {
            var questions = PriceQuestions()
            _ = questions.take([subscription(2, .pending)])
            var later = subscription(3, .pending)
            later.state = state
            let isAsked = questions.take([later])
            #expect(!isAsked)
            #expect(questions.pending.isEmpty)
        }
    }
}
