/// A kind of request whose answer is lost on its way.
public enum DroppedAnswer: String, CaseIterable, Sendable {
    /// A device's payment.
    case payment
    /// A device's restore.
    case restore
    /// A device's finish.
    case finish
    /// The merchant's refund.
    case refund
    /// The reversal of a refund.
    case reversal
    /// The parent's decision.
    case approval
    /// The resumption of an interrupted payment.
    case resumption

    /// The part of the request's first line by which a proxy recognizes it.
    public var requestLine: String {
        switch self {
        case .payment: "POST /v1/payments HTTP"
        case .restore: "POST /v1/restores HTTP"
        case .finish: "/finish HTTP"
        case .refund: "/refund HTTP"
        case .reversal: "/reversal HTTP"
        case .approval: "/approval HTTP"
        case .resumption: "/resumption HTTP"
        }
    }

    /// Whether `fulfillment` answers the request; `payments` answers all others.
    public var isOfFulfillment: Bool { self == .finish }
}
