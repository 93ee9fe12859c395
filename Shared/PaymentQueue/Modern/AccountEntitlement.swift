import EventTypes
public import Foundation
import StoreAPI

/// Something that an account may use now, by the name that the store's catalog gives it.
///
/// Several products may give one name. The merchant may change which ones do so at any time, without
/// a new version of the app.
public struct AccountEntitlement: Hashable, Sendable, Identifiable {
    /// The name.
    public var id: String { name }
    /// The name, such as `pro`.
    public let name: String
    /// The product that gives it; of several, the one that lasts longest.
    public let productID: String
    /// The identifier of the transaction that gives it: that of the period of a subscription, or
    /// else the first one of the purchase.
    public let transactionID: String
    /// The identifier of the first transaction of the same purchase.
    public let originalTransactionID: String
    /// The date of the end, unless the subscription is renewed; `nil` if it does not end.
    public let expirationDate: Date?
}

extension SKPaymentQueue {
    /// Requests what the account may use now from the store, ordered by name.
    ///
    /// A name that is not among them may not be used.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public func namedEntitlements() async throws -> [AccountEntitlement] {
        guard let transport else { throw SKError.notConfigured }
        do {
            let response: EntitlementsResponse = try await transport.send(
                .get(transport.configuration.addresses.fulfillment + Routes.entitlements)
            )
            return response.named.map(AccountEntitlement.init)
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }

    /// Requests from the store whether the account may use something now, and until when.
    ///
    /// - Parameter name: The name of the entitlement, such as `pro`.
    /// - Returns: The entitlement; `nil` if the account may not use it.
    /// - Throws: ``SKError``, or `CancellationError`.
    public func entitlement(named name: String) async throws -> AccountEntitlement? {
        try await namedEntitlements().first { $0.name == name }
    }
}

extension AccountEntitlement {
    fileprivate init(_ entitlement: NamedEntitlement) {
        name = entitlement.name.rawValue
        productID = entitlement.productID.rawValue
        transactionID = entitlement.transactionID.rawValue
        originalTransactionID = entitlement.originalTransactionID.rawValue
        expirationDate = entitlement.endsAt?.date
    }
}
