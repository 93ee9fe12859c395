import EventTypes
import StoreAPI
import StoreHarness
import StripeStandIn
import Synchronization

/// The bank of a chaos run's buyers, which disputes some of their purchases.
///
/// A dispute stays open, is won or lost a second later, or is an inquiry that moves no money.
final class ChaosBank: Sendable {
    /// The course of a dispute.
    private enum Course: String, CaseIterable {
        case won
        case lost
        case open
        case inquiry = "inquired"
    }

    private let buyers: ChaosBuyers
    private let counts = Mutex<[Course: Int]>([:])
    private let isClosed = Mutex(false)

    /// The number of disputes with which the bank is content, once it is to close.
    ///
    /// Most purchases are finished only after the faults, and the run has to end.
    private static let enough = 12

    init(buyers: ChaosBuyers) { self.buyers = buyers }

    /// The numbers of disputes, by their course.
    var summary: String {
        let counts = counts.withLock { $0 }
        return Course.allCases.map { "\(counts[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", ")
    }

    private var count: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// Lets ``dispute()`` end, now that the buyers have finished everything.
    func close() { isClosed.withLock { $0 = true } }

    /// Disputes purchases until ``close()``, and then until it has made enough disputes or has no
    /// more purchases; every dispute has taken its course then.
    func dispute() async throws {
        var number = 0
        while true {
            let isLast = isClosed.withLock { $0 }
            for purchase in buyers.disputable.dropFirst(number) {
                guard !isClosed.withLock({ $0 }) || count < Self.enough else { return }
                let course = Course.allCases[number % Course.allCases.count]
                number += 1
                guard try await begin(course, of: purchase) else { continue }
                counts.withLock { $0[course, default: 0] += 1 }
                guard course == .won || course == .lost else { continue }
                try await Task.sleep(for: .seconds(1))
                try await end(course, of: purchase)
            }
            if isLast { return }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Begins a dispute.
    ///
    /// - Returns: Whether the bank could dispute the purchase.
    private func begin(_ course: Course, of purchase: TransactionID) async throws -> Bool {
        if let server = buyers.store.stripe?.server {
            guard let payment = server.payment(ofTransaction: purchase.rawValue) else {
                return false
            }
            try server.dispute(payment: payment, isInquiry: course == .inquiry)
            return true
        }
        return try await take(course == .inquiry ? .inquire : .open, of: purchase)
    }

    private func end(_ course: Course, of purchase: TransactionID) async throws {
        if let server = buyers.store.stripe?.server {
            guard let payment = server.payment(ofTransaction: purchase.rawValue) else { return }
            try server.endDispute(of: payment, isWon: course == .won)
        } else {
            _ = try await take(course == .won ? .win : .lose, of: purchase)
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
}
