// Every renewal writes a subscription four times and reads it four times. Subscriptions are therefore
// encoded and decoded without Foundation's coders, with the same bytes.

extension Subscription: PlainJSONCodable {
    /// Writes the members in alphabetical order.
    package func write(to text: inout PlainJSONText) {
        text.member("accountID", accountID.rawValue)
        text.member("attempts", Int64(attempts))
        text.member("autoRenewOffReason", autoRenewOffReason?.rawValue)
        text.member("billingRetryEnd", billingRetryEnd)
        text.member("bundleID", bundleID.rawValue)
        if let charge { text.member("charge", object: charge.write) }
        if let earlierPeriod { text.member("earlierPeriod", object: earlierPeriod.write) }
        text.member("epoch", Int64(epoch))
        text.member("expirationIntent", expirationIntent.map { Int64($0.rawValue) })
        if let extensions { text.member("extensions", objects: extensions) { $1.write(to: &$0) } }
        text.member("gracePeriodEnd", gracePeriodEnd)
        text.member("id", id.rawValue)
        text.member("lastTry", lastTry)
        if let paidTime { text.member("paidTime", object: paidTime.write) }
        if let pendingOffer { text.member("pendingOffer", object: pendingOffer.write) }
        if let pendingProduct { text.member("pendingProduct", object: pendingProduct.write) }
        text.member("period", object: period.write)
        if let priceIncrease { text.member("priceIncrease", object: priceIncrease.write) }
        text.member("raisedAt", raisedAt)
        text.member("recentStart", recentStart)
        text.member("renewalProblem", renewalProblem?.rawValue)
        text.member("startedAt", startedAt)
        text.member("state", state.rawValue)
        text.member("storefront", storefront.rawValue)
        text.member("version", Int64(version))
        text.member("wonBackAt", wonBackAt)
    }

    /// Reads the members; `nil` if one is missing, wrong, or not in plain form.
    package init?(from json: inout PlainJSON) {
        var parts = Parts()
        guard json.object({ parts.read($1, from: &$0) }), let whole = parts.subscription else {
            return nil
        }
        self = whole
    }

    /// The members read so far.
    private struct Parts {
        var id: TransactionID?
        var version: Int64?
        var accountID: AccountID?
        var bundleID: BundleID?
        var storefront: Storefront?
        var state: String?
        var period: PaidPeriod?
        var earlierPeriod: PaidPeriod?
        var epoch: Int64?
        var pendingProduct: SubscriptionProduct?
        var pendingOffer: PeriodOffer?
        var priceIncrease: PriceIncrease?
        var raisedAt: Int64?
        var autoRenewOffReason: String?
        var startedAt: Int64?
        var recentStart: Int64?
        var attempts: Int64?
        var lastTry: Int64?
        var charge: RenewalCharge?
        var renewalProblem: String?
        var gracePeriodEnd: Int64?
        var billingRetryEnd: Int64?
        var expirationIntent: ExpirationIntent?
        var extensions: [PeriodExtension]?
        var paidTime: PaidTime?
        var wonBackAt: Int64?

        mutating func read(_ name: PlainJSON.Name, from json: inout PlainJSON) -> Bool {
            switch name {
            case "id": PlainJSON.keep(json.identifier(), in: &id)
            case "version": PlainJSON.keep(json.integer(), in: &version)
            case "accountID": PlainJSON.keep(json.identifier(), in: &accountID)
            case "bundleID": PlainJSON.keep(json.identifier(), in: &bundleID)
            case "storefront": PlainJSON.keep(json.identifier(), in: &storefront)
            case "state": PlainJSON.keep(json.string(), in: &state)
            case "period": PlainJSON.keep(PaidPeriod(from: &json), in: &period)
            case "earlierPeriod":
                json.null() || PlainJSON.keep(PaidPeriod(from: &json), in: &earlierPeriod)
            case "epoch": PlainJSON.keep(json.integer(), in: &epoch)
            case "pendingProduct":
                json.null() || PlainJSON.keep(SubscriptionProduct(from: &json), in: &pendingProduct)
            case "pendingOffer":
                json.null() || PlainJSON.keep(PeriodOffer(from: &json), in: &pendingOffer)
            case "priceIncrease":
                json.null() || PlainJSON.keep(PriceIncrease(from: &json), in: &priceIncrease)
            case "raisedAt": json.null() || PlainJSON.keep(json.integer(), in: &raisedAt)
            case "autoRenewOffReason":
                json.null() || PlainJSON.keep(json.string(), in: &autoRenewOffReason)
            case "startedAt": PlainJSON.keep(json.integer(), in: &startedAt)
            case "recentStart": PlainJSON.keep(json.integer(), in: &recentStart)
            case "attempts": PlainJSON.keep(json.integer(), in: &attempts)
            case "lastTry": json.null() || PlainJSON.keep(json.integer(), in: &lastTry)
            case "charge": json.null() || PlainJSON.keep(RenewalCharge(from: &json), in: &charge)
            case "renewalProblem":
                json.null() || PlainJSON.keep(json.string(), in: &renewalProblem)
            case "gracePeriodEnd":
                json.null() || PlainJSON.keep(json.integer(), in: &gracePeriodEnd)
            case "billingRetryEnd":
                json.null() || PlainJSON.keep(json.integer(), in: &billingRetryEnd)
            case "expirationIntent":
                json.null() || PlainJSON.keep(ExpirationIntent(from: &json), in: &expirationIntent)
            case "extensions":
                json.null() || PlainJSON.keep(PeriodExtension.list(from: &json), in: &extensions)
            case "paidTime": json.null() || PlainJSON.keep(PaidTime(from: &json), in: &paidTime)
            case "wonBackAt": json.null() || PlainJSON.keep(json.integer(), in: &wonBackAt)
            default: json.skip()
            }
        }

