public import EventTypes

/// A story that a store must tell: what there is, what happens, and what has to become true.
public struct Scenario: Sendable {
    /// A sentence that says what it shows.
    public let name: String
    /// More about it.
    public let about: String?
    /// Decides the order of shuffled steps.
    public let seed: UInt64
    /// The products in the order of the file.
    public let products: [ScenarioProduct]
    /// The accounts, those of devices included.
    public let accounts: [ScenarioAccount]
    /// The devices in the order of the file, at least one.
    public let devices: [ScenarioDevice]
    /// The steps in order.
    public let steps: [ScenarioStep]

    /// The products whose prices change in the story.
    var repricedProducts: Set<String> { Self.repriced(in: steps) }

    private static func repriced(in steps: [ScenarioStep]) -> Set<String> {
        steps.reduce(into: []) { products, step in
            switch step.action {
            case .price(let change): products.insert(change.product)
            case .shuffle(let inner): products.formUnion(repriced(in: inner))
            default: break
            }
        }
    }
}

/// An account of a scenario.
public struct ScenarioAccount: Hashable, Sendable {
    /// The name in the file.
    public let name: String
    /// The storefront; `nil` if nobody has set it.
    public let storefront: Storefront?
    /// Whether it may pay; `nil` if nobody has set it.
    public let canPay: Bool?
}

/// A device of a scenario.
public struct ScenarioDevice: Hashable, Sendable {
    /// The name in the file.
    public let name: String
    /// The account that uses it.
    public let account: String
}

/// A step with its place in the file.
public struct ScenarioStep: Sendable {
    /// The line of the step.
    public let line: Int
    /// The action.
    public let action: ScenarioAction
}
