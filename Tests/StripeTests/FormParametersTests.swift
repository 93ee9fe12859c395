import EventTypes
import Testing

@testable import Stripe

@Suite struct FormParametersTests {
    @Test func membersAndElementsHaveBrackets() {
        var form = FormParameters()
        form.add("amount", 999)
        form.add("metadata", ["transaction": "7", "attempt": "a b&c=d"])
        form.add("expand", ["latest_charge", "customer"])
        form.add("confirm", true)
        form.add("nothing", nil as String?)
        #expect(
            form.encoded
                == "amount=999&metadata%5Battempt%5D=a%20b%26c%3Dd&metadata%5Btransaction%5D=7"
                + "&expand%5B0%5D=latest_charge&expand%5B1%5D=customer&confirm=true"
        )
    }

    @Test func everyByteOfATextIsEscaped() {
        var form = FormParameters()
        form.add("name", "é+%~\n")
        #expect(form.encoded == "name=%C3%A9%2B%25~%0A")
    }

    @Test func aKeyNamesItsAttemptKindAndGeneration() {
        #expect("\(StripeIdempotencyKey(attempt: "0192", kind: .charge))" == "0192-charge-0")
        #expect(
            "\(StripeIdempotencyKey(attempt: "0192", kind: .refund, generation: 2))"
                == "0192-refund-2"
        )
        let keys = StripeIdempotencyKey.Kind.allCases.flatMap { kind in
            (0..<3).map { StripeIdempotencyKey(attempt: "a", kind: kind, generation: $0) }
        }
        #expect(Set(keys).count == keys.count)
    }

    @Test func aKeyIsRepeatedForLessThanADay() {
        let start = MachineTime(millisecondsSinceEpoch: 1_000_000)
        let almost = start.advanced(by: .seconds(23 * 3600 - 1))
        #expect(StripeIdempotencyKey.isSafe(firstCalled: start, now: almost))
        #expect(
            !StripeIdempotencyKey.isSafe(firstCalled: start, now: almost.advanced(by: .seconds(1)))
        )
    }
}
