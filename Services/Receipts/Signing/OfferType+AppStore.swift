import EventTypes

extension OfferType {
    /// Apple's `offerType`; `nil` for a kind that this version does not know.
    var number: Int? {
        switch self {
        case .introductory: 1
        case .promotional: 2
        case .code: 3
        case .winBack: 4
        case .unknown: nil
        }
    }
}
