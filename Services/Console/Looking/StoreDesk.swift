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
    /// The databases, as a role that may decide about dead letters.
    let deciding: DatabaseAddresses

    var reader: StoryReader { StoryReader(databases: databases) }

    /// The story of a purchase.
    ///
    /// - Throws: ``ConsoleProblem`` if there is no such transaction; `OperatorError` if a database
    ///   cannot be read.
    func story(of id: TransactionID) async throws -> Story {
        guard let story = try await reader.story(of: id, .now()) else {
            throw ConsoleProblem(
                404,
                "There is no such purchase",
                "The store knows no transaction \(id)."
            )
        }
        return story
    }

    /// The story of an account with the purchases before one, the things that it has unless these are
    /// older ones, the money of these purchases, and the store's time.
    ///
    /// - Throws: ``ConsoleProblem`` if the store knows nothing of the account; `OperatorError` if a
    ///   database cannot be read.
    func account(
        _ account: AccountID,
        before id: TransactionID? = nil
    ) async throws -> (
        story: AccountStory, holdings: AccountHoldings?, money: AccountMoney, now: StoreTime
    ) {
        let found = try await reader.story(of: account, before: id, limit: Self.purchasesMax)
        let now = try await reader.storeTime()
        // A page of older purchases is about these alone.
        let holdings =
            id == nil
            ? try await AccountHoldingsReader(databases: databases).holdings(of: account, at: now)
            : nil
        guard let story = Self.story(found, of: account, beside: holdings) else {
            throw ConsoleProblem(
                404,
                "There is no such account",
                "The store knows nothing of an account \(account)."
            )
        }
        let money = try await AccountMoneyReader(databases: databases)
            .money(of: story.purchases.map(\.transactionID))
        return (story, holdings, money, now)
    }

    /// The story to show; `nil` if the store knows nothing of the account.
    ///
    /// An account that has bought nothing may be in a family, or may have begun a purchase outside the app,
    /// or somebody has set whether it may pay.
    static func story(
        _ found: AccountStory?,
        of account: AccountID,
        beside holdings: AccountHoldings?
    ) -> AccountStory? {
        if let found { return found }
        guard let holdings, !holdings.isEmpty else { return nil }
        return AccountStory(withoutPurchasesOf: account)
    }

    /// The store's time.
    func storeTime() async throws -> StoreTime { try await reader.storeTime() }

    /// A transaction, as `payments` has it now.
    func transaction(_ id: TransactionID, token: String) async throws -> Transaction {
        try await payments(token).send(
            .GET,
            "\(Routes.adminTransactions)/\(id)",
            as: TransactionResponse.self
        ).transaction
    }

    /// Refunds what is left of a purchase, or a part of it.
    func refund(
        _ id: TransactionID,
        _ request: RefundRequest,
        key: IdempotencyKey,
        token: String
    ) async throws {
        let content = try StoreConnection.Content.json(
            request,
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

    /// Sends the webhooks of a transaction to the merchant again.
    func resendWebhooks(of id: TransactionID, token: String) async throws {
        _ = try await connection(to: .fulfillment, token: token).send(.POST, Routes.webhooks(id))
    }

    /// Goes on with a payment that was interrupted, by a method that succeeds; a sandbox alone does.
    func resume(_ id: TransactionID, token: String) async throws {
        _ = try await payments(token).send(.POST, Routes.resumption(id))
    }

    private func payments(_ token: String) -> StoreConnection {
        connection(to: .payments, token: token)
    }

    /// Whether the store is a sandbox; `false` also if `payments` does not say so at once.
    func isSandbox() async -> Bool {
        struct Answer: Decodable {
            let environment: String
        }
        let payments = connection(to: .payments, token: nil)
        // A page that cannot know it offers nothing of a sandbox.
        let answer = try? await payments.send(
            .GET,
            "/health/environment",
            timeout: .seconds(2)
        )
        let environment = answer.flatMap { try? JSONDecoder().decode(Answer.self, from: $0) }
        return environment?.environment == "Sandbox"
    }

    /// A connection to a service.
    func connection(to service: OperatedService, token: String?) -> StoreConnection {
        StoreConnection(
            service: service.rawValue,
            baseURL: urls[service] ?? service.defaultURL,
            token: token
        )
    }
}
