/// The way in which a period's offer counts for the introductory offer of its buyer (rules S48 and S55
/// of docs/subscriptions.md).
public enum IntroductoryUse: OpenEnum {
    /// The buyer has the introductory offer first, and the offer of the code after it.
    case comesFirst
    /// The offer of the code takes its place: the buyer gets no introductory offer in the group any more.
    case usedUp
    /// The introductory offer itself, which the merchant's server lets a buyer have once more.
    case again
    /// An effect that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes an effect.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "comesFirst": self = .comesFirst
        case "usedUp": self = .usedUp
        case "again": self = .again
        default: self = .unknown(rawValue)
        }
    }

    /// The effect in its wire format.
    public var rawValue: String {
        switch self {
        case .comesFirst: "comesFirst"
        case .usedUp: "usedUp"
        case .again: "again"
        case .unknown(let rawValue): rawValue
        }
    }
}
