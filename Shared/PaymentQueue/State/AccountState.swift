import EventTypes

/// What this client knows of the account beside transactions, and what its observers have to be told
/// of it.
///
/// No I/O.
struct AccountState {
    /// What the app has to be told.
    struct News {
        var hasNewStorefront = false
        /// Purchases begun outside the app that observers have not been asked about.
        var intents: [PurchaseIntent] = []
        /// Whether a price increase waits that the delegate has not been asked about.
        var hasNewPriceConsent = false
    }

    /// Where the app says that the account buys; what it goes by until the store says otherwise.
    private let configured: EventTypes.Storefront?
    private(set) var account: Account?
    /// What the store has said of the storefront in a refusal, before the stream did.
    private var storefrontSaid: EventTypes.Storefront?
    private var intentsAsked: Set<PurchaseIntentID> = []
    private var consentsAsked: Set<PriceConsentID> = []
    private var consentsShown: Set<PriceConsentID> = []

    init(configured: EventTypes.Storefront?) { self.configured = configured }

    /// Where the account buys: as the store says, or else as the app does.
    var storefront: EventTypes.Storefront? { storefrontSaid ?? account?.storefront ?? configured }

    /// Whether it may pay, as far as is known.
    var canMakePayments: Bool { account?.canMakePayments ?? true }

    /// The price increases that wait for the subscriber's word.
    var pendingConsents: [PriceConsent] {
        account?.priceConsents.filter { $0.status == .pending } ?? []
    }

    /// The price increases to show now: those that wait and are not on a sheet already.
    mutating func show() -> [PriceConsent] {
        let consents = pendingConsents.filter { !consentsShown.contains($0.id) }
        consentsShown.formUnion(consents.map(\.id))
        return consents
    }

    /// A sheet was closed without an answer, or the answer did not arrive.
    mutating func unshow(_ id: PriceConsentID) { consentsShown.remove(id) }

    /// The store has said what it knows of the account.
    mutating func take(_ account: Account) -> News {
        guard account.version >= self.account?.version ?? 0 else { return News() }
        let storefrontBefore = storefront
        self.account = account
        storefrontSaid = nil
        var news = News()
        news.hasNewStorefront = storefront != storefrontBefore
        news.intents = account.purchaseIntents.filter { !intentsAsked.contains($0.id) }
        intentsAsked.formUnion(news.intents.map(\.id))
        let consents = pendingConsents.map(\.id).filter { !consentsAsked.contains($0) }
        consentsAsked.formUnion(consents)
        news.hasNewPriceConsent = !consents.isEmpty
        return news
    }

    /// The store has refused a payment because the account buys elsewhere.
    mutating func take(storefront: EventTypes.Storefront) -> News {
        guard storefront != self.storefront else { return News() }
        storefrontSaid = storefront
        return News(hasNewStorefront: true)
    }
}
