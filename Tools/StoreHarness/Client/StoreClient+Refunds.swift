public import EventTypes
public import Foundation
import NIOHTTP1
public import StoreAPI

extension StoreClient {
    /// Asks for a refund of a purchase.
    public func askForRefund(
        of id: TransactionID,
        because reason: RefundReason = .other,
        key: String = UUID().uuidString
    ) async throws -> StoreAnswer<BuyerRefundResponse> {
        try await StoreAnswer.of(
            raw(
                .POST,
                urls.payments + Routes.refundRequests(of: id),
                body: Array(try JSONEncoder().encode(BuyerRefundRequest(reason: reason))),
                headers: [("content-type", "application/json"), ("idempotency-key", key)]
            )
        )
    }
}

extension StoreAdministrator {
    /// Approves or declines a buyer's request for a refund.
    public func decide(
        _ decision: RefundDecisionRequest.Decision,
        on number: Int,
        of id: TransactionID
    ) async throws -> StoreAnswer<RefundRequestResponse> {
        try await send(
            .POST,
            urls.payments + Routes.refundDecision(id, number),
            // Nobody may decline without a reason.
            RefundDecisionRequest(decision: decision, reason: ActReason(rawValue: "Asked for"))
        )
    }
}
