/// An order identifier.
///
/// Invoices and a merchant's support use it to refer to a purchase.
///
/// It encodes the number of the purchase's transaction: `W`, the digits, and a check digit. Either
/// can be computed from the other, so the order id is not stored. A misread digit does not match
/// any order, except 0 for Z.
///
/// A purchase has an order, even if it cost nothing. A copy (restored, or bought again while owned)
/// has none of its own, because nothing was sold again. The operator's commands show the order of its
/// original.
///
/// The digits are those of Crockford's base 32, which omits I, L, O and U. The check digit is the
/// sum of each digit times its position, modulo 31.
public struct OrderID: Identifier {
    /// W and 8 to 14 digits and letters.
    public static let form = "an order id: W and 8 to 14 digits and letters, such as W000YGJ15"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// Makes the order id of a purchase.
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

    /// Whether the string is an order id with a correct check digit.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        guard rawValue.utf8.first == UInt8(ascii: "W"), (9...15).contains(rawValue.utf8.count)
        else { return false }
        let digits = rawValue.utf8.dropFirst().compactMap(value)
        guard digits.count == rawValue.utf8.count - 1, let check = digits.last,
            check == checkDigit(of: digits.dropLast())
        else { return false }
        // Each number has only one spelling: at most 60 bits, and no unnecessary zeros.
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
        // 31 is prime and greater than every position. One wrong digit or two swapped digits
        // therefore change the sum.
        var sum = 0
        for (index, digit) in digits.enumerated() { sum += (index + 1) * Int(digit) }
        return UInt8(sum % 31)
    }
}
