import EventTypes
import HTTPTypes
import ServiceKit

extension RefundRequestRefusal {
    /// The HTTP problem of the refusal.
    func problem(of transaction: Transaction) -> HTTPProblem {
        switch self {
        case .alreadyOpen:
            HTTPProblem(
                .conflict,
                code: "refund_requested",
                title: "A refund is requested already",
                detail: "The purchase has an open request for a refund. Wait until it is decided."
            )
        case .nothingToRefund:
            HTTPProblem(
                .conflict,
                code: "nothing_to_refund",
                title: "Nothing is left to refund",
                detail: transaction.price.isZero
                    ? "The purchase cost nothing."
                    : "Everything that was paid is refunded or about to be."
            )
        case .tooMany(let max):
            HTTPProblem(
                .conflict,
                code: "too_many_refund_requests",
                title: "The purchase has too many requests",
                detail: """
                    A purchase can have \(max) requests at most. An administrator can still refund \
                    it without one.
                    """
            )
        case .keyReused: .idempotencyKeyReused
        case .decidedOtherwise:
            HTTPProblem(
                .conflict,
                code: "decided_otherwise",
                title: "The request was decided otherwise",
                detail: """
                    The first decision on a request counts. Refund a further part without a request, \
                    or reverse the refund that was made.
                    """
            )
        case .refundFailed(let number):
            HTTPProblem(
                .conflict,
                code: "refund_failed",
                title: "The processor could not make the refund",
                detail: """
                    No money moved for refund \(number). Approve the request again to try once more.
                    """
            )
        case .alreadyRefunded:
            HTTPProblem(
                .conflict,
                code: "already_refunded",
                title: "The purchase is refunded",
                detail:
                    "The buyer has the money or is about to get it. Approve the request instead."
            )
        case .reasonMissing:
            .badRequest(
                "reason_missing",
                "The reason is missing",
                "Send a reason: a request for a refund cannot be declined without one."
            )
        case .transaction(let refusal): refusal.problem(of: transaction)
        }
    }
}
