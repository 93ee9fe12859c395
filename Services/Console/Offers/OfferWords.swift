import EventTypes

/// An offer in words.
///
/// Pure.
enum OfferWords {
    /// The modes, with the words for them.
    static let modes: [(mode: OfferMode, words: String)] = [
        (.freeTrial, "free"), (.payAsYouGo, "a lower price, paid for each period"),
        (.payUpFront, "a lower price, paid once"),
    ]

    /// The words for a mode.
    static func words(for mode: OfferMode) -> String {
        modes.first { $0.mode == mode }?.words ?? mode.rawValue
    }

    /// The accounts of a kind of customer.
    static func words(for kind: CustomerKind) -> String {
        switch kind {
        case .new: "accounts that never had a subscription in the group"
        case .active: "accounts that have one"
        case .expired: "accounts whose subscription has ended"
        case .unknown(let kind): kind
        }
    }

    /// The parts of an offer: names and values, in a fixed order.
    ///
    /// - Parameter offer: The offer; `nil` if there is none.
    /// - Returns: The parts.
    static func parts(of offer: OfferDraft?) -> [(name: String, value: String)] {
        guard let offer else { return [("offer", "none")] }
        var parts = [("offer", offer.id?.rawValue ?? "there")]
        if offer.kind != .introductory {
            parts.append(("can be had", offer.isActive ? "yes" : "no"))
        }
        if offer.kind == .code {
            let customers = CustomerKind.all.filter(offer.customers.contains)
            parts.append(("for", customers.map { words(for: $0) }.joined(separator: ", ")))
            parts.append(("introductory offer first", offer.isStackable ? "yes" : "no"))
        }
        if offer.kind == .winBack { parts += offer.winBack.parts }
        parts += [
            ("how it is paid", words(for: offer.terms.mode)),
            ("period", PlainWords.period(offer.terms.period)),
            ("periods", "\(offer.terms.numberOfPeriods)"),
        ]
        parts += offer.terms.prices.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { ("price in \($0.key)", "\($0.value)") }
        return parts
    }

    /// The difference between an offer and what is wished for it.
    static func difference(from old: OfferDraft?, to new: OfferDraft?) -> ProductDifference {
        let (before, after) = (parts(of: old), parts(of: new))
        var names = before.map(\.name)
        for part in after where !names.contains(part.name) { names.append(part.name) }
        let lines = names.compactMap { name -> ProductDifference.Line? in
            let one = before.first { $0.name == name }?.value ?? ""
            let other = after.first { $0.name == name }?.value ?? ""
            return one == other ? nil : ProductDifference.Line(part: name, old: one, new: other)
        }
        return ProductDifference(lines)
    }
}
