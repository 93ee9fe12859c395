/// The place of a win-back offer among those that an account may have.
public enum OfferPriority: OpenEnum {
    /// The offer comes before those of normal priority.
    case high
    /// The offer comes after those of high priority.
    case normal
    /// A priority that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a priority.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "high": self = .high
        case "normal": self = .normal
        default: self = .unknown(rawValue)
        }
    }

    /// The priority in its wire format.
    public var rawValue: String {
        switch self {
        case .high: "high"
        case .normal: "normal"
        case .unknown(let rawValue): rawValue
        }
    }
}
