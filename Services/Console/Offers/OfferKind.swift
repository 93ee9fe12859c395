/// A kind of offers of a subscription.
enum OfferKind: String, CaseIterable, Sendable {
    /// For accounts that never had one in the group; a product has one at most.
    case introductory
    /// Given by the merchant's server to accounts that have, or had, a subscription.
    case promotional
    /// Given by codes.
    case code
    /// For accounts whose subscription has ended.
    case winBack

    /// The heading of the kind's offers.
    var title: String {
        switch self {
        case .introductory: "Introductory offer"
        case .promotional: "Promotional offers"
        case .code: "Code offers"
        case .winBack: "Win-back offers"
        }
    }

    /// The accounts that may have them.
    var words: String {
        switch self {
        case .introductory: "For accounts that never had one in the group."
        case .promotional:
            "The merchant’s server gives them to accounts that have, or had, a subscription."
        case .code: "Accounts get them by redeeming codes. Make the codes on the page Codes."
        case .winBack: "For accounts whose subscription has ended."
        }
    }
}
