package import EventTypes

extension Money {
    /// Reads an amount such as `1.50`, with at most as many decimal places as the currency has.
    ///
    /// - Returns: `nil` if the text is something else, or more than an amount can hold.
    package init?(decimal text: String, currency: Currency) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? parts[1] : ""
        guard parts.count <= 2, let whole = parts.first, !whole.isEmpty,
            parts.count == 1 || !fraction.isEmpty, fraction.count <= currency.exponent,
            (whole + fraction).allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        let zeros = String(repeating: "0", count: currency.exponent - fraction.count)
        guard let units = Int64(whole + fraction + zeros) else { return nil }
        self.init(minorUnits: units, currency: currency)
    }
}
