import EventTypes

/// The accounts that may have a win-back offer, and when.
struct WinBackConditions: Hashable, Sendable {
    var priority = OfferPriority.normal
    var paidMonths = 1
    var monthsSinceEnd = 0
    var monthsSinceEndMax: Int?
    var waitMonths: Int?
    var startsAt: StoreTime?
    var endsAt: StoreTime?

    /// Those of a new offer.
    init() {}

    /// Those of an offer.
    init(_ offer: WinBackOffer) {
        priority = offer.priority
        paidMonths = offer.paidMonths
        monthsSinceEnd = offer.monthsSinceEnd
        monthsSinceEndMax = offer.monthsSinceEndMax
        waitMonths = offer.waitMonths
        startsAt = offer.startsAt
        endsAt = offer.endsAt
    }

    /// The offer with these conditions.
    func offer(_ id: OfferID, isActive: Bool, _ terms: OfferTerms) -> WinBackOffer {
        WinBackOffer(
            id: id,
            isActive: isActive,
            priority: priority,
            paidMonths: paidMonths,
            monthsSinceEnd: monthsSinceEnd,
            monthsSinceEndMax: monthsSinceEndMax,
            waitMonths: waitMonths,
            startsAt: startsAt,
            endsAt: endsAt,
            terms: terms
        )
    }

    /// The parts in words: names and values, in a fixed order.
    var parts: [(name: String, value: String)] {
        var parts = [
            ("comes first", priority == .high ? "yes" : "no"),
            ("months paid for at least", "\(paidMonths)"),
            ("months since the end at least", "\(monthsSinceEnd)"),
            ("months since the end at most", monthsSinceEndMax.map { "\($0)" } ?? "any"),
            ("months since the last win-back at least", waitMonths.map { "\($0)" } ?? "any"),
        ]
        if let startsAt { parts.append(("begins", PlainWords.second(startsAt))) }
        if let endsAt { parts.append(("ends", PlainWords.second(endsAt))) }
        return parts
    }
}

/// The fields of ``WinBackConditions`` in an offer's form, exactly as they were written.
struct WinBackFields: Hashable, Sendable {
    var isHigh = false
    var paid = "1"
    var since = "0"
    var sinceMax = ""
    var wait = ""

    /// Those of a new offer.
    init() {}

    /// Those of an offer as it is.
    init(_ conditions: WinBackConditions) {
        isHigh = conditions.priority == .high
        paid = "\(conditions.paidMonths)"
        since = "\(conditions.monthsSinceEnd)"
        sinceMax = conditions.monthsSinceEndMax.map { "\($0)" } ?? ""
        wait = conditions.waitMonths.map { "\($0)" } ?? ""
    }

    /// Reads a form that was sent.
    init(_ form: FormFields) {
        isHigh = form["high"] == "yes"
        paid = form["paid"] ?? ""
        since = form["since"] ?? ""
        sinceMax = form["sinceMax"] ?? ""
        wait = form["wait"] ?? ""
    }

    /// All fields by their names, as a browser sends them.
    var all: [(name: String, value: String)] {
        let texts = [("paid", paid), ("since", since), ("sinceMax", sinceMax), ("wait", wait)]
        return texts + (isHigh ? [("high", "yes")] : [])
    }

    /// The conditions that the form wishes.
    ///
    /// - Parameters:
    ///   - old: The conditions before, whose dates stay.
    ///   - problems: What is wrong in the form, to which more is added.
    /// - Returns: The conditions.
    func wish(
        changing old: WinBackConditions,
        _ problems: inout [String]
    ) -> WinBackConditions {
        var wish = old
        func number(_ text: String) -> Int? {
            guard !text.isEmpty else { return nil }
            if let number = Int(text), number >= 0 { return number }
            problems.append("“\(text)” is not a number of months.")
            return nil
        }
        if (old.priority == .high) != isHigh { wish.priority = isHigh ? .high : .normal }
        wish.paidMonths = number(paid) ?? 1
        wish.monthsSinceEnd = number(since) ?? 0
        wish.monthsSinceEndMax = number(sinceMax)
        wish.waitMonths = number(wait)
        return wish
    }
}
