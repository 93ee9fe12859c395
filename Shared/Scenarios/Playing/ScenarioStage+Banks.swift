import NIOHTTP1
import PaymentQueue
import StoreAPI

/// The steps of buyers at their banks.
extension ScenarioStage {
    /// The pause before a page is asked for again: an account may ask twice a second.
    private static let pagePause = Duration.milliseconds(600)

    /// The refusal of a question for a page that there is not, or not yet.
    private static let noPage = "no_action_needed"

    /// Decides about a charge on the page of the buyer's bank.
    ///
    /// - Parameters:
    ///   - decision: The decision.
    ///   - payment: The payment that waits for its buyer.
    ///   - code: The code with which the store has to refuse the question for the page, or the
    ///     decision; `nil` if it has to accept both.
    /// - Throws: An error that says what happened instead.
    func decide(
        _ decision: SandboxActionRequest.Decision,
        onPageOf payment: PlayedPayment,
        refused code: String?
    ) async throws {
        if code == Self.noPage {
            let page = try await bankPage(of: payment)
            return try Self.judge(page == nil ? Self.noPage : nil, refused: code)
        }
        let page = try await connection.wait.until("a page for '\(payment.name)'") {
            () -> String? in
            if let page = try await bankPage(of: payment) { return page }
            try await Task.sleep(for: Self.pagePause)
            return nil
        }
        guard page.hasPrefix(Routes.sandboxActions) else {
            throw StepFailure("the page is none of a sandbox: \(page)")
        }
        do {
            try await connection.send(
                .POST,
                connection.store.addresses.payments + page,
                by: .nobody,
                SandboxActionRequest(decision: decision)
            )
        } catch let refusal as ScenarioConnection.Refusal where refusal.code == code {
            return
        }
        try Self.judge(nil, refused: code)
        // As after the way back from a page, the question has the store look at the decision.
        _ = try await bankPage(of: payment)
    }

    /// Takes a step of a dispute about a payment.
    func dispute(
        _ payment: PlayedPayment,
        _ step: TestDisputeRequest.Step,
        refused: String?
    ) async throws {
        try await ask(
            Routes.testDispute(payment.accepted),
            TestDisputeRequest(step: step),
            refused: refused
        )
    }

    /// The page on which the buyer of a payment has to act now; `nil` if there is none.
    private func bankPage(of payment: PlayedPayment) async throws -> String? {
        let path = try Routes.action(of: payment.accepted)
        do {
            return try await connection.send(
                .GET,
                connection.store.addresses.payments + path,
                by: .account(payment.account),
                as: BuyerActionResponse.self
            ).url
        } catch let refusal as ScenarioConnection.Refusal where refusal.code == Self.noPage {
            return nil
        }
    }
}
