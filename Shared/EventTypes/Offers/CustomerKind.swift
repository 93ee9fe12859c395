/// The kind of a customer by what it has, or had, in a product's group (rule S54 of
/// docs/subscriptions.md).
public enum CustomerKind: OpenEnum {
    /// An account that never had a subscription in the group.
    case new
    /// An account whose subscription runs, in grace and in billing retry too.
    case active
    /// An account whose subscription has ended.
    case expired
    /// A kind that only a newer version of the store knows.
    case unknown(String)

    /// All kinds that this version knows.
    public static let all: [CustomerKind] = [.new, .active, .expired]

    /// Recognizes a kind.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        self = Self.all.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
    }

    /// The kind in its wire format.
    public var rawValue: String {
        switch self {
        case .new: "new"
        case .active: "active"
        case .expired: "expired"
        case .unknown(let rawValue): rawValue
        }
    }
}
