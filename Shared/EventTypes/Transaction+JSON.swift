// Transaction events are most of what the services read and write. They are therefore encoded and
// decoded without Foundation's coders, with the same bytes.

extension Transaction {
    /// Writes the members in alphabetical order.
    func write(to text: inout PlainJSONText) {
        text.member("accountID", accountID.rawValue)
        text.member("applicationUsername", applicationUsername)
        if let awaitsBuyer { text.member("awaitsBuyer", awaitsBuyer) }
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
        text.member("reason", reason.rawValue)
        if let refunds {
            text.member("refunds", objects: refunds) { text, refund in refund.write(to: &text) }
        }
        text.member("requestedAt", requestedAt)
        text.member("revokedAt", revokedAt)
        text.member("sharedFrom", sharedFrom?.rawValue)
        text.member("state", state.rawValue)
        text.member("storefront", storefront.rawValue)
        if let subscription { text.member("subscription", object: subscription.write) }
        text.member("version", Int64(version))
    }

    /// Reads the members; `nil` if one is missing, wrong, or not in plain form.
    init?(from json: inout PlainJSON) {
        var parts = Parts()
        guard json.object({ parts.read($1, from: &$0) }), let transaction = parts.transaction else {
            return nil
        }
        self = transaction
    }

    /// The members read so far.
    private struct Parts {
        var id: TransactionID?
        var originalID: TransactionID?
        var reason: String?
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
        var refunds: [Refund]?
        var subscription: TransactionPeriod?
        var sharedFrom: TransactionID?
        var awaitsBuyer: Bool?

        mutating func read(_ name: PlainJSON.Name, from json: inout PlainJSON) -> Bool {
            switch name {
            case "id": PlainJSON.keep(json.identifier(), in: &id)
            case "originalID": PlainJSON.keep(json.identifier(), in: &originalID)
            case "reason": PlainJSON.keep(json.string(), in: &reason)
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
            case "refunds": json.null() || PlainJSON.keep(Refund.list(from: &json), in: &refunds)
            case "subscription":
                json.null() || PlainJSON.keep(TransactionPeriod(from: &json), in: &subscription)
            case "sharedFrom": json.null() || PlainJSON.keep(json.identifier(), in: &sharedFrom)
            case "awaitsBuyer": json.null() || PlainJSON.keep(json.bool(), in: &awaitsBuyer)
            default: json.skip()
            }
        }

        var transaction: Transaction? {
            guard let id, let originalID, let reason, let version, let state, let accountID,
                let bundleID, let productID, let productVersion, let productType, let quantity,
                let storefront, let price, let deliveryPlan, let requestedAt
            else { return nil }
            return Transaction(
                id: id,
                originalID: originalID,
                reason: TransactionReason(rawValue: reason),
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
                requestedAt: StoreTime(millisecondsSinceEpoch: requestedAt),
                purchasedAt: purchasedAt.map(StoreTime.init(millisecondsSinceEpoch:)),
                originalPurchasedAt: originalPurchasedAt.map(
                    StoreTime.init(millisecondsSinceEpoch:)
                ),
                failureReason: failureReason.map(FailureReason.init(rawValue:)),
                revokedAt: revokedAt.map(StoreTime.init(millisecondsSinceEpoch:)),
                refunds: refunds,
                subscription: subscription,
                sharedFrom: sharedFrom,
                awaitsBuyer: awaitsBuyer
            )
        }
    }
}

extension Money {
    /// Writes the members in alphabetical order.
    package func write(to text: inout PlainJSONText) {
        text.member("currency", currency.rawValue)
        text.member("minorUnits", minorUnits)
    }

    /// Reads the members; `nil` if one is missing, wrong, or not in plain form.
    package init?(from json: inout PlainJSON) {
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
    static func plan(from json: inout PlainJSON) -> [DeliveryTarget]? {
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
