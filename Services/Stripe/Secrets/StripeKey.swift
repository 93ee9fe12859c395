package import EventTypes

/// A key of the API that fits the store's environment.
///
/// A production store takes live keys only, and a sandbox takes test keys only. So no sandbox moves
/// money, and no production store sells for play money.
package struct StripeKey: Hashable, Sendable, CustomStringConvertible {
    /// The key's text.
    let secret: StripeSecret
    /// Whether the key may do only what was chosen for it, as is advised.
    package let isRestricted: Bool

    /// Reads a key.
    ///
    /// - Throws: ``StripeKeyError``
    package init(_ text: String, environment: StoreEnvironment) throws(StripeKeyError) {
        guard !text.hasPrefix("pk_") else { throw .publishable }
        guard let start = text.firstMatch(of: /^(rk|sk)_(live|test)_[A-Za-z0-9_]{8,}$/) else {
            throw .malformed
        }
        let isLive = start.2 == "live"
        guard isLive == (environment == .production) else {
            throw isLive ? .liveKeyInSandbox : .testKeyInProduction
        }
        isRestricted = start.1 == "rk"
        secret = StripeSecret(text)
    }

    package var description: String { "<redacted>" }
}

/// The reason why a key of the API is refused; it never contains the key.
package enum StripeKeyError: Error, Hashable, CustomStringConvertible {
    case malformed, publishable, testKeyInProduction, liveKeyInSandbox

    package var description: String {
        switch self {
        case .malformed:
            "The key does not begin with rk_live_, sk_live_, rk_test_ or sk_test_, or has "
                + "characters that no key has."
        case .publishable:
            "The key begins with pk_: that one is for apps. The store needs the restricted key."
        case .testKeyInProduction:
            "The key is for Stripe's test environment, and this store is a production store."
        case .liveKeyInSandbox:
            "The key moves real money, and this store is a sandbox."
        }
    }
}
