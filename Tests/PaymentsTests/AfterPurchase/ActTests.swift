import EventTypes
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Who decided, and why: in the rows and in the events.
@Suite(.timeLimit(.minutes(10))) struct ActTests {
    private func act(_ name: String, _ reason: String? = nil) -> Act {
        Act(
            decidedBy: AdministratorName(unchecked: name),
            reason: reason.flatMap(ActReason.init(rawValue:))
        )
    }

    @Test(arguments: [ApprovalRequest.Decision.approve, .decline])
    func anApprovalSaysWhoDecidedAndOnlyTheFirstCounts(
        decision: ApprovalRequest.Decision
    ) async throws {
        try await withStore { store in
            let asked = try await store.buy(request(method: .needsApproval), key: "a")
            let first = act("mia", "the parents agreed")
            _ = try await store.approvals.decide(decision, on: asked.id, by: first)
            _ = try await store.approvals.decide(decision, on: asked.id, by: act("tom"))
            try await store.settle()
            let type = decision == .approve ? "transaction.approved.v1" : "transaction.failed.v1"
            #expect(
                try await store.acts(of: asked.id) == ["\(type) by mia: the parents agreed"]
            )
            let record = try await store.client.withConnection { connection in
                try TransactionStore.load([asked.id], on: connection)[asked.id]
            }
            #expect(record?.approvalAct == first)
        }
    }

    @Test func aRefundAndItsReversalSayWhoAskedWhoeverCarriesThemOut() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            let terms = RefundTerms(act: act("mia", "Beschädigt"))
            _ = try await store.refunds.beginRefund(of: bought.id, terms)
            // Another process settles it, from its row.
            try await store.recover()
            _ = try await store.refunds.reverseRefund(1, of: bought.id, by: act("tom"))
            #expect(
                try await store.acts(of: bought.id) == [
                    "transaction.refunded.v1 by mia: Beschädigt",
                    "transaction.refund-reversed.v1 by tom",
                ]
            )
        }
    }

    @Test func aRefundOfWhatCostNothingSaysWhoAsked() async throws {
        try await withStore { store in
            try await store.sell(product("gift", price: usd(0)))
            let free = try await store.buy(request("gift", price: usd(0)), key: "a")
            _ = try await store.refunds.refund(free.id, RefundTerms(act: act("mia")))
            #expect(try await store.acts(of: free.id) == ["transaction.refunded.v1 by mia"])
        }
    }

    @Test func anotherReasonIsAnotherRequest() {
        let requests = [
            RefundRequest(), RefundRequest(reason: ActReason(rawValue: "a")),
            RefundRequest(reason: ActReason(rawValue: "b")),
        ]
        #expect(Set(requests.map(RequestFingerprint.of)).count == 3)
    }
}
