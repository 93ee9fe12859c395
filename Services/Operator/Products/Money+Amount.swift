import EventTypes

extension Money {
    /// Reads an amount in units of the currency, with at most as many decimals as the currency has.
    ///
    /// - Returns: `nil` for anything that is no such amount, and for negative ones.
    init?(_ text: String, _ currency: Currency) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = "0123456789"
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
            parts.joined().allSatisfy(digits.contains)
        else { return nil }
        let decimals = parts.count == 2 ? String(parts[1]) : ""
        guard decimals.count <= currency.exponent else { return nil }
        let zeros = String(repeating: "0", count: currency.exponent - decimals.count)
        guard let minorUnits = Int64(parts[0] + decimals + zeros) else { return nil }
        self.init(minorUnits: minorUnits, currency: currency)
    }

    /// An example of an amount in a currency.
    static func example(_ currency: Currency) -> String {
        switch currency.exponent {
        case 0: "1500"
        case 3: "1.500"
        default: "11.99"
        }
    }
}
