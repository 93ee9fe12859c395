/// The identifier of a transaction: a decimal number, as in StoreKit's `transactionIdentifier`.
public struct TransactionID: Identifier {
    /// 1 to 18 decimal digits.
    public static let form = "a transaction id of 1 to 18 decimal digits"
    /// The number, as it is stored in the databases; 0 if the digits are none.
    public let number: Int64
    /// The number's digits.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) {
        number = Int64(rawValue) ?? 0
        self.rawValue = rawValue
    }
    /// Wraps a number that the store generated: the current millisecond and four digits of a
    /// counter.
    public init(number: Int64) {
        self.number = number
        rawValue = String(number)
    }
    /// Hashes the number alone, because transactions are looked up and sorted often.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
    /// Whether the string is 1 to 18 decimal digits.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        (1...18).contains(rawValue.utf8.count)
            && rawValue.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    /// The identifier of the period that the transaction paid, which copies of it share (rule S3 of
    /// docs/subscriptions.md).
    ///
    /// No transaction has such a number: those have at most 60 bits.
    public var webOrderLineItemID: String { String(Self.firstPeriod + number) }
    private static let firstPeriod: Int64 = 2_000_000_000_000_000_000
    /// Finds the transaction that paid a period.
    ///
    /// It is `nil` if the text is not the identifier of a period.
    public init?(webOrderLineItemID text: String) {
        guard let number = Int64(text), number > Self.firstPeriod else { return nil }
        self.init(number: number - Self.firstPeriod)
    }
    /// Orders transactions by number, and therefore by the millisecond of their creation.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
