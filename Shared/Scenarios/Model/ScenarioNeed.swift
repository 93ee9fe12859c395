/// Something that a scenario needs beside the public interfaces of a store.
public enum ScenarioNeed: String, CaseIterable, Comparable, Sendable, CustomStringConvertible {
    /// The store's clock can be set.
    case clock
    /// The ledger can be read.
    case ledger
    /// The store's services can be killed, and answers can be lost.
    case faults
    /// The store can reach a merchant's server of the scenario.
    case merchant
    /// Promotional offers can be signed with a key of the merchant's server.
    case serverKey

    /// The need in words.
    public var description: String {
        switch self {
        case .clock: "a clock that can be set"
        case .ledger: "a ledger that can be read"
        case .faults: "services that can be killed"
        case .merchant: "a merchant's server that the store can reach"
        case .serverKey: "a key of the merchant's server"
        }
    }

    /// Orders needs by their names.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
