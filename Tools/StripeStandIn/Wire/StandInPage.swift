/// A page of a list: newest first, with the cursors and the limits of Stripe's API.
struct StandInPage: Sendable {
    /// An object of the list.
    struct Element: Sendable {
        let id: String
        let created: Int64
        /// Makes the object, for those of the page only.
        let json: @Sendable () -> StandInJSON

        init(
            _ id: String,
            _ created: Int64,
            _ json: @autoclosure @escaping @Sendable () -> StandInJSON
        ) {
            self.id = id
            self.created = created
            self.json = json
        }
    }

    private let limit: Int
    private let after: String?
    private let bounds: [String: Int64]

    /// Reads the parameters of a list.
    ///
    /// - Throws: ``StandInError``
    init(_ form: StandInForm, known: Set<String>) throws(StandInError) {
        try form.check(known.union(["limit", "starting_after", "created"]))
        let limit = try form.number("limit") ?? 10
        guard (1...100).contains(limit) else {
            throw .invalid("The limit is from 1 to 100.", code: "parameter_invalid", "limit")
        }
        self.limit = Int(limit)
        after = form["starting_after"]
        var bounds: [String: Int64] = [:]
        for name in ["gte", "gt", "lt", "lte"] {
            bounds[name] = try form.number("created[\(name)]")
        }
        self.bounds = bounds
    }

    /// The page out of a list that is oldest first.
    ///
    /// - Parameters:
    ///   - elements: The whole list.
    ///   - kind: The last part of the list's path; a library asks there for the next page.
    /// - Returns: The page.
    /// - Throws: ``StandInError`` if the cursor is not in the list.
    func json(_ elements: [Element], of kind: String) throws(StandInError) -> StandInJSON {
        var list = Array(
            elements.reversed().filter { element in
                element.created >= bounds["gte"] ?? .min && element.created > bounds["gt"] ?? .min
                    && element.created < bounds["lt"] ?? .max
                    && element.created <= bounds["lte"] ?? .max
            }
        )
        if let after {
            guard let index = elements.firstIndex(where: { $0.id == after }) else {
                throw .missing("object", after)
            }
            let older = Set(elements[..<index].map(\.id))
            list.removeAll { !older.contains($0.id) }
        }
        return .object([
            "object": .text("list"), "has_more": .bool(list.count > limit),
            "data": .list(list.prefix(limit).map { $0.json() }), "url": .text("/v1/\(kind)"),
        ])
    }
}
