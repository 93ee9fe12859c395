import EventTypes
import HTTPTypes
import ServiceKit

extension TransactionRefusal {
    /// The HTTP problem of the refusal.
    func problem(of transaction: Transaction) -> HTTPProblem {
        let detail = "The transaction is \(transaction.state), which this does not fit."
        switch self {
        case .notPurchased:
            return HTTPProblem(
                .conflict,
                code: "not_purchased",
                title: "Only a purchase can be refunded",
                detail: detail
            )
        case .decidedOtherwise:
            return HTTPProblem(
                .conflict,
                code: "decided_otherwise",
                title: "The approver has said the opposite",
                detail: "The first word on an approval counts; it cannot be taken back."
            )
        case .notDeferred:
            return HTTPProblem(
                .conflict,
                code: "not_deferred",
                title: "The transaction waits for no approval",
                detail: detail
            )
        case .notInterrupted:
            return HTTPProblem(
                .conflict,
                code: "not_interrupted",
                title: "Only an interrupted payment is taken up again",
                detail: detail
            )
        case .ended, .chargeIsStray, .stateUnknown:
            return HTTPProblem(
                .conflict,
                code: "transaction_ended",
                title: "The transaction has ended otherwise",
                detail: detail
            )
        }
    }
}
