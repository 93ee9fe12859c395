import ClockAndIDs
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The store as the console uses it: the books to look into, and the services to ask for acts.
struct StoreDesk: Sendable {
    /// The most purchases on the page of an account.
    static let purchasesMax = 50

    let urls: [OperatedService: String]
    let databases: DatabaseAddresses

    private var reader: StoryReader { StoryReader(databases: databases) }

    /// The story of a purchase.
    ///
    /// - Throws: ``ConsoleProblem`` if there is no such transaction; `OperatorError` if a database
    ///   cannot be read.
    func story(of id: TransactionID) async throws -> Story {
        guard let story = try await reader.story(of: id, at: try await reader.storeTime(), .now())
        else {
            throw ConsoleProblem(
                404,
                "There is no such purchase",
                "The store knows no transaction \(id)."
            )
        }
        return story
    }

    /// The story of an account, and the store's time.
    func story(of account: AccountID) async throws -> (AccountStory, StoreTime) {
        guard let story = try await reader.story(of: account, limit: Self.purchasesMax) else {
            throw ConsoleProblem(
                404,
                "There is no such account",
                "No account \(account) has bought anything."
            )
        }
        return (story, try await reader.storeTime())
    }

    /// The path of what a search finds; `nil` if it finds nothing.
    func path(of text: SearchText) async throws -> String? {
        for id in text.transactions where try await reader.knows(id) { return "/purchases/\(id)" }
        if let account = text.account, try await reader.story(of: account, limit: 1) != nil {
            return PlainWords.path(ofAccount: account.rawValue)
        }
        return nil
    }

    /// The order of a transaction, as its receipt names it.
    ///
    /// A renewal has an order of its own. A copy has that of its original.
    func order(of id: TransactionID, token: String) async throws -> OrderID {
        let answer = try await payments(token).send(
            .GET,
            "\(Routes.adminTransactions)/\(id)",
            as: TransactionResponse.self
        )
        let transaction = answer.transaction
        return transaction.reason.order(of: id) ?? OrderID(transaction.originalID)
    }

    /// Refunds what is left of a purchase.
    func refund(
        _ id: TransactionID,
        key: IdempotencyKey,
        reason: ActReason,
        token: String
    ) async throws {
        let content = try StoreConnection.Content.json(
            RefundRequest(reason: reason),
            headers: [("Idempotency-Key", key.rawValue)]
        )
        _ = try await payments(token).send(.POST, Routes.refund(id), content)
    }

    /// Approves or declines a deferred purchase.
    func decide(
        _ id: TransactionID,
        _ decision: ApprovalRequest.Decision,
        reason: ActReason,
        token: String
    ) async throws {
        let content = try StoreConnection.Content.json(
            ApprovalRequest(decision: decision, reason: reason)
        )
        _ = try await payments(token).send(.POST, Routes.approval(id), content)
    }

    private func payments(_ token: String) -> StoreConnection {
        StoreConnection(
            service: "payments",
            baseURL: urls[.payments] ?? OperatedService.payments.defaultURL,
            token: token
        )
    }
}
