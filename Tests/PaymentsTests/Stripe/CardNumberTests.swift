import EventTypes
import Foundation
import ServiceKit
import StoreAPI
import Testing

@testable import Payments

/// Numbers of cards in requests that must have none.
@Suite struct CardNumberTests {
    /// Numbers that Stripe and the networks publish for tests.
    private static let numbers = [
        "4242424242424242", "5555555555554444", "378282246310005", "6011111111111117",
        "30569309025904", "6304 0000 0000 0000 000", "4242 4242 4242 4242",
        "4242-4242-4242-4242", "3782 822463 10005", "2223003122003222",
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
        // Ids of buyers, in which a number without letters around it would be a card's.
        "6304000000000000000", "user4242424242424242", "4242424242424242f00d",
        "42424242-4242-4242-8242-424242424242", "424242-4242-4242-42",
        "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b4242424242",
    ])
    func otherTextsAreNone(text: String) {
        #expect(!CardNumber.isIn(text))
    }

    @Test func aUUIDIsNone() {
        for _ in 0..<10_000 {
            let id = UUID().uuidString
            #expect(!CardNumber.isIn(id) && !CardNumber.isIn("user-\(id)"), "\(id)")
        }
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
