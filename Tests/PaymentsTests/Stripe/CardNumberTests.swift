import EventTypes
import StoreAPI
import Testing

@testable import Payments

/// Numbers of cards in requests that must have none.
@Suite struct CardNumberTests {
    /// Numbers that Stripe and the networks publish for tests.
    private static let numbers = [
        "4242424242424242", "5555555555554444", "378282246310005", "6011111111111117",
        "30569309025904", "4222222222222", "6304000000000000000", "4242 4242 4242 4242",
        "4242-4242-4242-4242", "2223003122003222",
    ]

    @Test(arguments: numbers)
    func aNumberIsFoundInEveryTextOfARequest(number: String) {
        #expect(CardNumber.isIn(number))
        let text = "my card \(number) please"
        #expect(submission(username: text).hasCardNumber)
        #expect(submission(product: text).hasCardNumber)
        #expect(submission(method: PaymentMethod(rawValue: text)).hasCardNumber)
        #expect(submission(key: number).hasCardNumber)
        #expect(!submission().hasCardNumber)
    }

    @Test(arguments: numbers)
    func aNumberIsFoundInEveryTextOfATicket(number: String) {
        let text = "my card \(number) please"
        #expect(ticket(method: PaymentMethod(rawValue: text)).hasCardNumber)
        #expect(ticket(username: text).hasCardNumber)
        #expect(!ticket().hasCardNumber)
    }

    @Test(arguments: [
        "4242424242424241", "424242424242", "12345678901234567890", "0000000000000000",
        "pm_1MqLiJLkdIwHu7ixUEgbFdYF", "019caf06-5d9c-7c9c-8000-000000000001", "",
        "00000000-0000-0000-4242-424242424242",
        "1000000000000008",
    ])
    func otherTextsAreNone(text: String) {
        #expect(!CardNumber.isIn(text))
    }

    private func ticket(
        method: PaymentMethod = "pm_1",
        username: String? = nil
    ) -> RedemptionTicketRequest {
        RedemptionTicketRequest(
            storefront: Storefront(unchecked: "USA"),
            paymentMethod: method,
            applicationUsername: username
        )
    }

    private func submission(
        product: String = "coins",
        method: PaymentMethod = "pm_1",
        username: String? = nil,
        key: String = "a"
    ) -> PaymentSubmission {
        var request = request(product, username: username)
        request.paymentMethod = method
        return PaymentSubmission(account: alice, idempotencyKey: key, request: request)
    }
}
