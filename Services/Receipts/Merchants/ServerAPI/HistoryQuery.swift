import EventTypes
import ServiceKit

/// Which transactions of an account a server asks for: the query of `GET …/history/{id}`, checked.
///
/// Pure. A parameter that may stand once and stands twice, a value that is none, and values that
/// contradict each other are refused with Apple's number for the parameter; parameters that Apple's
/// API does not have are passed over, as Apple's server does.
struct HistoryQuery: Hashable, Sendable {
    /// The two forms of the history, which differ in finished consumables (spec X7).
    enum Version: String, Sendable {
        case v1, v2
    }

    /// In which order transactions come: as they changed last, or the other way round.
    enum Order: String, Sendable {
        case ascending = "ASCENDING"
        case descending = "DESCENDING"
    }

    let version: Version
    private(set) var order = Order.ascending
    private(set) var startDate: Timestamp?
    private(set) var endDate: Timestamp?
    private(set) var productIDs: Set<ProductID> = []
    private(set) var productTypes: Set<ProductType> = []
    private(set) var subscriptionGroups: Set<String> = []
    private(set) var isFamilyShared: Bool?
    private(set) var isRevoked: Bool?

    /// What a history row is chosen by.
    struct Candidate: Hashable, Sendable {
        var productID: ProductID
        var productType: ProductType
        var purchasedAt: Timestamp
        var isRevoked: Bool
        var isFinished: Bool
    }

    /// The most values that one parameter may have; more would be no filter any more.
    private static let valuesMax = 100
    private static let productTypeNames: [String: ProductType] = [
        "AUTO_RENEWABLE": .autoRenewableSubscription,
        "NON_RENEWABLE": .nonRenewingSubscription,
        "CONSUMABLE": .consumable,
        "NON_CONSUMABLE": .nonConsumable,
    ]

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - parameters: Names and values in the order they came, percent-decoded.
    ///   - version: Of the path.
    /// - Throws: ``ServerAPIError`` for the first parameter that is wrong.
    init(_ parameters: QueryParameters, version: Version) throws(ServerAPIError) {
        self.version = version
        startDate = try parameters.milliseconds("startDate", else: .invalidStartDate)
        endDate = try parameters.milliseconds("endDate", else: .invalidEndDate)
        if let startDate, let endDate, startDate >= endDate { throw .startDateAfterEndDate }
        for value in try Self.values("productId", of: parameters, else: .invalidProductID) {
            guard let id = ProductID(rawValue: value) else { throw .invalidProductID }
            productIDs.insert(id)
        }
        for value in try Self.values("productType", of: parameters, else: .invalidProductType) {
            guard let type = Self.productTypeNames[value] else { throw .invalidProductType }
            productTypes.insert(type)
        }
        for value in try Self.values(
            "subscriptionGroupIdentifier",
            of: parameters,
            else: .invalidSubscriptionGroupIdentifier
        ) {
            guard (1...255).contains(value.unicodeScalars.count) else {
                throw .invalidSubscriptionGroupIdentifier
            }
            subscriptionGroups.insert(value)
        }
        if let value = try parameters.single("sort", else: .invalidSort) {
            guard let order = Order(rawValue: value) else { throw .invalidSort }
            self.order = order
        }
        if let value = try parameters.single(
            "inAppOwnershipType",
            else: .invalidInAppOwnershipType
        ) {
            guard ["PURCHASED", "FAMILY_SHARED"].contains(value) else {
                throw .invalidInAppOwnershipType
            }
            isFamilyShared = value == "FAMILY_SHARED"
        }
        isRevoked = try parameters.bool("revoked", else: .invalidRevoked)
        try readExcludeRevoked(parameters)
    }

    /// Whether a transaction is asked for.
    func selects(_ candidate: Candidate) -> Bool {
        if version == .v1, candidate.productType == .consumable, candidate.isFinished,
            !candidate.isRevoked
        {
            return false
        }
        if let startDate, candidate.purchasedAt < startDate { return false }
        if let endDate, candidate.purchasedAt >= endDate { return false }
        if !productIDs.isEmpty, !productIDs.contains(candidate.productID) { return false }
        if !productTypes.isEmpty, !productTypes.contains(candidate.productType) { return false }
        // Nothing is shared in a family, and nothing is in a subscription group, until the store
        // sells subscriptions.
        if isFamilyShared == true || !subscriptionGroups.isEmpty { return false }
        if let isRevoked, candidate.isRevoked != isRevoked { return false }
        return true
    }

    /// The same text for queries that ask for the same, whatever the order of their parameters; a
    /// page's token belongs to it.
    var fingerprint: String {
        func joined(_ values: some Sequence<String>) -> String {
            values.sorted().joined(separator: ",")
        }
        return [
            version.rawValue, order.rawValue,
            startDate.map { "\($0.millisecondsSinceEpoch)" } ?? "",
            endDate.map { "\($0.millisecondsSinceEpoch)" } ?? "",
            joined(productIDs.map(\.rawValue)), joined(productTypes.map(\.rawValue)),
            joined(subscriptionGroups), isFamilyShared.map { "\($0)" } ?? "",
            isRevoked.map { "\($0)" } ?? "",
        ].joined(separator: "\n")
    }

    /// What came before `revoked` (Apple's API until 1.5): only `true` says anything.
    private mutating func readExcludeRevoked(
        _ parameters: QueryParameters
    ) throws(ServerAPIError) {
        guard let excludes = try parameters.bool("excludeRevoked", else: .invalidExcludeRevoked)
        else { return }
        guard excludes else { return }
        // Only what is revoked, and nothing that is revoked.
        if isRevoked == true { throw .invalidExcludeRevoked }
        isRevoked = false
    }

    private static func values(
        _ name: String,
        of parameters: QueryParameters,
        else error: ServerAPIError
    ) throws(ServerAPIError) -> [String] {
        let values = parameters.all(name)
        guard values.count <= valuesMax else { throw error }
        return values
    }
}
