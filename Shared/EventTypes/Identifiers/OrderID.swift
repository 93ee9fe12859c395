/// An order: what a buyer's invoice and a merchant's support name a purchase by.
///
/// It is the number of the purchase's transaction in other digits, `W` before it and a check digit
/// behind, so that nothing has to be stored to find the one by the other, and a digit that was
/// misread (but 0 for Z) finds nothing. A copy (restored, or bought again while owned) has no order of its own.
///
/// Digits are those of Crockford's base 32, which leaves out I, L, O and U; the check digit is the
/// sum of each digit times its place, modulo 31.
public struct OrderID: Identifier {
    /// W and 8 to 14 digits and letters.
    public static let form = "an order id: W and 8 to 14 digits and letters, such as W000YGJ15"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The order of a transaction that was paid for.
    public init(_ transactionID: TransactionID) {
        var digits: [UInt8] = []
        var rest = transactionID.number
        while rest > 0 || digits.count < 7 {
            digits.append(UInt8(rest % 32))
            rest /= 32
        }
        digits.reverse()
        digits.append(Self.checkDigit(of: digits))
        rawValue = "W" + String(decoding: digits.map { Self.alphabet[Int($0)] }, as: UTF8.self)
    }

    /// The transaction of the order.
    public var transactionID: TransactionID {
        let number = rawValue.utf8.dropFirst().dropLast().reduce(Int64(0)) { number, character in
            number &* 32 &+ Int64(Self.value(of: character) ?? 0)
        }
        return TransactionID(number: number)
    }

    /// Tells whether the string is an order id whose check digit is right.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        guard rawValue.utf8.first == UInt8(ascii: "W"), (9...15).contains(rawValue.utf8.count)
        else { return false }
        let digits = rawValue.utf8.dropFirst().compactMap(value)
        guard digits.count == rawValue.utf8.count - 1, let check = digits.last,
            check == checkDigit(of: digits.dropLast())
        else { return false }
        // One spelling for each number: 60 bits, and no zeros that need not be there.
        let id = OrderID(unchecked: rawValue)
        return id.transactionID.number > 0
            && TransactionID.isWellFormed(id.transactionID.rawValue)
            && OrderID(id.transactionID).rawValue == rawValue
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private static func value(of character: UInt8) -> UInt8? {
        alphabet.firstIndex(of: character).map { UInt8($0) }
    }

    private static func checkDigit(of digits: some Sequence<UInt8>) -> UInt8 {
        // 31 is prime and beyond every place, so one wrong digit and two swapped ones change it.
        var sum = 0
        for (index, digit) in digits.enumerated() { sum += (index + 1) * Int(digit) }
        return UInt8(sum % 31)
    }
}
