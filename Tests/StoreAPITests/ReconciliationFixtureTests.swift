import EventTypes
import Foundation
import StoreAPI
import Testing

/// The output of `counterfoil reconcile --json`, as others read it.
@Suite struct ReconciliationFixtureTests {
    private func fixture() throws -> Data {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/operator")
        return try Data(contentsOf: folder.appending(path: "reconciliation.json"))
    }

    @Test func theFormIsThatOfTheFixture() throws {
        let answer = try JSONDecoder().decode(Reconciliation.self, from: try fixture())
        let again = try JSONEncoder().encode(answer)
        #expect(
            try JSONSerialization.jsonObject(with: again) as? NSDictionary
                == JSONSerialization.jsonObject(with: fixture()) as? NSDictionary
        )
        #expect(answer.differences.map(\.effect) == [.doubled, .wrong, .wrong, .lost])
        #expect(
            answer.differences.last?.description
                == "lost: ada in com.example.app: accountNotTold: version 2, told 1"
        )
        let books = try #require(answer.transactions?.first)
        #expect(books.isPaid && books.entry?.state == .purchased)
        #expect(books.changedAt?.millisecondsSinceEpoch == 1_795_237_200_300)
        let ids = books.queued?.deliveries.map { $0.webhookID(of: books.id) }
        #expect(ids == ["delivery_1000001_1"])
        let refund = TransactionBooks.Delivery(
            target: "1:refund:2",
            kind: "webhook",
            state: "pending"
        )
        #expect(refund.isOfRefund)
        #expect(refund.webhookID(of: books.id) == "delivery_1000001_1_refund_2")
        let reversal = TransactionBooks.Delivery(
            target: "1:refund:2:reversed",
            kind: "webhook",
            state: "pending"
        )
        #expect(reversal.isOfRefund)
        #expect(reversal.webhookID(of: books.id) == "delivery_1000001_1_refund_2_reversed")
        #expect(answer.transactions?.last?.changedAt == nil)
    }

    @Test func aFieldThatIsAddedLaterIsNoReasonToRefuseIt() throws {
        let document = try JSONSerialization.jsonObject(with: try fixture())
        var extended = try #require(document as? [String: Any])
        extended["addedLater"] = ["anything"]
        let answer = try JSONDecoder().decode(
            Reconciliation.self,
            from: JSONSerialization.data(withJSONObject: extended)
        )
        #expect(answer.compared == 2)
    }
}
