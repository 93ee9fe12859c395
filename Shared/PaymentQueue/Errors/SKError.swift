import EventTypes
public import Foundation
import StoreAPI

/// The domain of ``SKError``, by StoreKit's name.
public let SKErrorDomain = SKError.errorDomain

/// An error of the store, with StoreKit's codes (spec rules 36 and 37).
///
/// As an `NSError` it has the domain `SKErrorDomain` and StoreKit's number. Show
/// `localizedDescription`, a sentence in English, to the buyer. ``failureReason`` is for the
/// developer. An app with its own texts chooses them by ``code`` and ``storeCode``.
public struct SKError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codes of StoreKit, with StoreKit's numbers.
    public enum Code: Int, Sendable, CaseIterable {
        /// Any other error.
        case unknown = 0
        /// This client is not allowed to make the request.
        case clientInvalid = 1
        /// The buyer cancelled the payment. There is nothing to show.
        case paymentCancelled = 2
        /// The payment or the payment method was not accepted.
        case paymentInvalid = 3
        /// This buyer is not allowed to pay.
        case paymentNotAllowed = 4
        /// The product cannot be bought in this storefront.
        case storeProductNotAvailable = 5
        /// The app is not allowed to use the cloud service.
        case cloudServicePermissionDenied = 6
        /// The store could not be reached over the network.
        case cloudServiceNetworkConnectionFailed = 7
        /// The permission to use the cloud service was revoked.
        case cloudServiceRevoked = 8
        /// The buyer has not acknowledged the privacy notice.
        case privacyAcknowledgementRequired = 9
        /// The app uses a property that it is not entitled to use.
        case unauthorizedRequestData = 10
        /// The offer does not exist.
        case invalidOfferIdentifier = 11
        /// The signature of the offer is wrong.
        case invalidSignature = 12
        /// A parameter of the offer is missing.
        case missingOfferParams = 13
        /// The price of the offer is no longer valid.
        case invalidOfferPrice = 14
        /// The buyer closed the overlay.
        case overlayCancelled = 15
        /// The overlay's configuration is wrong.
        case overlayInvalidConfiguration = 16
        /// The overlay timed out.
        case overlayTimeout = 17
        /// The buyer is not eligible for the offer.
        case ineligibleForOffer = 18
        /// The platform does not support the request.
        case unsupportedPlatform = 19
        /// The overlay was presented in a scene that is in the background.
        case overlayPresentedInBackgroundScene = 20
    }

    /// StoreKit's name for these errors.
    public static let errorDomain = "SKErrorDomain"
    /// The code for a payment that the buyer cancelled.
    public static let paymentCancelled = Code.paymentCancelled
    /// The code for a payment that was not accepted.
    public static let paymentInvalid = Code.paymentInvalid
    /// The code for a buyer who is not allowed to pay.
    public static let paymentNotAllowed = Code.paymentNotAllowed
    /// The code for a product that is not sold in this storefront.
    public static let storeProductNotAvailable = Code.storeProductNotAvailable
    /// The code for a client that is not allowed to make the request.
    public static let clientInvalid = Code.clientInvalid
    /// The code for any other error.
    public static let unknown = Code.unknown

    /// The kind of the error.
    public let code: Code
    /// A description for logs.
    ///
    /// Never show it to the buyer.
    public let detail: String
    /// The store's own code, if the store sent one.
    ///
    /// It is the code of a problem such as `stale_price`, or the reason of a failed transaction
    /// such as `insufficientFunds`. It distinguishes cases for which StoreKit has only one code.
    public let storeCode: String?

    /// Makes an error.
    public init(_ code: Code, detail: String = "") {
        self.init(code, storeCode: nil, detail: detail)
    }

    init(_ code: Code, storeCode: String?, detail: String) {
        self.code = code
        self.storeCode = storeCode
        self.detail = detail
    }

    /// The error as text.
    public var description: String {
        "\(Self.errorDomain) \(code.rawValue) (\(code))" + (detail.isEmpty ? "" : ": \(detail)")
    }
}

extension SKError: CustomNSError, LocalizedError {
    /// StoreKit's number for the code.
    public var errorCode: Int { code.rawValue }

    /// The `NSError` user info: the sentence for the buyer and the reason for the developer.
    ///
    /// The texts are repeated here because Foundation on Linux reads nothing else from an error
    /// that has its own code.
    public var errorUserInfo: [String: Any] {
        [
            NSLocalizedDescriptionKey: buyerSentence,
            NSLocalizedFailureReasonErrorKey: developerReason,
        ]
    }

    /// A sentence in English that a buyer can read.
    public var errorDescription: String? { buyerSentence }

    /// An explanation in English for the developer.
    public var failureReason: String? { developerReason }

    private var buyerSentence: String {
        storeCode.flatMap { Self.sentences[$0] } ?? code.sentence
    }

    private var developerReason: String { detail.isEmpty ? code.meaning : detail }
}

extension SKError {
    /// Makes the error of a failed transaction.
    init(_ reason: FailureReason?) {
        guard let reason else {
            self.init(.unknown, detail: "The store does not say why the transaction failed.")
            return
        }
        self.init(
            Code(rawValue: reason.storeKitErrorCode) ?? .unknown,
            storeCode: reason.rawValue,
            detail: "\(reason.rawValue): "
                + (Self.meanings[reason.rawValue] ?? "A newer version knows what this means.")
        )
    }

    /// Makes the error of a request that the store refused.
    init(_ problem: Problem) {
        let forbidden = problem.status == 401 || problem.status == 403
        self.init(
            Self.codes[problem.code] ?? (forbidden ? .clientInvalid : .unknown),
            storeCode: problem.code,
            detail: "\(problem.code): \(problem.detail)"
        )
    }

    /// The error of a program without a configured store.
    static let notConfigured = SKError(
        .clientInvalid,
        detail: "SKPaymentQueue.configure was not called"
    )

    /// Converts any error to an error of the store.
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

/// ``SKError`` without its prefix.
public typealias StoreError = SKError
