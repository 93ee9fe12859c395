import EventTypes
import StoreAPI
import StoreHarness
import StripeStandIn
import Synchronization

/// The bank of a chaos run's buyers, which disputes some of their payments and, with Stripe, cannot
/// make some refunds.
///
/// A dispute stays open, is won or lost a second later, or is an inquiry that moves no money. It may be
/// about a purchase, the first period of a subscription, or a renewal. A refund that cannot be made
/// fails two seconds after Stripe has confirmed it.
final class ChaosBank: Sendable {
    /// The course of a dispute.
    private enum Course: String, CaseIterable {
        case won
        case lost
        case open
        case inquiry = "inquired"
    }

    /// Everything that the bank has done.
    private struct Deeds {
        var isClosed = false
        var counts: [DisputeCandidates.Kind: [Course: Int]] = [:]
        var won: Set<TransactionID> = []
        var failedRefunds = 0

        func count(of kind: DisputeCandidates.Kind) -> Int {
            counts[kind, default: [:]].values.reduce(0, +)
        }
    }

    private let buyers: ChaosBuyers
    private let deeds = Mutex(Deeds())

    /// The number of disputes of a kind with which the bank is content, once it is to close.
    ///
    /// Most purchases are finished only after the faults, and the run has to end.
    private static let enough = Course.allCases.count

    init(buyers: ChaosBuyers) { self.buyers = buyers }

    /// The numbers of disputes, by their kind and course.
    var disputes: [String] {
        let counts = deeds.withLock { $0.counts }
        return DisputeCandidates.Kind.allCases.map { kind in
            let courses = Course.allCases.map { "\(counts[kind]?[$0] ?? 0) \($0.rawValue)" }
            return "\(kind.rawValue): " + courses.joined(separator: ", ")
        }
    }

    /// The number of refunds that have failed after they had been confirmed.
    var failedRefunds: Int { deeds.withLock { $0.failedRefunds } }

    /// The payments whose disputes the store has won.
    var won: Set<TransactionID> { deeds.withLock { $0.won } }

    private var isClosed: Bool { deeds.withLock { $0.isClosed } }

    /// Lets ``work()`` end, now that the buyers have finished everything.
    func close() { deeds.withLock { $0.isClosed = true } }

    /// Disputes payments and fails refunds until ``close()``, and then until it has made enough
    /// disputes or has no more payments; every dispute has taken its course then.
    func work() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.dispute() }
            group.addTask { try await self.failRefunds() }
            try await group.waitForAll()
        }
    }

    // MARK: - Disputes

    private func dispute() async throws {
        var number = 0
        while true {
            let isLast = isClosed
            for candidate in buyers.disputable.dropFirst(number) {
                number += 1
                let count = deeds.withLock { $0.count(of: candidate.kind) }
                guard !isClosed || count < Self.enough else { continue }
                let course = Course.allCases[count % Course.allCases.count]
                guard try await begin(course, of: candidate.id) else { continue }
                deeds.withLock { $0.counts[candidate.kind, default: [:]][course, default: 0] += 1 }
                guard course == .won || course == .lost else { continue }
                try await Task.sleep(for: .seconds(1))
                try await end(course, of: candidate.id)
            }
            if isLast { return }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Begins a dispute.
    ///
    /// Whoever has money back, or is to have it, disputes nothing: the bank would take it twice, and a
    /// person has to settle that.
    ///
    /// - Returns: Whether the bank could dispute the payment.
    private func begin(_ course: Course, of id: TransactionID) async throws -> Bool {
        if let server = buyers.store.stripe?.server {
            guard let payment = server.payment(ofTransaction: id.rawValue) else { return false }
            return try server.disputeUnrefunded(payment: payment, isInquiry: course == .inquiry)
        }
        return try await take(course == .inquiry ? .inquire : .open, of: id)
    }

    private func end(_ course: Course, of id: TransactionID) async throws {
        if course == .won { deeds.withLock { _ = $0.won.insert(id) } }
        if let server = buyers.store.stripe?.server {
            guard let payment = server.payment(ofTransaction: id.rawValue) else { return }
            try server.endDispute(of: payment, isWon: course == .won)
        } else {
            _ = try await take(course == .won ? .win : .lose, of: id)
        }
    }

    /// Takes a step at the sandbox's processor, again until it is answered.
    private func take(_ step: TestDisputeRequest.Step, of purchase: TransactionID) async throws
        -> Bool
    {
        try await buyers.untilAnswered("a dispute", by: .payments) { urls in
            try await buyers.administrator(urls).dispute(step, of: purchase)
        }.valueIfAny != nil
    }

    // MARK: - Refunds

    /// Lets some of Stripe's refunds fail; the sandbox's processor has none that fail later.
    private func failRefunds() async throws {
        guard let server = buyers.store.stripe?.server else { return }
        var failing = FailingRefunds()
        while true {
            let isLast = isClosed
            let ids = failing.next(among: server.succeededRefunds)
            // By then the store has booked most of them.
            if !ids.isEmpty { try await Task.sleep(for: .seconds(2)) }
            for id in ids {
                try server.end(refund: id, succeeds: false)
                deeds.withLock { $0.failedRefunds += 1 }
            }
            if isLast { return }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
