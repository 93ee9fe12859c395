import EventTypes
import StoreTracing
import Testing

@testable import Payments

extension Store {
    /// Turns auto-renew off and lets the running period end.
    func lapse(days: Int = 31) async throws {
        let id = try await subscription().id
        _ = try await subscriptions.decide(.autoRenew(false), on: id, trace: .begin())
        try await advance(days: days)
        #expect(try await subscription().state == .expired)
    }

    /// Expects that the ledger balances and that the audit of the subscription finds nothing.
    func expectNothingLost(_ location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await booksBalance(), sourceLocation: location)
        #expect(try await auditFindings() == [], sourceLocation: location)
    }
}
