import EventTypes
import StoreAPI
import StoreTracing

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
    /// The trace of the request that asks for an act; `nil` on the pages.
    var trace: TraceContext?

    /// Whether the pages of a part of the store may be shown.
    func maySee(_ sight: Sight) -> Bool { !sight.scopes.isDisjoint(with: scopes) }

    /// Whether the administrator may do what a scope allows.
    func mayAct(as scope: AdministratorScope) -> Bool { !isReadOnly && scopes.contains(scope) }
}
