import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// Buyers' requests for refunds: the routes of `payments` to read and decide them, and the merchant's
/// report at `receipts`.
extension StoreDesk {
    /// A page of requests, the oldest first.
    func refundRequests(
        _ query: RefundRequestQuery,
        token: String
    ) async throws -> RefundRequestsResponse {
        try await connection(to: .payments, token: token).send(
            .GET,
            Routes.adminRefundRequests,
            StoreConnection.Content(query: query.parameters),
            as: RefundRequestsResponse.self
        )
    }

    /// A request, and its purchase.
    func refundRequest(
        _ number: Int,
        of id: TransactionID,
        token: String
    ) async throws -> RefundRequestResponse {
        try await connection(to: .payments, token: token).send(
            .GET,
            Routes.adminRefundRequest(id, number),
            as: RefundRequestResponse.self
        )
    }

    /// The report of the merchant's server on a purchase.
    ///
    /// A request can be decided without it, so nothing is thrown.
    func consumptionReport(
        on id: TransactionID,
        token: String
    ) async -> RefundRequestPage.Report {
        do {
            return .read(
                try await connection(to: .receipts, token: token).send(
                    .GET,
                    Routes.consumptionReport(id),
                    as: ConsumptionInformation.self
                )
            )
        } catch {
            switch error.status {
            case 403?: return .hidden
            case 404?: return .missing
            default: return .unknown(PlainWords.firstLine(error.description))
            }
        }
    }

    /// Decides a request.
    ///
    /// Repeating a decision changes nothing, because it names the request.
    func decide(
        _ decision: RefundDecisionRequest,
        on number: Int,
        of id: TransactionID,
        token: String
    ) async throws {
        _ = try await connection(to: .payments, token: token).send(
            .POST,
            Routes.refundDecision(id, number),
            .json(decision)
        )
    }
}
