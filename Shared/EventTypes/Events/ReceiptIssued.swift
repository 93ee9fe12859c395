/// `receipt.issued.v1`: the store signed a purchased or restored transaction.
public struct ReceiptIssued: Event, Hashable {
    /// The transaction that was signed, as it was signed.
    public var transaction: Transaction
    /// The chain it was signed with, as `receipts` numbers them.
    public var signingChainID: String
    /// SHA-256 of the signed payload, in hexadecimal.
    public var payloadSHA256: String
    /// When it was signed.
    public var issuedAt: Timestamp
    /// What was signed beside the transaction, and the signature; `nil` in events of before it was
    /// told.
    public var signing: ReceiptSigning?
    /// Makes the event.
    public init(
        transaction: Transaction,
        signingChainID: String,
        payloadSHA256: String,
        issuedAt: Timestamp,
        signing: ReceiptSigning? = nil
    ) {
        self.transaction = transaction
        self.signingChainID = signingChainID
        self.payloadSHA256 = payloadSHA256
        self.issuedAt = issuedAt
        self.signing = signing
    }
}

/// What a receipt says beside its transaction, and its signature: with it the log holds every receipt
/// that the store has given.
public struct ReceiptSigning: Codable, Hashable, Sendable {
    /// The account token that a merchant's server has set.
    public var appAccountToken: String?
    /// The app transaction of the account in the app.
    public var appTransactionID: Int64?
    /// `Production` or `Sandbox`.
    public var environment: String
    /// Where it stands in the history of its account.
    public var historyPosition: Int64
    /// r and s of the signature, 64 bytes in base64.
    public var signature: String
    /// Gathers what was signed.
    public init(
        appAccountToken: String?,
        appTransactionID: Int64?,
        environment: String,
        historyPosition: Int64,
        signature: String
    ) {
        self.appAccountToken = appAccountToken
        self.appTransactionID = appTransactionID
        self.environment = environment
        self.historyPosition = historyPosition
        self.signature = signature
    }
}

// Read and written without Foundation's coders, byte for byte as those do it: the events of a transaction
// are most of what the services read and write.

extension ReceiptIssued {
    /// The data of the event.
    public func json() -> [UInt8]? {
        var text = PlainJSONText(capacity: 1024)
        text.object { text in
            text.member("issuedAt", issuedAt)
            text.member("payloadSHA256", payloadSHA256)
            if let signing { text.member("signing", object: signing.write) }
            text.member("signingChainID", signingChainID)
            text.member("transaction", object: transaction.write)
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
            issuedAt: Timestamp(millisecondsSinceEpoch: issuedAt),
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
        text.member("signature", signature)
    }

    init?(from json: inout PlainJSON) {
        var appAccountToken: String?
        var appTransactionID: Int64?
        var environment: String?
        var historyPosition: Int64?
        var signature: String?
        let isRead = json.object { json, name in
            switch name {
            case "appAccountToken":
                json.null() || PlainJSON.keep(json.string(), in: &appAccountToken)
            case "appTransactionID":
                json.null() || PlainJSON.keep(json.integer(), in: &appTransactionID)
            case "environment": PlainJSON.keep(json.string(), in: &environment)
            case "historyPosition": PlainJSON.keep(json.integer(), in: &historyPosition)
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
            signature: signature
        )
    }
}
