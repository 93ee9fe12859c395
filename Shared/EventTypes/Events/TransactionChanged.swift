/// `transaction.purchasing.v1`, `.wait-changed.v1`, `.deferred.v1`, `.purchased.v1`, `.failed.v1`,
/// `.restored.v1`, `.refunded.v1`, `.refund-reversed.v1` and `.extended.v1`: a transaction moved to the state in
/// this event.
///
/// `.approved.v1`, `.stray-charged.v1` and `.stray-charge-returned.v1` report related facts that do
/// not change the transaction. With them the event log contains everything in the books of
/// `payments`.
public struct TransactionChanged: Event, Hashable {
    /// The whole transaction at its new version.
    public var transaction: Transaction
    /// The ledger posting of this change; `nil` if no money moved.
    public var posting: PostingReference?
    /// The purchase intent that this payment pays.
    ///
    /// Only the first event of a transaction has it.
    public var purchaseIntentID: PurchaseIntentID?
    /// The interrupted transaction that this one resumes.
    ///
    /// Only the first event of a transaction has it.
    public var resumes: TransactionID?
    /// The environment of the store that accepted the payment: `Sandbox` or `Production`.
    ///
    /// It is `nil` in older events without this field.
    public var environment: String?
    /// The act that led to the event; `nil` if nobody decided, and in older events.
    ///
    /// The events of an approval, a refused approval, a refund and its reversal have it.
    public var act: Act?
    /// Makes the event.
    public init(
        transaction: Transaction,
        posting: PostingReference? = nil,
        purchaseIntentID: PurchaseIntentID? = nil,
        resumes: TransactionID? = nil,
        environment: String? = nil,
        act: Act? = nil
    ) {
        self.transaction = transaction
        self.posting = posting
        self.purchaseIntentID = purchaseIntentID
        self.resumes = resumes
        self.environment = environment
        self.act = act
    }
}

/// The data of a ledger posting that was written with the event.
///
/// It is sufficient to write the posting again.
public struct PostingReference: Codable, Hashable, Sendable {
    /// The posting's identity, a UUID.
    public var id: EventID
    /// The rate of the tax contained in the price, in hundredths of a percent.
    public var taxBasisPoints: Int
    /// The amount, if it differs from the transaction's price, as for a stray charge or the refund
    /// of a part.
    public var gross: Money?
    /// Makes a reference to a posting.
    public init(id: EventID, taxBasisPoints: Int, gross: Money? = nil) {
        self.id = id
        self.taxBasisPoints = taxBasisPoints
        self.gross = gross
    }
}

// Transaction events are most of what the services read and write. They are therefore encoded and
// decoded without Foundation's coders, with the same bytes.

extension TransactionChanged {
    /// The data of the event.
    public func json() -> [UInt8]? {
        var text = PlainJSONText(capacity: 768)
        text.object { text in
            if let act { text.member("act", object: act.write) }
            text.member("environment", environment)
            if let posting { text.member("posting", object: posting.write) }
            text.member("purchaseIntentID", purchaseIntentID?.rawValue)
            text.member("resumes", resumes?.rawValue)
            text.member("transaction", object: transaction.write)
        }
        return text.bytes
    }

    /// Reads the data of an event.
    public init?(json data: [UInt8]) {
        var transaction: Transaction?
        var posting: PostingReference?
        var purchaseIntentID: PurchaseIntentID?
        var resumes: TransactionID?
        var environment: String?
        var act: Act?
        let isRead = PlainJSON.read(data) { json in
            json.object { json, name in
                switch name {
                case "transaction":
                    return PlainJSON.keep(Transaction(from: &json), in: &transaction)
                case "posting":
                    return json.null()
                        || PlainJSON.keep(PostingReference(from: &json), in: &posting)
                case "purchaseIntentID":
                    return json.null() || PlainJSON.keep(json.identifier(), in: &purchaseIntentID)
                case "resumes":
                    return json.null() || PlainJSON.keep(json.identifier(), in: &resumes)
                case "environment":
                    return json.null() || PlainJSON.keep(json.string(), in: &environment)
                case "act":
                    return json.null() || PlainJSON.keep(Act(from: &json), in: &act)
                default: return json.skip()
                }
            }
        }
        guard isRead == true, let transaction else { return nil }
        self.init(
            transaction: transaction,
            posting: posting,
            purchaseIntentID: purchaseIntentID,
            resumes: resumes,
            environment: environment,
            act: act
        )
    }
}

extension PostingReference {
    func write(to text: inout PlainJSONText) {
        if let gross { text.member("gross", object: gross.write) }
        text.member("id", id.description)
        text.member("taxBasisPoints", Int64(taxBasisPoints))
    }

    init?(from json: inout PlainJSON) {
        var id: String?
        var taxBasisPoints: Int64?
        var gross: Money?
        let isRead = json.object { json, name in
            switch name {
            case "id": PlainJSON.keep(json.string(), in: &id)
            case "taxBasisPoints": PlainJSON.keep(json.integer(), in: &taxBasisPoints)
            case "gross": json.null() || PlainJSON.keep(Money(from: &json), in: &gross)
            default: json.skip()
            }
        }
        guard isRead, let taxBasisPoints, let id = id.flatMap(EventID.init(_:)) else { return nil }
        self.init(id: id, taxBasisPoints: Int(taxBasisPoints), gross: gross)
    }
}
