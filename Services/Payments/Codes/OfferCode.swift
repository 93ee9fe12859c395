import EventTypes

/// A code as the books have it, with its campaign.
struct OfferCode: Hashable, Sendable {
    let digest: CodeDigest
    let bundleID: BundleID
    let productID: ProductID
    let offerID: OfferID
    /// The end by the store's clock; `nil` if there is none.
    let expiresAt: StoreTime?
    let isDeactivated: Bool
    let redemptionsMax: Int
    /// The redemptions of payments that did not fail.
    var redemptions: Int
}

/// A code that a payment redeems, with the offers that its buyer has confirmed.
struct SubmittedCode: Hashable, Sendable {
    let digest: CodeDigest
    /// The offers.
    let confirmed: OfferGrant
}

/// The one redemption of an offer that an account may have.
struct RedemptionKey: Hashable, Sendable {
    let account: AccountKey
    let productID: ProductID
    let offerID: OfferID
}

/// A redemption that a payment makes.
struct CodeRedemption: Hashable, Sendable {
    let transactionID: TransactionID
    let digest: CodeDigest
    let key: RedemptionKey
}
