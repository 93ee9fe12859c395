/// Money of a purchase that was given back: all of it or a part.
///
/// A transaction keeps all its refunds, so that one event says how much was given back.
public struct Refund: Codable, Hashable, Sendable {
    /// The number of the refund within its transaction, from 1.
    public var number: Int
    /// The amount, in the currency of the transaction's price.
    public var amount: Money
    /// The time at which the processor confirmed it.
    public var refundedAt: StoreTime
    /// Whether it takes the product away from the buyer.
    public var revokes: Bool
    /// The time at which it was reversed, so that the store has the money again; `nil` if it was
    /// not.
    public var reversedAt: StoreTime?
    /// The processor's id of the dispute by which the buyer's bank took the money; `nil` if the
    /// store gave it back.
    public var dispute: String?

    /// Makes a refund.
    public init(
        number: Int,
        amount: Money,
        refundedAt: StoreTime,
        revokes: Bool,
        reversedAt: StoreTime? = nil,
        dispute: String? = nil
    ) {
        self.number = number
        self.amount = amount
        self.refundedAt = refundedAt
        self.revokes = revokes
        self.reversedAt = reversedAt
        self.dispute = dispute
    }
}

extension Refund {
    /// Writes the members in alphabetical order.
    func write(to text: inout PlainJSONText) {
        text.member("amount", object: amount.write)
        text.member("dispute", dispute)
        text.member("number", Int64(number))
        text.member("refundedAt", refundedAt)
        text.member("reversedAt", reversedAt)
        text.member("revokes", revokes)
    }

    /// Reads an array of refunds.
    static func list(from json: inout PlainJSON) -> [Refund]? {
        var refunds: [Refund] = []
        let isRead = json.array { json in
            guard let refund = Refund(from: &json) else { return false }
            refunds.append(refund)
            return true
        }
        return isRead ? refunds : nil
    }

    private init?(from json: inout PlainJSON) {
        var number: Int64?
        var amount: Money?
        var refundedAt: Int64?
        var revokes: Bool?
        var reversedAt: Int64?
        var dispute: String?
        let isRead = json.object { json, name in
            switch name {
            case "number": PlainJSON.keep(json.integer(), in: &number)
            case "amount": PlainJSON.keep(Money(from: &json), in: &amount)
            case "refundedAt": PlainJSON.keep(json.integer(), in: &refundedAt)
            case "revokes": PlainJSON.keep(json.bool(), in: &revokes)
            case "reversedAt": json.null() || PlainJSON.keep(json.integer(), in: &reversedAt)
            case "dispute": json.null() || PlainJSON.keep(json.string(), in: &dispute)
            default: json.skip()
            }
        }
        guard isRead, let number, let amount, let refundedAt, let revokes else { return nil }
        self.init(
            number: Int(number),
            amount: amount,
            refundedAt: StoreTime(millisecondsSinceEpoch: refundedAt),
            revokes: revokes,
            reversedAt: reversedAt.map(StoreTime.init(millisecondsSinceEpoch:)),
            dispute: dispute
        )
    }
}
