import EventTypes
import Foundation
import StoreAPI

extension Transaction {
    /// The result of a request for a refund.
    public enum RefundRequestStatus: Hashable, Sendable {
        /// The store has the request and will decide.
        case success
        /// The buyer changed their mind.
        ///
        /// The library never returns it: the app asks the buyer before it calls.
        case userCancelled
    }

    /// The reason why a request for a refund was not taken.
    public enum RefundRequestError: Error, Hashable, Sendable {
        /// The buyer has already asked, or has the money back.
        case duplicateRequest
        /// The store refused the request or cannot be reached.
        case failed
    }

    /// The buyer's reason for wanting a refund.
    public struct RefundRequestReason: RawRepresentable, Hashable, Sendable {
        /// The value in the request.
        public let rawValue: String
        /// Makes a reason from its value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The buyer did not mean to buy.
        public static let unintendedPurchase = RefundRequestReason(rawValue: "unintendedPurchase")
        /// The buyer did not get the goods, or they do not work.
        public static let fulfillmentIssue = RefundRequestReason(rawValue: "fulfillmentIssue")
        /// The buyer does not like the goods.
        public static let unsatisfied = RefundRequestReason(rawValue: "unsatisfied")
        /// The law gives the buyer the money back.
        public static let legal = RefundRequestReason(rawValue: "legal")
        /// Any other reason.
        public static let other = RefundRequestReason(rawValue: "other")
    }

    /// Asks the store for a refund of this purchase.
    ///
    /// A person at the store decides. A refund arrives as a change of the transaction.
    ///
    /// - Parameter reason: The buyer's reason.
    /// - Returns: `success` once the store has the request.
    /// - Throws: ``RefundRequestError``, or `CancellationError`.
    @discardableResult
    public func beginRefundRequest(
        because reason: RefundRequestReason = .other
    ) async throws -> RefundRequestStatus {
        try await Self.beginRefundRequest(for: id, because: reason)
    }

    /// Asks the store for a refund of a purchase.
    ///
    /// - Parameters:
    ///   - transactionID: The purchase, which belongs to the account.
    ///   - reason: The buyer's reason.
    /// - Returns: `success` once the store has the request.
    /// - Throws: ``RefundRequestError``, or `CancellationError`.
    @discardableResult
    public static func beginRefundRequest(
        for transactionID: UInt64,
        because reason: RefundRequestReason = .other
    ) async throws -> RefundRequestStatus {
        guard let id = TransactionID(rawValue: String(transactionID)) else {
            throw RefundRequestError.failed
        }
        do {
            try await SKPaymentQueue.default().requestRefund(
                of: id,
                because: RefundReason(rawValue: reason.rawValue)
            )
            return .success
        } catch let failure as StoreFailure {
            switch failure.code {
            case "refund_requested", "nothing_to_refund":
                throw RefundRequestError.duplicateRequest
            default: throw RefundRequestError.failed
            }
        } catch is SKError {
            throw RefundRequestError.failed
        }
    }
}

extension SKPaymentQueue {
    /// Asks for a refund, under one key until the store answers.
    fileprivate func requestRefund(of id: TransactionID, because reason: RefundReason) async throws
    {
        guard let transport else { throw SKError.notConfigured }
        let _: BuyerRefundResponse = try await transport.sendUntilAnswered(
            .post(
                transport.configuration.addresses.payments + Routes.refundRequests(of: id),
                BuyerRefundRequest(reason: reason),
                idempotencyKey: IdempotencyKey(unchecked: UUID().uuidString)
            ),
            patience: .until(.now + transport.configuration.paymentPatience)
        )
    }
}
