package import EventTypes

/// Offers in plain words.
extension SubscriptionWords {
    /// The offer of a period, after its price; empty for the ordinary price.
    static func offerText(_ offer: PeriodOffer?) -> String {
        guard let offer else { return "" }
        return " with the \(name(of: offer)), period \(offer.number) of \(offer.numberOfPeriods)"
    }

    /// The offers of a transaction, after its price; empty if there are none.
    ///
    /// - Parameters:
    ///   - period: The period that the transaction pays for; `nil` if it pays for none.
    ///   - campaign: The number of the campaign whose code was redeemed; `nil` without a code.
    /// - Returns: The offer of the period, one that begins later, and the campaign.
    static func offerText(of period: TransactionPeriod?, from campaign: Int64?) -> String {
        var text = offerText(period?.offer)
        if let later = period?.redeems { text += ", redeems the \(name(of: later)) for later" }
        if let campaign { text += ", by a code of campaign \(campaign)" }
        return text
    }

    /// The kind of an offer and its id, if it has one.
    package static func name(of offer: PeriodOffer) -> String {
        let type = offer.type == .winBack ? "win-back" : offer.type.rawValue
        let again = offer.introductory == .again ? " that the merchant's server gave once more" : ""
        return "\(type) offer" + (offer.id.map { " \($0)" } ?? "") + again
    }
}
