/// An extension of a subscription's period, which nobody pays (row e40 of docs/subscriptions.md).
public struct PeriodExtension: Codable, Hashable, Sendable {
    /// The identifier of the request, which extends a subscription once.
    public var id: String
    /// The number of days, as requested.
    public var days: Int
    /// Apple's code of the reason, from 0 to 3.
    public var reasonCode: Int
    /// The transaction of the period.
    public var transactionID: TransactionID
    /// The time of the extension.
    public var extendedAt: StoreTime
    /// The end of the period afterwards.
    public var end: StoreTime

    /// Makes an extension.
    public init(
        id: String,
        days: Int,
        reasonCode: Int,
        transactionID: TransactionID,
        extendedAt: StoreTime,
        end: StoreTime
    ) {
        self.id = id
        self.days = days
        self.reasonCode = reasonCode
        self.transactionID = transactionID
        self.extendedAt = extendedAt
        self.end = end
    }
}

extension PeriodExtension {
    /// Writes the members in alphabetical order.
    func write(to text: inout PlainJSONText) {
        text.member("days", Int64(days))
        text.member("end", end)
        text.member("extendedAt", extendedAt)
        text.member("id", id)
        text.member("reasonCode", Int64(reasonCode))
        text.member("transactionID", transactionID.rawValue)
    }

    /// Reads an array of extensions.
    static func list(from json: inout PlainJSON) -> [PeriodExtension]? {
        var extensions: [PeriodExtension] = []
        let isRead = json.array { json in
            guard let one = PeriodExtension(from: &json) else { return false }
            extensions.append(one)
            return true
        }
        return isRead ? extensions : nil
    }

    private init?(from json: inout PlainJSON) {
        var id: String?
        var (days, reasonCode) = (Int64?.none, Int64?.none)
        var transactionID: TransactionID?
        var (extendedAt, end) = (Int64?.none, Int64?.none)
        let isRead = json.object { json, name in
            switch name {
            case "id": PlainJSON.keep(json.string(), in: &id)
            case "days": PlainJSON.keep(json.integer(), in: &days)
            case "reasonCode": PlainJSON.keep(json.integer(), in: &reasonCode)
            case "transactionID": PlainJSON.keep(json.identifier(), in: &transactionID)
            case "extendedAt": PlainJSON.keep(json.integer(), in: &extendedAt)
            case "end": PlainJSON.keep(json.integer(), in: &end)
            default: json.skip()
            }
        }
        guard isRead, let id, let days, let reasonCode, let transactionID, let extendedAt, let end
        else { return nil }
        self.init(
            id: id,
            days: Int(days),
            reasonCode: Int(reasonCode),
            transactionID: transactionID,
            extendedAt: StoreTime(millisecondsSinceEpoch: extendedAt),
            end: StoreTime(millisecondsSinceEpoch: end)
        )
    }
}