        var subscription: Subscription? {
            guard let id, let version, let accountID, let bundleID, let storefront, let state,
                let period, let epoch, let startedAt, let recentStart, let attempts
            else { return nil }
            var whole = Subscription(
                accountID: accountID,
                bundleID: bundleID,
                storefront: storefront,
                firstPeriod: period
            )
            whole.id = id
            whole.version = Int(version)
            whole.state = SubscriptionState(rawValue: state)
            whole.earlierPeriod = earlierPeriod
            whole.epoch = Int(epoch)
            whole.pendingProduct = pendingProduct
            whole.pendingOffer = pendingOffer
            whole.priceIncrease = priceIncrease
            whole.raisedAt = raisedAt.map(StoreTime.init(millisecondsSinceEpoch:))
            whole.autoRenewOffReason = autoRenewOffReason.map(AutoRenewOffReason.init(rawValue:))
            whole.startedAt = StoreTime(millisecondsSinceEpoch: startedAt)
            whole.recentStart = StoreTime(millisecondsSinceEpoch: recentStart)
            whole.attempts = Int(attempts)
            whole.lastTry = lastTry.map(StoreTime.init(millisecondsSinceEpoch:))
            whole.charge = charge
            whole.renewalProblem = renewalProblem.map(RenewalProblem.init(rawValue:))
            whole.gracePeriodEnd = gracePeriodEnd.map(StoreTime.init(millisecondsSinceEpoch:))
            whole.billingRetryEnd = billingRetryEnd.map(StoreTime.init(millisecondsSinceEpoch:))
            whole.expirationIntent = expirationIntent
            whole.extensions = extensions
            whole.paidTime = paidTime
            whole.wonBackAt = wonBackAt.map(StoreTime.init(millisecondsSinceEpoch:))
            return whole
        }
    }
}

extension SubscriptionProduct {
    func write(to text: inout PlainJSONText) {
        text.member("id", id.rawValue)
        text.member("price", object: price.write)
        text.member("terms", object: terms.write)
    }

    init?(from json: inout PlainJSON) {
        var id: ProductID?
        var terms: SubscriptionTerms?
        var price: Money?
        let isRead = json.object { json, name in
            switch name {
            case "id": PlainJSON.keep(json.identifier(), in: &id)
            case "terms": PlainJSON.keep(SubscriptionTerms(from: &json), in: &terms)
            case "price": PlainJSON.keep(Money(from: &json), in: &price)
            default: json.skip()
            }
        }
        guard isRead, let id, let terms, let price else { return nil }
        self.init(id: id, terms: terms, price: price)
    }
}

extension RenewalCharge {
    fileprivate func write(to text: inout PlainJSONText) {
        if let endsPeriod { text.member("endsPeriod", endsPeriod) }
        text.member("key", object: key.write)
        if let offer { text.member("offer", object: offer.write) }
        text.member("product", object: product.write)
        text.member("startedAt", startedAt)
        text.member("storefront", storefront.rawValue)
    }

    fileprivate init?(from json: inout PlainJSON) {
        var key: RenewalChargeKey?
        var product: SubscriptionProduct?
        var offer: PeriodOffer?
        var storefront: Storefront?
        var startedAt: Int64?
        var endsPeriod: Bool?
        let isRead = json.object { json, name in
            switch name {
            case "key": PlainJSON.keep(RenewalChargeKey(from: &json), in: &key)
            case "product": PlainJSON.keep(SubscriptionProduct(from: &json), in: &product)
            case "offer": json.null() || PlainJSON.keep(PeriodOffer(from: &json), in: &offer)
            case "storefront": PlainJSON.keep(json.identifier(), in: &storefront)
            case "startedAt": PlainJSON.keep(json.integer(), in: &startedAt)
            case "endsPeriod": json.null() || PlainJSON.keep(json.bool(), in: &endsPeriod)
            default: json.skip()
            }
        }
        guard isRead, let key, let product, let storefront, let startedAt else { return nil }
        self.init(
            key: key,
            product: product,
            offer: offer,
            storefront: storefront,
            startedAt: StoreTime(millisecondsSinceEpoch: startedAt)
        )
        self.endsPeriod = endsPeriod
    }
}

extension ExpirationIntent {
    fileprivate init?(from json: inout PlainJSON) {
        guard let number = json.integer().flatMap(Int.init(exactly:)) else { return nil }
        self.init(rawValue: number)
    }
}
