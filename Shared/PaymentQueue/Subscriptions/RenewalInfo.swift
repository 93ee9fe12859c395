public import Foundation
import ReceiptValidation

extension Product.SubscriptionInfo {
    /// The next renewal of a subscription, as the store signed it.
    ///
    /// The price of an ``offer`` is in ``renewalPrice``.
    public struct RenewalInfo: Hashable, Sendable, CustomDebugStringConvertible {
        /// The reason why a subscription is unpaid or has ended, with Apple's numbers.
        public struct ExpirationReason: RawRepresentable, Hashable, Sendable {
            /// The number of the reason.
            public let rawValue: Int
            /// Makes a reason from its number.
            public init(rawValue: Int) { self.rawValue = rawValue }
            /// The subscriber cancelled.
            public static let autoRenewDisabled = ExpirationReason(rawValue: 1)
            /// The charge failed.
            public static let billingError = ExpirationReason(rawValue: 2)
            /// The subscriber did not agree to a price increase.
            public static let didNotConsentToPriceIncrease = ExpirationReason(rawValue: 3)
            /// The product was not available any more.
            public static let productUnavailable = ExpirationReason(rawValue: 4)
            /// There was another reason.
            public static let unknown = ExpirationReason(rawValue: 5)
        }

        /// The subscriber's answer to a higher price.
        public enum PriceIncreaseStatus: Hashable, Sendable {
            /// The price does not rise, or the subscriber does not know yet.
            case noIncreasePending
            /// The subscriber was asked and did not agree.
            case pending
            /// The subscriber has agreed, or was informed of a price that needs no consent.
            case agreed
        }

        let jws: SignedText
        let payload: JWSRenewalInfo

        /// The number of the subscription's first transaction.
        public let originalTransactionID: UInt64

        init?(_ jws: SignedText, payload: JWSRenewalInfo) {
            guard let id = UInt64(payload.originalTransactionId) else { return nil }
            self.jws = jws
            self.payload = payload
            originalTransactionID = id
        }

        /// The product of the newest period.
        public var currentProductID: String { payload.productId }
        /// Whether the subscription renews at the end of its period.
        public var willAutoRenew: Bool { payload.autoRenewStatus == 1 }
        /// The product of the next period; `nil` if the subscription does not renew.
        public var autoRenewPreference: String? {
            willAutoRenew ? payload.autoRenewProductId : nil
        }
        /// The reason why the subscription is unpaid or has ended; `nil` if it is paid.
        public var expirationReason: ExpirationReason? {
            payload.expirationIntent.map(ExpirationReason.init(rawValue:))
        }
        /// Whether the period is over and the store tries to charge for the next one.
        public var isInBillingRetry: Bool { payload.isInBillingRetryPeriod ?? false }
        /// The end of the grace period; `nil` if there is none.
        public var gracePeriodExpirationDate: Date? { payload.gracePeriodExpiresDate }
        /// The subscriber's answer to a higher price.
        public var priceIncreaseStatus: PriceIncreaseStatus {
            switch payload.priceIncreaseStatus {
            case 0?: .pending
            case 1?: .agreed
            default: .noIncreasePending
            }
        }
        /// The end of the newest period.
        public var renewalDate: Date? { payload.renewalDate }
        /// The price of the next period, in units of ``currency``; `nil` if the subscription does
        /// not renew.
        public var renewalPrice: Decimal? { payload.renewalPrice.map { Decimal($0) / 1000 } }
        /// The currency of ``renewalPrice``.
        public var currency: Locale.Currency? { payload.currency.map { Locale.Currency($0) } }
        /// The offer with which the next period is paid; `nil` if there is none.
        public var offer: Transaction.Offer? {
            Transaction.Offer(
                type: payload.offerType,
                id: payload.offerIdentifier,
                discountType: payload.offerDiscountType,
                period: payload.offerPeriod
            )
        }
        /// The UUID that the app passed with the newest purchase.
        public var appAccountToken: UUID? { payload.appAccountToken }
        /// The identifier of the app's download, which is the same for all purchases of an account;
        /// `nil` if the store does not provide it.
        public var appTransactionID: String? { payload.appTransactionId }
        /// The ids of the win-back offers that the account may have, the best first; empty unless the
        /// subscription has ended.
        ///
        /// They are those of the time of the signature.
        public var eligibleWinBackOfferIDs: [String] { payload.eligibleWinBackOfferIds ?? [] }
        /// The start of the subscription, ignoring gaps of less than 60 days.
        public var recentSubscriptionStartDate: Date {
            payload.recentSubscriptionStartDate ?? payload.signedDate
        }
        /// The environment of the subscription: production or sandbox.
        public var environment: AppStore.Environment {
            AppStore.Environment(rawValue: payload.environment)
        }
        /// The date of the signature.
        public var signedDate: Date { payload.signedDate }
        /// The signed payload as JSON.
        public var jsonRepresentation: Data { jws.payload }

        /// A short description of the renewal.
        public var debugDescription: String {
            "\(currentProductID), \(originalTransactionID), "
                + (willAutoRenew ? "renews" : "does not renew")
        }

        /// Whether both values come from the same signed JWS.
        public static func == (left: RenewalInfo, right: RenewalInfo) -> Bool {
            left.jws == right.jws
        }

        /// Hashes the signed JWS.
        public func hash(into hasher: inout Hasher) { hasher.combine(jws) }
    }
}

/// ``Product/SubscriptionInfo/RenewalInfo`` by its short name.
public typealias RenewalInfo = Product.SubscriptionInfo.RenewalInfo

extension VerificationResult where SignedType == Product.SubscriptionInfo.RenewalInfo {
    /// The renewal info as the store signed it: a JWS in compact form, to be sent to a server.
    public var jwsRepresentation: String { unsafePayloadValue.jws.text }
    /// The header of the JWS as JSON.
    public var headerData: Data { unsafePayloadValue.jws.header }
    /// The payload of the JWS as JSON.
    public var payloadData: Data { unsafePayloadValue.jws.payload }
    /// The bytes that the signature covers: header and payload in their encoded form.
    public var signedData: Data { unsafePayloadValue.jws.signed }
    /// The signature.
    ///
    /// It has 64 bytes.
    public var signatureData: Data { unsafePayloadValue.jws.signature }
    /// The date of the signature.
    public var signedDate: Date { unsafePayloadValue.signedDate }
}
