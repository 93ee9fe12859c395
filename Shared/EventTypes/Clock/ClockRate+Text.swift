extension ClockRate: CustomStringConvertible {
    /// Reads a rate: `1h=1d` lets a day pass in the store in each hour on the machines.
    ///
    /// It is `nil` if the text is anything else, or if the rate is less than 1 or more than
    /// ``max``.
    public init?(_ text: some StringProtocol) {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, let machine = ClockSpan(sides[0]), let store = ClockSpan(sides[1])
        else { return nil }
        self.init(store.duration, each: machine.duration)
    }

    /// The rate in the shortest form, such as `1h=1d`.
    public var description: String {
        let scales: [Int64] = [86_400_000, 3_600_000, 60_000, 1000, 1]
        let texts = scales.compactMap(text(scaledBy:))
        return texts.min { $0.utf8.count < $1.utf8.count } ?? ""
    }
}
