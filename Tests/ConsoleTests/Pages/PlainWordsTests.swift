import EventTypes
import Testing

@testable import Console

@Suite struct PlainWordsTests {
    @Test(arguments: [
        (
            "Somebody has to approve it: counterfoil approve 1, or decline 1.",
            "Somebody has to approve it."
        ),
        (
            "receipts has not acted on it after 2 s: see 'counterfoil lag'.",
            "receipts has not acted on it after 2 s."
        ),
        (
            "payments has not decided: is it running? See 'counterfoil status'.",
            "payments has not decided: is it running?"
        ),
        (
            "The app has not finished it: it stays in the queue of ada.",
            "The app has not finished it: it stays in the queue of ada."
        ),
    ])
    func aSentenceLosesTheCommandThatItAdvises(_ sentence: String, _ words: String) {
        #expect(PlainWords.withoutCommands(sentence) == words)
    }

    @Test func anAccountCannotLeaveItsPath() {
        #expect(PlainWords.path(ofAccount: "a/../b?c#d%") == "/accounts/a%2F%2E%2E%2Fb%3Fc%23d%25")
    }

    @Test func typesAndPeriodsAreWords() {
        let types: [ProductType] = [
            .consumable, .nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription,
        ]
        #expect(
            types.map(PlainWords.type) == [
                "consumable", "non-consumable", "auto-renewable subscription",
                "non-renewing subscription",
            ]
        )
        #expect(PlainWords.period(SubscriptionPeriod(1, .month)) == "1 month")
        #expect(PlainWords.period(SubscriptionPeriod(3, .day)) == "3 days")
    }
}
