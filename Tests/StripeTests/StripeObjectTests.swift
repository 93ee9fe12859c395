import Foundation
import Testing

@testable import Stripe

@Suite struct StripeObjectTests {
    private static func decoded<Object: Decodable>(_ json: String) throws -> Object {
        try JSONDecoder().decode(Object.self, from: Data(json.utf8))
    }

    @Test func anEventOfTheWholeAccountIsRead() throws {
        let event: StripeEvent = try Self.decoded(
            """
            {
                "id": "evt_1", "type": "balance.available", "created": 1, "livemode": false,
                "data": {"object": {"object": "balance", "available": [], "pending": []}}
            }
            """
        )
        #expect(event.data.object.id == nil)
        #expect(event.data.object.object == "balance")
    }

    @Test(arguments: ["", #", "metadata": null"#])
    func aRefundWithoutTextsIsRead(members: String) throws {
        let refund: StripeRefund = try Self.decoded(
            #"{"id": "re_1", "amount": 5, "currency": "usd", "created": 1\#(members)}"#
        )
        #expect(refund.id == "re_1")
        #expect(refund.metadata == nil)
    }
}
