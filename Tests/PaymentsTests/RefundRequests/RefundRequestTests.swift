import EventTypes
import Ledger
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct RefundRequestTests {
    private let approve = RefundDecision.approve(amount: nil, revokes: nil)

    @Test func anApprovedRequestGivesTheMoneyBackOnce() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.ask(bought.id)
            for _ in 0..<3 {
                let answer = try await store.decide(approve, for: bought.id)
                guard case .done(let response) = answer else {
                    return #expect(Bool(false), "\(answer)")
                }
                #expect(response.request.state == .approved)
                #expect(response.refundState == .made)
                #expect(response.act?.decidedBy.rawValue == "mia")
            }
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
            #expect(try await store.booksBalance())
            #expect(
                try await store.eventTypes(of: bought.id).suffix(3) == [
                    "refund-request.changed.v1", "refund-request.changed.v1",
                    "transaction.refunded.v1",
                ]
            )
        }
    }

    /// The process is killed after the commit of the decision and before the call.
    @Test func anApprovalWhoseRefundWasNotBegunIsCarriedOut() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.ask(bought.id)
            _ = try await store.requests.begin(
                approve,
                on: 1,
                for: bought.id,
                by: .mia,
                trace: .begin()
            )
            #expect(try await store.count("sandbox_processor.refunds") == 0)
            try await store.recover()
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.requests.request(1, for: bought.id)?.refundState == .made)
        }
    }

    @Test func twoAdministratorsAtOnceRefundOnce() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.ask(bought.id)
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { _ = try await store.decide(approve, for: bought.id) }
                    group.addTask { _ = try await store.refunds.refund(bought.id) }
                }
                try await group.waitForAll()
            }
            try await store.recover()
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
        }
    }

    @Test func twoDevicesAtOnceMakeOneRequest() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            let states = try await withThrowingTaskGroup(of: Bool.self) { group in
                for device in 0..<8 {
                    group.addTask {
                        let reply = try await store.ask(bought.id, key: "\(device)")
                        if case .done = reply { return true }
                        return false
                    }
                }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(states.count(where: \.self) == 1)
            #expect(try await store.count("refund_requests") == 1)
        }
    }

    @Test func aPartIsApprovedAndTheBuyerKeepsTheProduct() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.ask(bought.id)
            _ = try await store.decide(.approve(amount: usd(400), revokes: nil), for: bought.id)
            let refunded = try await store.load(bought.id)
            #expect(refunded.revokedAt == nil && refunded.refundedAmount == usd(400))
            // For the rest, the buyer may ask again.
            guard case .done(let second) = try await store.ask(bought.id, key: "again") else {
                return #expect(Bool(false))
            }
            #expect(second.number == 2)
        }
    }

    @Test func aDeclinedRequestMovesNothing() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.ask(bought.id)
            guard case .done(let response) = try await store.decide(.decline, for: bought.id)
            else { return #expect(Bool(false)) }
            #expect(response.request.state == .declined && response.refundState == nil)
            #expect(try await store.load(bought.id) == bought)
            #expect(try await store.postings(of: bought.id) == [.purchase])
            guard
                case .refused(.decidedOtherwise, _) = try await store.decide(
                    approve,
                    for: bought.id
                )
            else { return #expect(Bool(false), "A declined request was approved.") }
        }
    }

    @Test func anothersPurchaseIsUnknown() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            guard case .unknown = try await store.ask(bought.id, of: bob) else {
                return #expect(Bool(false), "Another account asked.")
            }
            #expect(try await store.requests.requests(for: bought.id, of: bob.accountKey) == nil)
            #expect(try await store.count("refund_requests") == 0)
        }
    }

    @Test func aRefundThatTheProcessorCannotMakeIsSaidToHaveFailed() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .refundFailed), key: "a")
            _ = try await store.ask(bought.id)
            for number in 1...2 {
                let answer = try await store.decide(approve, for: bought.id)
                guard case .refused(.refundFailed(number), _) = answer else {
                    return #expect(Bool(false), "\(answer)")
                }
            }
            #expect(try await store.postings(of: bought.id) == [.purchase])
        }
    }

    @Test func anApprovalWhoseRefundFailedIsListedAsFailed() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .refundFailed), key: "a")
            _ = try await store.ask(bought.id)
            #expect(try await store.requests.page(in: .failed, after: nil, limit: 10) == [])
            _ = try await store.decide(approve, for: bought.id)
            let made = try await store.buy(request(), key: "b")
            _ = try await store.ask(made.id)
            _ = try await store.decide(approve, for: made.id)
            let failed = try await store.requests.page(in: .failed, after: nil, limit: 10)
            #expect(failed.map(\.transactionID) == [bought.id])
        }
    }

    @Test func pagesListEachRequestOnceAndOnlyTheWantedState() async throws {
        try await withStore { store in
            var ids: [TransactionID] = []
            for key in ["a", "b", "c"] {
                let bought = try await store.buy(request(), key: key)
                _ = try await store.ask(bought.id)
                ids.append(bought.id)
            }
            _ = try await store.decide(.decline, for: ids[1])
            var listed: [TransactionID] = []
            var place: RefundRequestPlace?
            repeat {
                let page = try await store.requests.page(in: nil, after: place, limit: 1)
                listed += page.map(\.transactionID)
                place = page.last.map { RefundRequestPlace(of: $0) }
            } while place != nil
            #expect(listed == ids)
            let open = try await store.requests.page(in: .open, after: nil, limit: 10)
            #expect(open.map(\.transactionID) == [ids[0], ids[2]])
            let first = try #require(open.first.map { RefundRequestPlace(of: $0) })
            let rest = try await store.requests.page(in: .open, after: first, limit: 10)
            #expect(rest.map(\.transactionID) == [ids[2]])
            let own = try await store.requests.page(in: nil, of: ids[1], after: nil, limit: 10)
            #expect(own.map(\.transactionID) == [ids[1]])
            #expect(
                try await store.requests.page(in: .open, of: ids[1], after: nil, limit: 10) == []
            )
        }
    }
}

extension Act {
    fileprivate static let mia = Act(
        decidedBy: AdministratorName(unchecked: "mia"),
        reason: ActReason(rawValue: "damaged")
    )
}

extension Store {
    fileprivate var requests: RefundRequestHandler { RefundRequestHandler(refunds: refunds) }

    /// Asks for a refund as a buyer.
    fileprivate func ask(
        _ id: TransactionID,
        key: String = "ask",
        of account: AuthenticatedAccount = alice
    ) async throws -> RefundRequestHandler.Reply<RequestedRefund> {
        try await requests.ask(
            for: id,
            because: .unsatisfied,
            under: IdempotencyKey(unchecked: key),
            of: account.accountKey,
            trace: .begin()
        )
    }

    /// Decides about the first request.
    fileprivate func decide(
        _ decision: RefundDecision,
        for id: TransactionID
    ) async throws -> RefundRequestHandler.Reply<RefundRequestResponse> {
        try await requests.decide(decision, on: 1, for: id, by: .mia, trace: .begin())
    }
}
