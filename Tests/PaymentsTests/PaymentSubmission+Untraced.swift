public import EventTypes
import ServiceKit
import StoreAPI
import StoreTracing

@testable import Payments

// Makes requests for tests that are not about traces; each request begins its own trace.

extension PaymentSubmission {
    init(account: AuthenticatedAccount, idempotencyKey: String, request: PaymentRequest) {
        self.init(
            account: account,
            idempotencyKey: IdempotencyKey(unchecked: idempotencyKey),
            request: request,
            trace: .begin()
        )
    }
}

extension PaymentHandler {
    func accept(_ submissions: [PaymentSubmission]) async throws -> [PaymentReply] {
        try await accept(submissions.map { entry(for: $0) })
    }
}

extension ApprovalHandler {
    func decide(
        _ decision: ApprovalRequest.Decision,
        on id: TransactionID,
        by act: Act? = nil
    ) async throws -> AdminReply {
        try await decide(decision, on: id, by: act, trace: .begin())
    }
}

extension RefundHandler {
    func beginRefund(
        of id: TransactionID,
        _ terms: RefundTerms = RefundTerms()
    ) async throws -> AdminReply {
        try await beginRefund(of: id, terms, trace: .begin())
    }

    func refund(_ id: TransactionID, _ terms: RefundTerms = RefundTerms()) async throws
        -> AdminReply
    {
        try await refund(id, terms, trace: .begin())
    }

    func beginReversal(of number: Int, of id: TransactionID) async throws -> AdminReply {
        try await beginReversal(of: number, of: id, by: nil, trace: .begin())
    }

    func reverseRefund(
        _ number: Int,
        of id: TransactionID,
        by act: Act? = nil
    ) async throws -> AdminReply {
        try await reverseRefund(number, of: id, by: act, trace: .begin())
    }
}

extension ResumptionHandler {
    func resume(_ id: TransactionID, by method: PaymentMethod) async throws -> ResumptionReply {
        try await resume(id, by: method, trace: .begin())
    }
}

extension RestoreHandler {
    func restore(
        _ request: RestoreRequest,
        _ account: AuthenticatedAccount,
        key: String
    ) async throws -> RestoreReply {
        try await restore(
            request,
            account,
            key: IdempotencyKey(unchecked: key),
            trace: .begin()
        )
    }
}

extension AccountHandler {
    func change(
        _ id: AccountID,
        _ change: AccountChangeRequest
    ) async throws -> Result<Account, AccountRefusal> {
        let act = Act(decidedBy: AdministratorName(unchecked: "mia"))
        return try await self.change(id, change, by: act, trace: .begin())
    }

    func begin(
        _ request: PurchaseIntentRequest,
        for id: AccountID,
        idempotencyKey: String
    ) async throws -> Result<PurchaseIntent, AccountRefusal> {
        try await begin(
            request,
            for: id,
            idempotencyKey: IdempotencyKey(unchecked: idempotencyKey),
            trace: .begin()
        )
    }

    func decline(
        _ id: PurchaseIntentID,
        by key: AccountKey
    ) async throws -> Result<Account, AccountRefusal> {
        try await decline(id, by: key, trace: .begin())
    }
}

// Keys and references as literals.

extension IdempotencyKey: ExpressibleByStringLiteral {
    /// Wraps a key that stands in a test.
    public init(stringLiteral key: String) { self.init(unchecked: key) }
}

extension ProcessorReference: ExpressibleByStringLiteral {
    init(stringLiteral reference: String) { self.init(rawValue: reference) }
}
