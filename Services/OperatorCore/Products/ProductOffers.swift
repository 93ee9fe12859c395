package import EventTypes
package import Foundation

/// All offers of a product: the parts that people change on the page of offers.
package struct ProductOffers: Hashable, Sendable {
    /// The offer to accounts that never had one in the group; `nil` if there is none.
    package var introductory: OfferTerms?
    /// The offers that the merchant's server gives.
    package var promotional: [PromotionalOffer]
    /// The offers that codes give.
    package var codes: [CodeOffer]
    /// The offers to accounts whose subscription has ended.
    package var winBacks: [WinBackOffer]

    /// The offers of a product as they are.
    package init(_ product: Product) {
        introductory = product.introductoryOffer
        promotional = product.promotionalOffers
        codes = product.codeOffers
        winBacks = product.winBackOffers
    }
}

extension ProductEdit {
    /// The product with other offers, as administrators send it.
    package func draft(_ offers: ProductOffers, because reason: ActReason? = nil) throws -> Data {
        try draft { members in
            members["reason"] = reason?.rawValue
            members["introductoryOffer"] = try offers.introductory.map { terms in
                Self.merged(
                    members["introductoryOffer"] as? [String: Any],
                    try Self.encoded(terms)
                )
            }
            for (name, values) in [
                ("promotionalOffers", try offers.promotional.map { try Self.encoded($0) }),
                ("codeOffers", try offers.codes.map { try Self.encoded($0) }),
                ("winBackOffers", try offers.winBacks.map { try Self.encoded($0) }),
            ] {
                let old = members[name] as? [[String: Any]] ?? []
                members[name] = values.map { offer in
                    Self.merged(old.first { $0["id"] as? String == offer["id"] as? String }, offer)
                }
            }
        }
    }

    /// The members of a value, as JSON has them.
    static func encoded(_ value: some Encodable) throws -> [String: Any] {
        let data = try JSONEncoder().encode(value)
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    /// The known members of offers that are missing from one without a value.
    private static let optionalMembers: Set = [
        "monthsSinceEndMax", "waitMonths", "startsAt", "endsAt",
    ]

    /// The members of an offer, with those of the old one that this version does not know.
    private static func merged(_ old: [String: Any]?, _ new: [String: Any]) -> [String: Any] {
        (old ?? [:]).filter { !optionalMembers.contains($0.key) }.merging(new) { $1 }
    }
}
