import EventTypes
public import Foundation
import StoreAPI

/// The domain of ``SKError``, by StoreKit's name.
public let SKErrorDomain = SKError.errorDomain

/// Why something of the store failed, by the codes of StoreKit (spec rules 36 and 37).
///
/// As an `NSError` it has the domain `SKErrorDomain` and StoreKit's number. The buyer is shown
/// `localizedDescription`, a sentence in English; the developer reads ``failureReason``. An app that
/// has words of its own chooses them by ``code`` and ``storeCode``.
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
    /// The store's own word for it, where the store gave one.
    ///
    /// The code of a problem such as `stale_price`, or the reason of a failed transaction such as
    /// `insufficientFunds`. It tells apart what StoreKit has one code for.
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

    /// The error in words.
    public var description: String {
        "\(Self.errorDomain) \(code.rawValue) (\(code))" + (detail.isEmpty ? "" : ": \(detail)")
    }
}

extension SKError: CustomNSError, LocalizedError {
    /// StoreKit's number of the code.
    public var errorCode: Int { code.rawValue }

    /// What an `NSError` carries: the sentence for the buyer and the reason for the developer.
    ///
    /// The texts are put in here as well, because Foundation on Linux asks nothing else of an error
    /// that has a code of its own.
    public var errorUserInfo: [String: Any] {
        [
            NSLocalizedDescriptionKey: buyerSentence,
            NSLocalizedFailureReasonErrorKey: developerReason,
        ]
    }

    /// A sentence in English that a buyer can read.
    public var errorDescription: String? { buyerSentence }

    /// What happened, in English, for the developer.
    public var failureReason: String? { developerReason }

    private var buyerSentence: String {
        storeCode.flatMap { Self.sentences[$0] } ?? code.sentence
    }

    private var developerReason: String { detail.isEmpty ? code.meaning : detail }
}

extension SKError {
    /// The error of a transaction that failed.
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

    /// The error of a request that the store refused.
    init(_ problem: Problem) {
        let forbidden = problem.status == 401 || problem.status == 403
        self.init(
            Self.codes[problem.code] ?? (forbidden ? .clientInvalid : .unknown),
            storeCode: problem.code,
            detail: "\(problem.code): \(problem.detail)"
        )
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

/// ``SKError`` without its prefix.
public typealias StoreError = SKError
