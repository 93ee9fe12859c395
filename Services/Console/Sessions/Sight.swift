import StoreAPI

/// A part of the store that pages show, with the scopes that open it.
enum Sight: CaseIterable, Sendable {
    /// Buyers: their purchases, accounts and subscriptions, and the acts of administrators.
    case purchases
    /// The signed receipts of purchases.
    case receipts
    /// Products, and offer codes.
    case products
    /// Events that could not be applied, without their data.
    case deadLetters
    /// The data of such events.
    case eventData
    /// The store's clock.
    case clock
    /// Replays and proofs.
    case jobs

    /// The scopes, any one of which opens the part.
    var scopes: Set<AdministratorScope> {
        switch self {
        case .purchases: [.read, .support]
        case .receipts: [.support]
        case .products: [.read, .merchandiser]
        case .deadLetters: [.read, .support, .operator]
        case .eventData: [.operator]
        case .clock, .jobs: [.read, .operator]
        }
    }
}
