import EventTypes

/// The client's knowledge of the account apart from transactions, and the related news for
/// observers.
///
/// It does no I/O.
struct AccountState {
    /// The news for the app.
    struct News {
        var hasNewStorefront = false
        /// Purchases begun outside the app that observers have not been asked about yet.
        var intents: [PurchaseIntent] = []
    }

    /// The storefront in the app's configuration.
    ///
    /// It is used until the store sends one.
    private let configured: EventTypes.Storefront?
    private(set) var account: Account?
    /// The storefront that the store named in a refusal, before the stream did.
    private var storefrontSaid: EventTypes.Storefront?
    private var intentsAsked: Set<PurchaseIntentID> = []

    init(configured: EventTypes.Storefront?) { self.configured = configured }

    /// The account's storefront: the store's value, or else the app's.
    var storefront: EventTypes.Storefront? { storefrontSaid ?? account?.storefront ?? configured }

    /// Whether the account may pay, as far as is known.
    var canMakePayments: Bool { account?.canMakePayments ?? true }

    /// Applies the store's state of the account.
    mutating func take(_ account: Account) -> News {
        guard account.version >= self.account?.version ?? 0 else { return News() }
        let storefrontBefore = storefront
        self.account = account
        storefrontSaid = nil
        var news = News()
        news.hasNewStorefront = storefront != storefrontBefore
        news.intents = account.purchaseIntents.filter { !intentsAsked.contains($0.id) }
        intentsAsked.formUnion(news.intents.map(\.id))
        return news
    }

    /// Applies the storefront of a refusal: the store refused a payment because the account has
    /// moved.
    mutating func take(storefront: EventTypes.Storefront) -> News {
        guard storefront != self.storefront else { return News() }
        storefrontSaid = storefront
        return News(hasNewStorefront: true)
    }
}
