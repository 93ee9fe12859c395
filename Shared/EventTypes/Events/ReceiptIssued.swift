/// `receipt.issued.v1`: the store signed a purchased or restored transaction.
public struct ReceiptIssued: Event, Hashable {
    /// The transaction as it was signed.
    public var transaction: Transaction
    /// The identifier that `receipts` gave to the certificate chain of the signature.
    public var signingChainID: String
    /// SHA-256 of the signed payload, in hexadecimal.
    public var payloadSHA256: String
    /// The time of the signature.
    public var issuedAt: StoreTime
    /// The other signed values and the signature; `nil` in older events without this field.
    public var signing: ReceiptSigning?
    /// Makes the event.
    public init(
        transaction: Transaction,
        signingChainID: String,
        payloadSHA256: String,
        issuedAt: StoreTime,
        signing: ReceiptSigning? = nil
    ) {
        self.transaction = transaction
        self.signingChainID = signingChainID
        self.payloadSHA256 = payloadSHA256
        self.issuedAt = issuedAt
        self.signing = signing
    }
}

/// The signed values apart from the transaction, and the signature.
///
/// With them the event log contains every receipt that the store has issued.
public struct ReceiptSigning: Codable, Hashable, Sendable {
    /// The account token that a merchant's server set.
    public var appAccountToken: String?
    /// The identifier of the account's app transaction in this app.
    public var appTransactionID: Int64?
    /// `Production` or `Sandbox`.
    public var environment: String
    /// The position of the transaction in the account's history.
    public var historyPosition: Int64
    /// Whether an upgrade has ended the transaction's period; `nil` for no.
    public var isUpgraded: Bool?
    /// The values r and s of the signature: 64 bytes in base64.
    public var signature: String
    /// Combines the signed values and the signature.
    public init(
        appAccountToken: String?,
        appTransactionID: Int64?,
        environment: String,
        historyPosition: Int64,
        isUpgraded: Bool? = nil,
        signature: String
    ) {
        self.appAccountToken = appAccountToken
        self.appTransactionID = appTransactionID
        self.environment = environment
        self.historyPosition = historyPosition
        self.isUpgraded = isUpgraded
        self.signature = signature
    }
}

// Transaction events are most of what the services read and write. They are therefore encoded and
// decoded without Foundation's coders, with the same bytes.

extension ReceiptIssued {
    /// The data of the event.
    public func json() -> [UInt8]? { json(transaction: nil) }

    /// Encodes the event.
    ///
    /// - Parameter snapshot: The JSON of the transaction as it was received, so that members which
    ///   this version does not know are passed on; `nil` to encode the transaction.
    /// - Returns: JSON.
    package func json(transaction snapshot: [UInt8]?) -> [UInt8] {
        var text = PlainJSONText(capacity: 512 + (snapshot?.count ?? 512))
        text.object { text in
            text.member("issuedAt", issuedAt)
            text.member("payloadSHA256", payloadSHA256)
            if let signing { text.member("signing", object: signing.write) }
            text.member("signingChainID", signingChainID)
            if let snapshot {
                text.member("transaction", json: snapshot)
            } else {
                text.member("transaction", object: transaction.write)
            }
        }
        return text.bytes
    }

    /// Reads the data of an event.
    public init?(json data: [UInt8]) {
        var transaction: Transaction?
        var signingChainID: String?
        var payloadSHA256: String?
        var issuedAt: Int64?
        var signing: ReceiptSigning?
        let isRead = PlainJSON.read(data) { json in
            json.object { json, name in
                switch name {
                case "transaction":
                    return PlainJSON.keep(Transaction(from: &json), in: &transaction)
                case "signing":
                    return json.null() || PlainJSON.keep(ReceiptSigning(from: &json), in: &signing)
                case "signingChainID": return PlainJSON.keep(json.string(), in: &signingChainID)
                case "payloadSHA256": return PlainJSON.keep(json.string(), in: &payloadSHA256)
                case "issuedAt": return PlainJSON.keep(json.integer(), in: &issuedAt)
                default: return json.skip()
                }
            }
        }
        guard isRead == true, let transaction, let signingChainID, let payloadSHA256, let issuedAt
        else { return nil }
        self.init(
            transaction: transaction,
            signingChainID: signingChainID,
            payloadSHA256: payloadSHA256,
            issuedAt: StoreTime(millisecondsSinceEpoch: issuedAt),
            signing: signing
        )
    }
}

extension ReceiptSigning {
    func write(to text: inout PlainJSONText) {
        text.member("appAccountToken", appAccountToken)
        text.member("appTransactionID", appTransactionID)
        text.member("environment", environment)
        text.member("historyPosition", historyPosition)
        if let isUpgraded { text.member("isUpgraded", isUpgraded) }
        text.member("signature", signature)
    }

    init?(from json: inout PlainJSON) {
        var appAccountToken: String?
        var appTransactionID: Int64?
        var environment: String?
        var historyPosition: Int64?
        var isUpgraded: Bool?
        var signature: String?
        let isRead = json.object { json, name in
            switch name {
            case "appAccountToken":
                json.null() || PlainJSON.keep(json.string(), in: &appAccountToken)
            case "appTransactionID":
                json.null() || PlainJSON.keep(json.integer(), in: &appTransactionID)
            case "environment": PlainJSON.keep(json.string(), in: &environment)
            case "historyPosition": PlainJSON.keep(json.integer(), in: &historyPosition)
            case "isUpgraded": json.null() || PlainJSON.keep(json.bool(), in: &isUpgraded)
            case "signature": PlainJSON.keep(json.string(), in: &signature)
            default: json.skip()
            }
        }
        guard isRead, let environment, let historyPosition, let signature else { return nil }
        self.init(
            appAccountToken: appAccountToken,
            appTransactionID: appTransactionID,
            environment: environment,
            historyPosition: historyPosition,
            isUpgraded: isUpgraded,
            signature: signature
        )
    }
}
