import EventTypes

/// Reads the win-back offers of subscriptions.
extension ProductDraftReader {
    private static let winBackNames: Set = [
        "priority", "paidMonths", "monthsSinceEnd", "monthsSinceEndMax", "waitMonths", "startsAt",
        "endsAt",
    ]

    /// Reads the win-back offers of a subscription, which no other type has.
    mutating func winBackOffers(
        _ json: JSONValue?,
        of type: ProductType?,
        _ terms: SubscriptionTerms?,
        meeting ordinary: [Storefront: Money]
    ) -> [WinBackOffer]? {
        let name = "winBackOffers"
        let read = namedOffers(json, name, of: type, terms, ordinary, with: Self.winBackNames)
        guard let read else { return nil }
        let offers = read.map { winBackOffer($0) }
        checkActive(
            offers.count(where: \.isActive),
            in: name,
            max: OfferRules.activeWinBackCountMax
        )
        return offers
    }

    private mutating func winBackOffer(_ offer: NamedOffer) -> WinBackOffer {
        func path(_ name: String) -> String { "\(offer.field).\(name)" }
        func value(_ name: String) -> JSONValue? {
            offer.members[name].flatMap { $0 == .null ? nil : $0 }
        }
        let paid = integer(value("paidMonths"), path("paidMonths"), in: 1...60).map { Int($0) } ?? 1
        if !OfferRules.paidMonths.contains(paid) {
            note(path("paidMonths"), "is \(paid); it must be from 1 to 24, 36, 48 or 60")
        }
        let since = integer(value("monthsSinceEnd"), path("monthsSinceEnd"), in: 0...600) ?? 0
        let sinceMax = integer(
            value("monthsSinceEndMax"),
            path("monthsSinceEndMax"),
            in: 0...600
        )
        if let sinceMax, sinceMax < since {
            note(path("monthsSinceEndMax"), "is \(sinceMax), which is below monthsSinceEnd")
        }
        let wait = integer(value("waitMonths"), path("waitMonths"), in: OfferRules.waitMonths)
        let start = integer(value("startsAt"), path("startsAt"), in: Self.times)
            .map(StoreTime.init(millisecondsSinceEpoch:))
        let end = integer(value("endsAt"), path("endsAt"), in: Self.times)
            .map(StoreTime.init(millisecondsSinceEpoch:))
        if let start, let end, end.duration(since: start) < OfferRules.winBackTimeMin {
            note(path("endsAt"), "must be at least three days after startsAt")
        }
        return WinBackOffer(
            id: offer.id,
            isActive: offer.isActive,
            priority: priority(value("priority"), path("priority")),
            paidMonths: paid,
            monthsSinceEnd: Int(since),
            monthsSinceEndMax: sinceMax.map { Int($0) },
            waitMonths: wait.map { Int($0) },
            startsAt: start,
            endsAt: end,
            terms: offer.terms
        )
    }

    private mutating func priority(_ json: JSONValue?, _ field: String) -> OfferPriority {
        guard let name = string(json, field) else { return .normal }
        let priority = OfferPriority(rawValue: name)
        if case .unknown = priority {
            note(field, "is '\(ProductProblem.shortened(name))'; it must be high or normal")
        }
        return priority
    }
}
