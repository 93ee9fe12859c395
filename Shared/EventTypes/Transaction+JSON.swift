// The events of a transaction are most of what the services read and write, so these are read and
// written without Foundation's coders, byte for byte as those do it.

extension TransactionChanged {
    /// The data of the event.
    public func json() -> [UInt8]? {
        var text = PlainJSONText(capacity: 768)
        text.object { text in
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
            environment: environment
        )
    }
}

extension PostingReference {
    fileprivate func write(to text: inout PlainJSONText) {
        if let gross { text.member("gross", object: gross.write) }
        text.member("id", id.description)
        text.member("taxBasisPoints", Int64(taxBasisPoints))
    }

    fileprivate init?(from json: inout PlainJSON) {
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
    fileprivate func write(to text: inout PlainJSONText) {
        text.member("appAccountToken", appAccountToken)
        text.member("appTransactionID", appTransactionID)
        text.member("environment", environment)
        text.member("historyPosition", historyPosition)
        text.member("signature", signature)
    }

    fileprivate init?(from json: inout PlainJSON) {
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

extension QueueChanged {
    /// Reads the data of an event.
    public init?(json data: [UInt8]) {
        var revision: Int64?
        var transaction: Transaction?
        var isDelivered: Bool?
        var finishedAt: Int64?
        var contents: [HostedContent]?
        let isRead = PlainJSON.read(data) { json in
            json.object { json, name in
                switch name {
                case "revision": return PlainJSON.keep(json.integer(), in: &revision)
                case "transaction":
                    return PlainJSON.keep(Transaction(from: &json), in: &transaction)
                case "isDelivered": return PlainJSON.keep(json.bool(), in: &isDelivered)
                case "finishedAt":
                    if json.null() { return true }
                    return PlainJSON.keep(json.integer(), in: &finishedAt)
                case "contents":
                    return json.null()
                        || PlainJSON.keep(HostedContent.list(from: &json), in: &contents)
                default: return json.skip()
                }
            }
        }
        guard isRead == true, let revision, let transaction, let isDelivered else { return nil }
        self.init(
            revision: revision,
            transaction: transaction,
            isDelivered: isDelivered,
            finishedAt: finishedAt.map(Timestamp.init(millisecondsSinceEpoch:)),
            contents: contents
        )
    }
}

extension Transaction {
    /// Writes the members, in the order of their names.
    fileprivate func write(to text: inout PlainJSONText) {
        text.member("accountID", accountID.rawValue)
        text.member("applicationUsername", applicationUsername)
        text.member("bundleID", bundleID.rawValue)
        text.member("deliveryPlan", objects: deliveryPlan) { text, target in
            if case .credit(_, let amount) = target { text.member("amount", amount) }
            text.member("kind", target.kind)
            if case .credit(let unit, _) = target { text.member("unit", unit) }
            if case .webhook(let url) = target { text.member("url", url) }
        }
        text.member("failureReason", failureReason?.rawValue)
        text.member("id", id.rawValue)
        text.member("originalID", originalID.rawValue)
        text.member("originalPurchasedAt", originalPurchasedAt)
        text.member("price", object: price.write)
        text.member("productID", productID.rawValue)
        text.member("productType", productType.rawValue)
        text.member("productVersion", Int64(productVersion))
        text.member("purchasedAt", purchasedAt)
        text.member("quantity", Int64(quantity))
        text.member("requestedAt", requestedAt)
        text.member("revokedAt", revokedAt)
        text.member("state", state.rawValue)
        text.member("storefront", storefront.rawValue)
        text.member("version", Int64(version))
    }

    /// Reads the members; `nil` if one is missing, wrong, or not plain.
    fileprivate init?(from json: inout PlainJSON) {
        var parts = Parts()
        guard json.object({ parts.read($1, from: &$0) }), let transaction = parts.transaction else {
            return nil
        }
        self = transaction
    }

    /// The members that were read so far.
    private struct Parts {
        var id: TransactionID?
        var originalID: TransactionID?
        var version: Int64?
        var state: String?
        var accountID: AccountID?
        var bundleID: BundleID?
        var productID: ProductID?
        var productVersion: Int64?
        var productType: String?
        var quantity: Int64?
        var storefront: Storefront?
        var price: Money?
        var applicationUsername: String?
        var deliveryPlan: [DeliveryTarget]?
        var requestedAt: Int64?
        var purchasedAt: Int64?
        var originalPurchasedAt: Int64?
        var failureReason: String?
        var revokedAt: Int64?

        mutating func read(_ name: PlainJSON.Name, from json: inout PlainJSON) -> Bool {
            switch name {
            case "id": PlainJSON.keep(json.identifier(), in: &id)
            case "originalID": PlainJSON.keep(json.identifier(), in: &originalID)
            case "version": PlainJSON.keep(json.integer(), in: &version)
            case "state": PlainJSON.keep(json.string(), in: &state)
            case "accountID": PlainJSON.keep(json.identifier(), in: &accountID)
            case "bundleID": PlainJSON.keep(json.identifier(), in: &bundleID)
            case "productID": PlainJSON.keep(json.identifier(), in: &productID)
            case "productVersion": PlainJSON.keep(json.integer(), in: &productVersion)
            case "productType": PlainJSON.keep(json.string(), in: &productType)
            case "quantity": PlainJSON.keep(json.integer(), in: &quantity)
            case "storefront": PlainJSON.keep(json.identifier(), in: &storefront)
            case "price": PlainJSON.keep(Money(from: &json), in: &price)
            case "applicationUsername":
                json.null() || PlainJSON.keep(json.string(), in: &applicationUsername)
            case "deliveryPlan": PlainJSON.keep(DeliveryTarget.plan(from: &json), in: &deliveryPlan)
            case "requestedAt": PlainJSON.keep(json.integer(), in: &requestedAt)
            case "purchasedAt": json.null() || PlainJSON.keep(json.integer(), in: &purchasedAt)
            case "originalPurchasedAt":
                json.null() || PlainJSON.keep(json.integer(), in: &originalPurchasedAt)
            case "failureReason": json.null() || PlainJSON.keep(json.string(), in: &failureReason)
            case "revokedAt": json.null() || PlainJSON.keep(json.integer(), in: &revokedAt)
            default: json.skip()
            }
        }

        var transaction: Transaction? {
            guard let id, let originalID, let version, let state, let accountID, let bundleID,
                let productID, let productVersion, let productType, let quantity, let storefront,
                let price, let deliveryPlan, let requestedAt
            else { return nil }
            return Transaction(
                id: id,
                originalID: originalID,
                version: Int(version),
                state: TransactionState(rawValue: state),
                accountID: accountID,
                bundleID: bundleID,
                productID: productID,
                productVersion: Int(productVersion),
                productType: ProductType(rawValue: productType),
                quantity: Int(quantity),
                storefront: storefront,
                price: price,
                applicationUsername: applicationUsername,
                deliveryPlan: deliveryPlan,
                requestedAt: Timestamp(millisecondsSinceEpoch: requestedAt),
                purchasedAt: purchasedAt.map(Timestamp.init(millisecondsSinceEpoch:)),
                originalPurchasedAt: originalPurchasedAt.map(
                    Timestamp.init(millisecondsSinceEpoch:)
                ),
                failureReason: failureReason.map(FailureReason.init(rawValue:)),
                revokedAt: revokedAt.map(Timestamp.init(millisecondsSinceEpoch:))
            )
        }
    }
}

extension Money {
    fileprivate func write(to text: inout PlainJSONText) {
        text.member("currency", currency.rawValue)
        text.member("minorUnits", minorUnits)
    }

    fileprivate init?(from json: inout PlainJSON) {
        var minorUnits: Int64?
        var currency: Currency?
        let isRead = json.object { json, name in
            switch name {
            case "minorUnits": PlainJSON.keep(json.integer(), in: &minorUnits)
            case "currency": PlainJSON.keep(json.identifier(), in: &currency)
            default: json.skip()
            }
        }
        guard isRead, let minorUnits, let currency else { return nil }
        self.init(minorUnits: minorUnits, currency: currency)
    }
}

extension DeliveryTarget {
    fileprivate static func plan(from json: inout PlainJSON) -> [DeliveryTarget]? {
        var plan: [DeliveryTarget] = []
        let isRead = json.array { json in
            guard let target = DeliveryTarget(from: &json) else { return false }
            plan.append(target)
            return true
        }
        return isRead ? plan : nil
    }

    private init?(from json: inout PlainJSON) {
        var kind: String?
        var unit: String?
        var amount: Int64?
        var url: String?
        let isRead = json.object { json, name in
            switch name {
            case "kind": PlainJSON.keep(json.string(), in: &kind)
            case "unit": PlainJSON.keep(json.string(), in: &unit)
            case "amount": PlainJSON.keep(json.integer(), in: &amount)
            case "url": PlainJSON.keep(json.string(), in: &url)
            default: json.skip()
            }
        }
        guard isRead, let kind else { return nil }
        switch kind {
        case "entitlement": self = .entitlement
        case "credit":
            guard let unit, let amount else { return nil }
            self = .credit(unit: unit, amount: amount)
        case "webhook":
            guard let url else { return nil }
            self = .webhook(url: url)
        case "app": self = .app
        default: self = .unknown(kind: kind)
        }
    }
}
