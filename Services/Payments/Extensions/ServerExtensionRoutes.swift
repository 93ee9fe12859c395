import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit
import Subscriptions

/// The calls of the App Store Server API that `payments` answers: a merchant's server extends
/// subscriptions (rules S211 to S223 of docs/subscriptions.md).
///
/// A subscription of another app gets the same answer as one that does not exist.
struct ServerExtensionRoutes: Sendable {
    private struct Accepted: Encodable {
        let requestIdentifier: String
    }

    private struct Status: Encodable {
        let requestIdentifier: String
        let complete: Bool
        let completeDate: Int64?
        let succeededCount: Int64?
        let failedCount: Int64?
    }

    private struct Extended: Encodable {
        let originalTransactionId: TransactionID
        let webOrderLineItemId: String
        let success: Bool
        let effectiveDate: Int64
    }

    let authenticator: ServerAPIAuthenticator
    let subscriptions: SubscriptionHandler
    let masses: MassExtensionHandler
    let transactions: TransactionReader

    /// Adds the routes.
    func add(to router: StoreRouter) {
        router.open.group("/inApps/v1/subscriptions/extend")
            .add(middleware: ServerAPIMiddleware(authenticator: authenticator))
            .put("{id}", use: extendOne)
            .post("mass", use: extendAll)
            .get("mass/{productID}/{requestID}", use: status)
    }

    @Sendable private func extendOne(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        let wanted = try RenewalExtension(try await bytes(of: request)).one
        guard let id = context.parameters.get("id").flatMap(TransactionID.init(rawValue:)) else {
            throw ServerAPIError.invalidOriginalTransactionID
        }
        guard let subscription = try await subscriptions.subscription(id),
            subscription.bundleID == bundle
        else { throw Self.refusal(of: try await transactions.transaction(id), in: bundle) }
        switch try await subscriptions.extend(id, by: wanted, act: nil, trace: context.trace) {
        case .done(let after):
            guard let made = after.extensions?.first(where: { $0.id == wanted.id }) else {
                throw ServerAPIError.generalInternal
            }
            return try jsonResponse(
                Extended(
                    originalTransactionId: id,
                    webOrderLineItemId: made.transactionID.webOrderLineItemID,
                    success: true,
                    effectiveDate: made.end.millisecondsSinceEpoch
                )
            )
        case .refused(.extensionDiffers): throw ServerAPIError.invalidRequestIdentifier
        case .refused(.tooManyExtensions): throw ServerAPIError.subscriptionMaxExtension
        case .refused: throw ServerAPIError.subscriptionExtensionIneligible
        case .unknown: throw ServerAPIError.originalTransactionIDNotFound
        }
    }

    /// The refusal of an id that is not that of a subscription.
    ///
    /// - Parameters:
    ///   - transaction: The transaction that has the id; `nil` if none has it.
    ///   - bundle: The app of the merchant's server.
    /// - Returns: The refusal.
    static func refusal(
        of transaction: Transaction?,
        in bundle: BundleID
    ) -> ServerAPIError {
        guard let transaction, transaction.bundleID == bundle,
            transaction.state == .purchased || transaction.state == .restored
        else { return .originalTransactionIDNotFound }
        guard transaction.originalID == transaction.id else { return .transactionIDIsNotOriginal }
        return transaction.reason == .familyShared
            && transaction.productType == .autoRenewableSubscription
            ? .familySharedSubscriptionExtensionIneligible : .subscriptionExtensionIneligible
    }

    @Sendable private func extendAll(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        let wanted = try RenewalExtension(try await bytes(of: request))
            .all(in: bundle, at: masses.context.now())
        switch try await masses.accept(wanted, by: nil, trace: context.trace) {
        case .accepted(let accepted):
            return try jsonResponse(Accepted(requestIdentifier: accepted.requestIdentifier))
        case .differs: throw ServerAPIError.invalidRequestIdentifier
        case .unknownProduct: throw ServerAPIError.invalidProductID
        }
    }

    @Sendable private func status(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        guard let product = parameter("productID", context).flatMap(ProductID.init(rawValue:)),
            let identifier = parameter("requestID", context),
            let found = try await masses.request(identifier, of: product, in: bundle)
        else { throw ServerAPIError.statusRequestNotFound }
        let isComplete = found.completedAt != nil
        return try jsonResponse(
            Status(
                requestIdentifier: identifier,
                complete: isComplete,
                completeDate: found.completedAt?.millisecondsSinceEpoch,
                succeededCount: isComplete ? found.succeededCount : nil,
                failedCount: isComplete ? found.failedCount : nil
            )
        )
    }

    /// A part of the path without its percent signs; `nil` if they are wrong.
    private func parameter(_ name: String, _ context: StoreRequestContext) -> String? {
        context.parameters.get(name)?.removingPercentEncoding
    }

    private func bytes(of request: Request) async throws -> [UInt8] {
        Array(try await collectBody(of: request).readableBytesView)
    }
}
