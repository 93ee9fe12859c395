public import EventTypes
import Foundation
import NIOHTTP1
public import StoreAPI

extension StoreClient {
    /// Asks for the page on which the buyer of a transaction has to act.
    public func action(
        of id: TransactionID
    ) async throws -> StoreAnswer<BuyerActionResponse> {
        try await StoreAnswer.of(raw(.GET, urls.payments + Routes.action(of: id)))
    }

    /// Asks for the page on which the buyer of a subscription has to act, to pay what is owed.
    public func action(
        ofSubscription id: TransactionID
    ) async throws -> StoreAnswer<BuyerActionResponse> {
        try await StoreAnswer.of(raw(.GET, urls.payments + Routes.action(ofSubscription: id)))
    }

    /// Decides on a page of the sandbox's processor, or of the stand-in for Stripe.
    @discardableResult
    public func decide(
        _ decision: SandboxActionRequest.Decision,
        on page: BuyerActionResponse
    ) async throws -> StoreResponse {
        guard page.url.hasPrefix("/") else {
            let button = decision == .complete ? "complete" : "fail"
            // The stand-in sends the buyer back to an app that does not exist.
            return try await StoreHTTP.send(.POST, "\(page.url)/\(button)")
        }
        let body = try JSONEncoder().encode(SandboxActionRequest(decision: decision))
        return try await raw(.POST, urls.payments + page.url, body: Array(body))
    }
}
