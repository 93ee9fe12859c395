import EventTypes

extension Money {
    /// Reads an amount with its currency, such as `0.99 USD` or `-1500 JPY`.
    ///
    /// - Returns: `nil` for anything else.
    init?(scenario text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let currency = Currency(rawValue: String(words[1])) else {
            return nil
        }
        let isNegative = words[0].hasPrefix("-")
        let parts = words[0].dropFirst(isNegative ? 1 : 0)
            .split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
            parts.joined().utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        let decimals = parts.count == 2 ? String(parts[1]) : ""
        guard decimals.count <= currency.exponent else { return nil }
        let zeros = String(repeating: "0", count: currency.exponent - decimals.count)
        guard let units = Int64(parts[0] + decimals + zeros) else { return nil }
        self.init(minorUnits: isNegative ? -units : units, currency: currency)
    }
}
