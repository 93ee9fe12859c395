import EventTypes
import HTTPTypes
import ServiceKit

extension TransactionRefusal {
    /// The HTTP problem of the refusal.
    func problem(of transaction: Transaction) -> HTTPProblem {
        let state = "Its state is \(transaction.state)."
        switch self {
        case .notPurchased:
            return HTTPProblem(
                .conflict,
                code: "not_purchased",
                title: "Only a purchase can be refunded",
                detail: "\(state) Only a transaction in the state purchased can be refunded."
            )
        case .isShared:
            return HTTPProblem(
                .conflict,
                code: "family_shared",
                title: "The transaction is shared by the family",
                detail: "It cost nothing. Refund the purchase that it shares, or change the family."
            )
        case .isCopy:
            return HTTPProblem(
                .conflict,
                code: "transaction_is_copy",
                title: "A copy is not refunded",
                detail: """
                    The transaction gave the buyer an earlier purchase again, and nobody paid it. \
                    Refund that purchase: \(transaction.originalID).
                    """
            )
        case .refundTooLarge, .refundNotPositive, .refundInOtherCurrency, .nothingToRefund,
            .tooManyRefunds, .refundUnknown, .refundNotSettled, .refundKeyReused,
            .refundFailed, .reversalFailed, .refundIsDisputed:
            return refundProblem(of: transaction)
        case .decidedOtherwise:
            return HTTPProblem(
                .conflict,
                code: "decided_otherwise",
                title: "The approver has already decided otherwise",
                detail: "The first decision on an approval counts; it cannot be taken back."
            )
        case .notDeferred:
            return HTTPProblem(
                .conflict,
                code: "not_deferred",
                title: "The transaction waits for no approval",
                detail: "\(state) Only a deferred transaction is approved or declined."
            )
        case .notInterrupted:
            return HTTPProblem(
                .conflict,
                code: "not_interrupted",
                title: "Only an interrupted payment can be resumed",
                detail: "\(state) It has to be failed, with the reason interrupted."
            )
        case .ended, .chargeIsStray, .notPurchasing, .stateUnknown:
            return HTTPProblem(
                .conflict,
                code: "transaction_ended",
                title: "The transaction has ended otherwise",
                detail: "\(state) Read it again before you decide anything else about it."
            )
        }
    }

    /// The problem of a refusal that is about the amount, the key or the number of a refund.
    private func refundProblem(of transaction: Transaction) -> HTTPProblem {
        switch self {
        case .refundTooLarge(let rest):
            HTTPProblem(
                .conflict,
                code: "refund_too_large",
                title: "The refund is more than the rest of the price",
                detail: rest.isZero
                    ? "Everything that was paid is refunded or about to be."
                    : "At most \(rest) can be refunded."
            )
        case .refundNotPositive:
            .badRequest(
                "refund_not_positive",
                "The amount to refund is not positive",
                "Name an amount above zero, or none to refund the rest."
            )
        case .refundInOtherCurrency:
            .badRequest(
                "wrong_currency",
                "The currency is wrong",
                "Name the amount in \(transaction.price.currency), the currency of the purchase."
            )
        case .nothingToRefund:
            HTTPProblem(
                .conflict,
                code: "nothing_to_refund",
                title: "Nothing is left to refund",
                detail: """
                    The purchase is refunded in full, and the buyer keeps the product. To take it \
                    away, reverse a refund and refund again.
                    """
            )
        case .tooManyRefunds(let max):
            HTTPProblem(
                .conflict,
                code: "too_many_refunds",
                title: "The transaction has too many refunds",
                detail: "A transaction has at most \(max) refunds, reversed ones included."
            )
        case .refundNotSettled(let number):
            HTTPProblem(
                .conflict,
                code: "refund_not_settled",
                title: "The refund is not confirmed yet",
                detail: "The processor has not confirmed refund \(number). Ask again later."
            )
        default: processedRefundProblem
        }
    }

    /// The problem of a refusal that is about what the processor, or the buyer's bank, did.
    private var processedRefundProblem: HTTPProblem {
        switch self {
        case .refundFailed(let number):
            HTTPProblem(
                .conflict,
                code: "refund_failed",
                title: "The processor could not make the refund",
                detail: """
                    No money moved for refund \(number). To try again, send the request with another \
                    Idempotency-Key.
                    """
            )
        case .reversalFailed(let number):
            HTTPProblem(
                .conflict,
                code: "reversal_failed",
                title: "The processor could not reverse the refund",
                detail: "The buyer keeps the money of refund \(number). Nothing was booked."
            )
        case .refundIsDisputed(let number):
            HTTPProblem(
                .conflict,
                code: "refund_disputed",
                title: "The buyer's bank took the money",
                detail: """
                    Refund \(number) is a dispute. The store reverses it by itself if it wins the \
                    dispute.
                    """
            )
        case .refundKeyReused: .idempotencyKeyReused
        default: .refundUnknown
        }
    }
}
