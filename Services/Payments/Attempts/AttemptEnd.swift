import EventTypes

/// The end of an attempt.
///
/// The raw values are stored in the table.
enum AttemptEnd: RawRepresentable, Hashable, Sendable {
    case charged
    case refunded
    case reversed
    /// The account owned the product already, so nothing was charged.
    case granted
    case failed(FailureReason)

    init(rawValue: String) {
        self =
            switch rawValue {
            case "charged": .charged
            case "refunded": .refunded
            case "reversed": .reversed
            case "granted": .granted
            default: .failed(FailureReason(rawValue: rawValue))
            }
    }

    var rawValue: String {
        switch self {
        case .charged: "charged"
        case .refunded: "refunded"
        case .reversed: "reversed"
        case .granted: "granted"
        case .failed(let reason): reason.rawValue
        }
    }
}
