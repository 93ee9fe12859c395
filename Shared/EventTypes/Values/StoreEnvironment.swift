/// The environment of a store: one of Apple's two.
///
/// There are deliberately no other cases. Apple's verifiers do not check signatures in the
/// environments `Xcode` and `LocalTesting` (spec section 2.4 and trap 55), so the store never uses
/// them.
public enum StoreEnvironment: String, CaseIterable, Codable, Sendable {
    /// The environment for development and tests. Payments cost nothing.
    case sandbox = "Sandbox"
    /// The environment that charges real money.
    case production = "Production"
}
