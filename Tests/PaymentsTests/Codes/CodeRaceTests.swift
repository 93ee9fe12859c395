import EventTypes
import ServiceKit
import StoreAPI
import StoreTracing
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Codes that several people redeem at once.
@Suite(.timeLimit(.minutes(10))) struct CodeRaceTests {
    private static func account(_ number: Int) -> AuthenticatedAccount {
        AuthenticatedAccount(
            accountID: AccountID(unchecked: "buyer\(number)"),
            bundleID: alice.bundleID
        )
    }

    /// Redeems a code for accounts at once.
    ///
    /// - Returns: The number of accounts that got it; all others were told that it is used.
    private func redeemAtOnce(
        _ code: String,
        _ count: Int,
        _ desk: CodeDesk
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                group.addTask { try await Self.redeem(code, number, desk) }
            }
            return try await group.reduce(0) { $1 ? $0 + 1 : $0 }
        }
    }

    private static func redeem(
        _ code: String,
        _ number: Int,
        _ desk: CodeDesk
    ) async throws -> Bool {
        do {
            try await desk.redeem(code, of: account(number))
            return true
        } catch PaymentRefusal.codeUsed {
            return false
        }
    }

    /// Redeems a custom code, if it can be redeemed.
    private static func attempt(
        _ number: Int,
        _ method: SandboxPaymentMethod,
        _ desk: CodeDesk
    ) async throws {
        do {
            try await desk.redeem("SPRING", of: account(number), method: method)
        } catch is PaymentRefusal {
            // Somebody was faster, or has had the offer.
        } catch let error as PaymentError where error.code == .undecided {
            // What was shown has changed meanwhile.
        }
    }

    @Test func ofManyAtOnceOneGetsAOneTimeCode() async throws {
        try await withCodes(poolSize: 8) { store, desk in
            let code = try await desk.codes()[0]
            #expect(try await redeemAtOnce(code, 8, desk) == 1)
            try await store.settle()
        }
    }

    @Test func aCustomCodeIsNeverRedeemedMoreOftenThanItMay() async throws {
        try await withCodes(poolSize: 8) { store, desk in
            _ = try await desk.word("SPRING", redemptions: 5)
            #expect(try await redeemAtOnce("SPRING", 12, desk) == 5)
            try await store.settle()
            guard case .campaign(let campaign, _) = try await desk.campaigns.campaign(1) else {
                return #expect(Bool(false))
            }
            #expect(campaign.redemptions == 5)
        }
    }

    /// Instances that get one form at once all answer with the payment that one of them makes.
    @Test func aFormThatInstancesGetAtOnceIsOnePayment() async throws {
        try await withCodes(club(code: spring(freeWeek)), poolSize: 8) { store, desk in
            for (number, code) in try await desk.codes(4).enumerated() {
                let ticket = try await desk.ticket(of: Self.account(number))
                let terms = try await desk.terms(of: code, with: ticket)
                let ids = try await withThrowingTaskGroup(of: TransactionID.self) { group in
                    for _ in 0..<8 {
                        group.addTask { try await desk.confirm(terms, code, ticket).id }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(ids.count == 1)
            }
            try await store.settle()
            #expect(try await store.count("transactions") == 4)
        }
    }

    @Test func triesAtOnceDoNotGetAroundTheLimit() async throws {
        try await withCodes(poolSize: 8) { store, desk in
            let count = RedemptionHandler.triesMax + 10
            let unknown = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        guard case .refused = try await desk.type("WRONGCODE") else { return false }
                        return true
                    }
                }
                return try await group.reduce(0) { $1 ? $0 + 1 : $0 }
            }
            #expect(unknown == RedemptionHandler.triesMax)
        }
    }

    // MARK: - Batches

    /// A payment that redeems a code, as a batch gets it.
    private static func submission(
        _ code: String,
        _ number: Int,
        _ terms: CodeTerms
    ) throws -> PaymentSubmission {
        let digest = try #require(CodeDigest(typed: code, in: alice.bundleID))
        return PaymentSubmission(
            account: account(number),
            idempotencyKey: IdempotencyKey(unchecked: "\(number)"),
            request: request("club", price: usd(299)),
            trace: .begin(),
            code: SubmittedCode(digest: digest, confirmed: terms.grant)
        )
    }

    /// Expects that a number of payments was accepted, and all others refused because of their codes.
    private func expect(
        _ accepted: Int,
        of replies: [PaymentReply],
        _ location: SourceLocation = #_sourceLocation
    ) {
        let new = replies.filter {
            if case .accepted(_, isReplay: false) = $0 { true } else { false }
        }
        let used = replies.filter {
            if case .refused(.codeUsed) = $0 { true } else { false }
        }
        #expect(new.count == accepted, sourceLocation: location)
        #expect(used.count == replies.count - accepted, sourceLocation: location)
    }

    /// A batch decides about all of its requests together.
    @Test func aBatchCountsItsOwnRedemptions() async throws {
        try await withCodes { store, desk in
            _ = try await desk.word("SPRING", redemptions: 2)
            let terms = try await desk.terms(of: "SPRING")
            let submissions = try (0..<4).map { try Self.submission("SPRING", $0, terms) }
            expect(2, of: try await store.payments.accept(submissions))
            try await store.settle()
        }
    }

    @Test func aBatchRedeemsAOneTimeCodeOnce() async throws {
        try await withCodes { store, desk in
            let code = try await desk.codes()[0]
            let terms = try await desk.terms(of: code)
            let submissions = try (0..<4).map { try Self.submission(code, $0, terms) }
            expect(1, of: try await store.payments.accept(submissions))
            try await store.settle()
        }
    }

    /// Batches of several instances have the same codes in other orders, and a word beside them.
    @Test func batchesAtOnceRedeemEachCodeOnce() async throws {
        try await withCodes(poolSize: 4) { store, desk in
            let codes = try await desk.codes(20)
            _ = try await desk.word("SPRING", redemptions: 30)
            let terms = try await desk.terms(of: "SPRING")
            let words = Array(repeating: "SPRING", count: 20)
            let replies = try await withThrowingTaskGroup(of: [PaymentReply].self) { group in
                for batch in 0..<4 {
                    let typed = (batch.isMultiple(of: 2) ? codes : codes.reversed()) + words
                    let submissions = try typed.enumerated().map { place, code in
                        try Self.submission(code, batch * 100 + place, terms)
                    }
                    group.addTask { try await store.payments.accept(submissions) }
                }
                return try await group.reduce(into: [PaymentReply]()) { $0 += $1 }
            }
            expect(20 + 30, of: replies)
            try await store.settle()
        }
    }

    /// Any order of redemptions that succeed, fail, wait and are declined leaves true counts.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func countsAreTrueAfterAnyStory(seed: UInt64) async throws {
        try await withCodes(poolSize: 6) { store, desk in
            _ = try await desk.word("SPRING", redemptions: 4)
            let random = Mutex(SeededGenerator(seed: seed))
            func pick(_ range: Range<Int>) -> Int {
                random.withLock { Int.random(in: range, using: &$0) }
            }
            let methods: [SandboxPaymentMethod] = [.success, .decline, .needsApproval]
            for _ in 0..<6 {
                let round = (0..<3).map { _ in (pick(0..<6), methods[pick(0..<3)]) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, method) in round {
                        group.addTask { try await Self.attempt(number, method, desk) }
                    }
                    try await group.waitForAll()
                }
                try await store.settle()
                try await desk.expectCountsAreTrue()
                let waiting = try await store.transactions().filter { $0.state == .deferred }
                if let one = waiting.first {
                    let decision: ApprovalRequest.Decision = pick(0..<2) == 0 ? .approve : .decline
                    _ = try await store.approvals.decide(
                        decision,
                        on: one.id,
                        by: nil,
                        trace: .begin()
                    )
                    try await store.settle()
                }
                try await desk.expectCountsAreTrue()
                #expect(try await store.count("code_redemptions") <= 4)
            }
            #expect(try await store.count("transactions") > 0, "some are redeemed")
        }
    }
}
