import EventTypes

/// The names of offers in Xcode's StoreKit configuration file.
enum StoreKitOffer {
    private static let modes: [(name: String, mode: OfferMode)] = [
        ("free", .freeTrial), ("payAsYouGo", .payAsYouGo), ("payUpFront", .payUpFront),
    ]

    /// The mode with a name; `nil` if the file's name is unknown.
    static func mode(named name: String) -> OfferMode? { modes.first { $0.name == name }?.mode }

    /// The name of a mode; `nil` if the file has no name for it.
    static func name(of mode: OfferMode) -> String? { modes.first { $0.mode == mode }?.name }

    /// The kind of the customers that a file names; `nil` if its name is unknown.
    static func customer(named name: String) -> CustomerKind? {
        switch name.lowercased() {
        case "new": .new
        case "existing", "active": .active
        case "expired": .expired
        default: nil
        }
    }

    /// The name of a kind of customers.
    static func name(of kind: CustomerKind) -> String {
        kind == .active ? "existing" : kind.rawValue
    }
}
