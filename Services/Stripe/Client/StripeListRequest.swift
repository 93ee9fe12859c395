package import EventTypes

/// A question to one of the lists.
///
/// Lists show at once what was created. Stripe's search does not, so it is never used.
package struct StripeListRequest: Hashable, Sendable {
    /// The most elements that Stripe puts into a page.
    package static let limitMax = 100

    /// The first and the end of the time of creation; the end is not part of it.
    package var from: MachineTime?
    package var until: MachineTime?
    /// The id of the last element of the page before.
    package var after: String?
    /// The number of elements in a page.
    package var limit: Int
    /// The kinds of events; empty for all.
    ///
    /// Only the list of events has them.
    package var types: [String]

    /// Makes a question.
    package init(
        from: MachineTime? = nil,
        until: MachineTime? = nil,
        after: String? = nil,
        limit: Int = limitMax,
        types: [String] = []
    ) {
        self.from = from
        self.until = until
        self.after = after
        self.limit = limit
        self.types = types
    }

    /// The parameters that all lists have.
    var parameters: FormParameters {
        var form = FormParameters()
        // Stripe counts whole seconds. Rounding outwards finds too much rather than too little.
        form.add("created[gte]", from.map { $0.millisecondsSinceEpoch / 1000 })
        form.add("created[lt]", until.map { ($0.millisecondsSinceEpoch + 999) / 1000 })
        form.add("starting_after", after)
        form.add("limit", Int64(min(max(limit, 1), Self.limitMax)))
        form.add("types", types)
        return form
    }
}
