/// Which of Apple's two environments a store works in.
///
/// There are no other cases on purpose: Apple's verifiers skip the signature of anything labelled
/// `Xcode` or `LocalTesting` (spec section 2.4 and trap 55), so the store never writes either.
public enum StoreEnvironment: String, CaseIterable, Codable, Sendable {
    /// A store for development and tests, where payments cost nothing.
    case sandbox = "Sandbox"
    /// A store that takes money.
    case production = "Production"
}
