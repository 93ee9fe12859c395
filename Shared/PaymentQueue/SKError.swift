import EventTypes
import StoreAPI

/// The domain of ``SKError``, by StoreKit's name.
public let SKErrorDomain = SKError.errorDomain

/// Why something of the store failed, by the codes of StoreKit (spec rules 36 and 37).
public struct SKError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codes that StoreKit knows; their numbers are its.
    public enum Code: Int, Sendable, CaseIterable {
        /// Something else.
        case unknown = 0
        /// This client may not ask for that.
        case clientInvalid = 1
        /// The buyer called it off; nothing to show.
        case paymentCancelled = 2
        /// The payment, or what pays for it, was not taken.
        case paymentInvalid = 3
        /// This buyer may not pay.
        case paymentNotAllowed = 4
        /// The product cannot be bought in this storefront.
        case storeProductNotAvailable = 5
        /// The cloud service may not be used.
        case cloudServicePermissionDenied = 6
        /// The network did not reach the store.
        case cloudServiceNetworkConnectionFailed = 7
        /// The cloud service may be used no more.
        case cloudServiceRevoked = 8
        /// The buyer has not read the privacy notice.
        case privacyAcknowledgementRequired = 9
        /// The app uses a property it has no right to.
        case unauthorizedRequestData = 10
        /// The offer does not exist.
        case invalidOfferIdentifier = 11
        /// The signature of the offer is wrong.
        case invalidSignature = 12
        /// A part of the offer is missing.
        case missingOfferParams = 13
        /// The price of the offer holds no more.
        case invalidOfferPrice = 14
        /// The buyer closed the overlay.
        case overlayCancelled = 15
        /// The overlay's configuration is wrong.
        case overlayInvalidConfiguration = 16
        /// The overlay took too long.
        case overlayTimeout = 17
        /// The buyer cannot have the offer.
        case ineligibleForOffer = 18
        /// The platform cannot do that.
        case unsupportedPlatform = 19
        /// The overlay was shown in a scene that is not in front.
        case overlayPresentedInBackgroundScene = 20
    }

    /// StoreKit's name for these errors.
    public static let errorDomain = "SKErrorDomain"
    /// The code of a buyer who calls a payment off.
    public static let paymentCancelled = Code.paymentCancelled
    /// The code of a payment that was not taken.
    public static let paymentInvalid = Code.paymentInvalid
    /// The code of a buyer who may not pay.
    public static let paymentNotAllowed = Code.paymentNotAllowed
    /// The code of a product that is not sold here.
    public static let storeProductNotAvailable = Code.storeProductNotAvailable
    /// The code of a client that may not ask for that.
    public static let clientInvalid = Code.clientInvalid
    /// The code of everything else.
    public static let unknown = Code.unknown

    /// Which kind of failure.
    public let code: Code
    /// What happened, for a log: never for the buyer.
    public let detail: String

    /// StoreKit's number of the code.
    public var errorCode: Int { code.rawValue }

    /// Makes an error.
    public init(_ code: Code, detail: String = "") {
        self.code = code
        self.detail = detail
    }

    /// The error in words.
    public var description: String {
        "\(Self.errorDomain) \(code.rawValue) (\(code))" + (detail.isEmpty ? "" : ": \(detail)")
    }
}

extension SKError {
    /// The error of a transaction that failed.
    init(_ reason: FailureReason?) {
        let code = reason.flatMap { Code(rawValue: $0.storeKitErrorCode) } ?? .unknown
        self.init(code, detail: reason?.rawValue ?? "")
    }

    /// The error of a request that the store refused.
    init(_ problem: Problem) {
        let code: Code =
            switch problem.code {
            case "product_unknown", "product_unavailable", "stale_price", "wrong_currency",
                "storefront_changed":
                .storeProductNotAvailable
            case "payments_not_allowed": .paymentNotAllowed
            case _ where problem.status == 401 || problem.status == 403: .clientInvalid
            case _ where (400..<500).contains(problem.status): .paymentInvalid
            default: .unknown
            }
        self.init(code, detail: "\(problem.code): \(problem.detail)")
    }

    /// There is no store to ask.
    static let notConfigured = SKError(
        .clientInvalid,
        detail: "SKPaymentQueue.configure was not called"
    )

    /// Any error as one of the store's.
    init(_ error: any Error) {
        switch error {
        case let error as SKError: self = error
        case let failure as StoreFailure: self = failure.error
        case let error as ContentDownloadError:
            self = error.problem.map(SKError.init) ?? SKError(.unknown, detail: "\(error)")
        case is CancellationError: self.init(.paymentCancelled, detail: "the task was cancelled")
        default: self.init(.unknown, detail: "\(error)")
        }
    }
}
