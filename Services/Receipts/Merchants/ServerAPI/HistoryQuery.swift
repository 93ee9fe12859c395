import EventTypes
import ServiceKit

/// A server's query for transactions of an account: the checked query of `GET …/history/{id}`.
///
/// Pure. Invalid values, contradictory values and repeated parameters that may occur only once are
/// refused with Apple's number for the parameter. Parameters that Apple's API does not have are
/// ignored, as by Apple's server.
struct HistoryQuery: Hashable, Sendable {
    /// The two versions of the history, which differ in finished consumables (spec X7).
    enum Version: String, Sendable {
        case v1, v2
    }

    /// The order of transactions by their last change.
    enum Order: String, Sendable {
        case ascending = "ASCENDING"
        case descending = "DESCENDING"
    }

    let version: Version
    private(set) var order = Order.ascending
    private(set) var startDate: StoreTime?
    private(set) var endDate: StoreTime?
    private(set) var productIDs: Set<ProductID> = []
    private(set) var productTypes: Set<ProductType> = []
    private(set) var subscriptionGroups: Set<String> = []
    private(set) var isFamilyShared: Bool?
    private(set) var isRevoked: Bool?

    /// The properties of a transaction that the query filters by.
    struct Candidate: Hashable, Sendable {
        var productID: ProductID
        var productType: ProductType
        /// The group of a subscription.
        ///
        /// It is set only if the query filters by groups.
        var subscriptionGroup: String?
        /// Whether another member of the family bought it, and shares it.
        ///
        /// It is set only if the query filters by ownership.
        var isFamilyShared = false
        var purchasedAt: StoreTime
        var isRevoked: Bool
        var isRefunded: Bool
        var isFinished: Bool
    }

    /// The largest number of values for one parameter.
    ///
    /// More would hardly be a filter.
    private static let valuesMax = 100
    private static let productTypeNames: [String: ProductType] = [
        "AUTO_RENEWABLE": .autoRenewableSubscription,
        "NON_RENEWABLE": .nonRenewingSubscription,
        "CONSUMABLE": .consumable,
        "NON_CONSUMABLE": .nonConsumable,
    ]

    /// Parses a query.
    ///
    /// - Parameters:
    ///   - parameters: The names and values in their original order, percent-decoded.
    ///   - version: The version in the path.
    /// - Throws: ``ServerAPIError`` for the first invalid parameter.
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

    /// Whether a transaction matches the query.
    func selects(_ candidate: Candidate) -> Bool {
        if version == .v1, candidate.productType == .consumable, candidate.isFinished,
            !candidate.isRefunded
        {
            return false
        }
        if let startDate, candidate.purchasedAt < startDate { return false }
        if let endDate, candidate.purchasedAt >= endDate { return false }
        if !productIDs.isEmpty, !productIDs.contains(candidate.productID) { return false }
        if !productTypes.isEmpty, !productTypes.contains(candidate.productType) { return false }
        if !subscriptionGroups.isEmpty {
            guard let group = candidate.subscriptionGroup, subscriptionGroups.contains(group)
            else { return false }
        }
        if let isFamilyShared, candidate.isFamilyShared != isFamilyShared { return false }
        if let isRevoked, candidate.isRevoked != isRevoked { return false }
        return true
    }

    /// A text that is equal for equivalent queries, whatever the order of their parameters.
    ///
    /// A page's token is bound to it.
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

    /// Reads the predecessor of `revoked` (Apple's API until 1.5), of which only `true` has an
    /// effect.
    private mutating func readExcludeRevoked(
        _ parameters: QueryParameters
    ) throws(ServerAPIError) {
        guard let excludes = try parameters.bool("excludeRevoked", else: .invalidExcludeRevoked)
        else { return }
        guard excludes else { return }
        // The query asks for revoked transactions only and for none at the same time.
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
