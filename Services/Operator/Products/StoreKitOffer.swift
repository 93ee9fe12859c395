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
}
