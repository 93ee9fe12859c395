import EventTypes

extension OfferMode {
    /// Apple's `offerDiscountType`; `nil` for a mode that this version does not know.
    var discountType: String? {
        switch self {
        case .freeTrial: "FREE_TRIAL"
        case .payAsYouGo: "PAY_AS_YOU_GO"
        case .payUpFront: "PAY_UP_FRONT"
        case .unknown: nil
        }
    }
}
