import EventTypes

extension SubscriptionPeriod {
    private static let words: [(word: Substring, unit: Unit)] = [
        ("day", .day), ("week", .week), ("month", .month), ("year", .year),
    ]

    /// Reads a length of calendar time, such as `1 month`, `3 months` or `P3M`.
    ///
    /// - Returns: `nil` for anything else.
    init?(scenario text: String) {
        if let period = SubscriptionPeriod(iso8601: text) {
            self = period
            return
        }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let value = Int(parts[0]), parts[0] == "\(value)",
            (1...Self.valueMax).contains(value)
        else { return nil }
        let word = parts[1].hasSuffix("s") ? parts[1].dropLast() : parts[1]
        guard let unit = Self.words.first(where: { $0.word == word })?.unit else { return nil }
        self.init(value, unit)
    }
}
