import EventTypes
import StoreAPI

/// The administrator who looks at a page, and what the page may offer.
struct Visitor: Hashable, Sendable {
    /// The administrator's name.
    let name: AdministratorName
    /// The scopes of the administrator's token, as the key's file has them now.
    let scopes: Set<AdministratorScope>
    /// The session.
    let session: ConsoleSession
    /// Whether nobody may act here.
    let isReadOnly: Bool

    /// Whether pages with buyers' data may be shown.
    var maySeePurchases: Bool { scopes.contains(.read) || scopes.contains(.support) }

    /// Whether the administrator may refund, approve and decline.
    var mayAct: Bool { !isReadOnly && scopes.contains(.support) }
}
