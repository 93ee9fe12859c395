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
        #expect(!questions.take([subscription(1, nil)]) && questions.pending.isEmpty)
        #expect(!questions.take([subscription(2, .scheduled)]) && questions.pending.isEmpty)
        #expect(questions.take([subscription(3, .pending)]) == true)
        #expect(questions.take([subscription(3, .pending)]) == false)
        #expect(questions.pending.map(\.increase.price) == [.usd(1299)])
        #expect(!questions.take([subscription(4, .agreed)]) && questions.pending.isEmpty)
        // An answer of the store that was on its way for longer.
        #expect(!questions.take([subscription(3, .pending)]) && questions.pending.isEmpty)
    }

    @Test func whoeverIsAskedAgainIsAskedAboutAgain() {
        var questions = PriceQuestions()
        #expect(questions.take([subscription(2, asked: 5, .pending)]) == true)
        #expect(questions.take([subscription(3, .scheduled)]) == false)
        #expect(questions.take([subscription(4, asked: 5, .pending)]) == true)
    }

    @Test func aSheetThatIsOpenIsNotOpenedAgain() {
        var questions = PriceQuestions()
        #expect(questions.take([subscription(2, .pending)]) == true)
        let first = questions.show()
        #expect(first.count == 1 && questions.show().isEmpty)
        #expect(questions.take([subscription(2, number: 9, .pending)]) == true)
        #expect(questions.show().map(\.subscriptionID) == [TransactionID(number: 9)])
        for question in first { questions.close(question) }
        #expect(questions.show() == first)
    }

    @Test func whoHasNotPaidOrHasLeftIsNotAsked() {
        var questions = PriceQuestions()
        #expect(questions.take([subscription(2, .pending)]) == true)
        for (version, state) in [(3, SubscriptionState.inGracePeriod), (4, .expired)] {
            var later = subscription(version, .pending)
            later.state = state
            #expect(!questions.take([later]) && questions.pending.isEmpty)
        }
    }
}
