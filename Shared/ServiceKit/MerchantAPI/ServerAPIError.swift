import EventTypes
import HTTPTypes
public import Hummingbird

/// A refusal of the App Store Server API: Apple's number and Apple's words, and nothing else, because
/// the clients that exist match on both.
///
/// The number's first three digits are the HTTP status. An even last digit among the 404s says that
/// asking again may help.
public struct ServerAPIError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Apple's number, seven digits.
    public let code: Int
    /// Apple's words.
    public let message: String
    /// After how long asking again makes sense; with ``rateLimitExceeded(retryAfter:)`` only.
    public var retryAfter: Duration?

    /// Names an error.
    public init(_ code: Int, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The number and the words.
    public var description: String { "\(code) \(message)" }

    /// The error as a response: `application/json` and no more, which clients compare whole.
    public func response() -> Response {
        // No message of ours holds what JSON would have to escape.
        var response = Response(
            status: .init(code: code / 10_000),
            headers: [.contentType: "application/json"],
            body: ResponseBody(
                byteBuffer: ByteBuffer(
                    string: "{\"errorCode\":\(code),\"errorMessage\":\"\(message)\"}"
                )
            )
        )
        if let retryAfter {
            // In seconds, as HTTP has it and every client and proxy understands.
            response.headers[.retryAfter] = String(max(1, (retryAfter.milliseconds + 999) / 1000))
        }
        return response
    }
}

extension ServerAPIError {
    /// The request cannot be understood.
    public static let generalBadRequest = ServerAPIError(4_000_000, "Bad request.")
    /// The token is believed, and speaks for what is no app: its `bid` is no bundle identifier.
    public static let invalidAppIdentifier = ServerAPIError(
        4_000_002,
        "Invalid request app identifier."
    )
    /// A page token that this request did not give.
    public static let invalidRequestRevision = ServerAPIError(
        4_000_005,
        "Invalid request revision."
    )
    /// What stands in the path is no transaction id.
    public static let invalidTransactionID = ServerAPIError(4_000_006, "Invalid transaction id.")
    /// What stands in the path is no original transaction id.
    public static let invalidOriginalTransactionID = ServerAPIError(
        4_000_008,
        "Invalid original transaction id."
    )
    /// Not 1 to 90.
    public static let invalidExtendByDays = ServerAPIError(
        4_000_009,
        "Invalid extend by days value."
    )
    /// Not 0 to 3.
    public static let invalidExtendReasonCode = ServerAPIError(
        4_000_010,
        "Invalid extend reason code."
    )
    /// No request identifier, or one that is too long.
    public static let invalidRequestIdentifier = ServerAPIError(
        4_000_011,
        "Invalid request identifier."
    )
    /// The time span ends before it begins.
    public static let startDateAfterEndDate = ServerAPIError(
        4_000_013,
        "Invalid request. The end date precedes the start date or the dates are the same."
    )
    /// No number of milliseconds.
    public static let invalidStartDate = ServerAPIError(4_000_015, "Invalid start date.")
    /// No number of milliseconds.
    public static let invalidEndDate = ServerAPIError(4_000_016, "Invalid end date.")
    /// Neither `ASCENDING` nor `DESCENDING`.
    public static let invalidSort = ServerAPIError(4_000_021, "Invalid request. Invalid sort.")
    /// None of the four.
    public static let invalidProductType = ServerAPIError(
        4_000_022,
        "Invalid request. The product type parameter is invalid."
    )
    /// No product id.
    public static let invalidProductID = ServerAPIError(
        4_000_023,
        "Invalid request. The product id parameter is invalid."
    )
    /// No subscription group.
    public static let invalidSubscriptionGroupIdentifier = ServerAPIError(
        4_000_024,
        "Invalid request. The subscription group identifier parameter is invalid."
    )
    /// A parameter that `revoked` took the place of.
    public static let invalidExcludeRevoked = ServerAPIError(
        4_000_025,
        "Invalid request. The exclude-revoked parameter is invalid."
    )
    /// Neither `PURCHASED` nor `FAMILY_SHARED`.
    public static let invalidInAppOwnershipType = ServerAPIError(
        4_000_026,
        "Invalid request. The in-app ownership type parameter is invalid."
    )
    /// A list of storefronts without one.
    public static let invalidEmptyStorefrontCountryCodeList = ServerAPIError(
        4_000_027,
        "Invalid request. If provided, the list of storefront country codes must not be empty."
    )
    /// No storefront.
    public static let invalidStorefrontCountryCode = ServerAPIError(
        4_000_028,
        "Invalid request. A storefront country code was invalid."
    )
    /// Neither `true` nor `false`.
    public static let invalidRevoked = ServerAPIError(
        4_000_030,
        "Invalid request. The revoked parameter is invalid."
    )
    /// None of the five.
    public static let invalidStatus = ServerAPIError(
        4_000_031,
        "Invalid request. The status parameter is invalid."
    )
    /// The id is of an app transaction, which this call has nothing to say of.
    public static let appTransactionIDNotSupported = ServerAPIError(
        4_000_048,
        "Invalid request. App transactions aren't supported by this endpoint."
    )
    /// No UUID.
    public static let invalidAppAccountTokenUUID = ServerAPIError(
        4_000_183,
        "Invalid request. The app account token field must be a valid UUID."
    )
    /// The id is of a transaction, but not of the original one.
    public static let transactionIDIsNotOriginal = ServerAPIError(
        4_000_187,
        "Invalid request. The transaction ID provided is not an original transaction ID."
    )
    /// Only a subscription that is active can be extended.
    public static let subscriptionExtensionIneligible = ServerAPIError(
        4_030_004,
        "Forbidden - subscription state ineligible for extension."
    )
    /// The store does not know the app that the token speaks for.
    public static let appNotFound = ServerAPIError(4_040_003, "App not found.")
    /// The app's registration is there and cannot be read at present.
    public static let appNotFoundRetryable = ServerAPIError(
        4_040_004,
        "App not found. Please try again."
    )
    /// No original transaction of that id in this app.
    public static let originalTransactionIDNotFound = ServerAPIError(
        4_040_005,
        "Original transaction id not found."
    )
    /// An original transaction that may be on its way here: newer than the newest that is known.
    public static let originalTransactionIDNotFoundRetryable = ServerAPIError(
        4_040_006,
        "Original transaction id not found. Please try again."
    )
    /// Nothing was asked for under that identifier.
    public static let statusRequestNotFound = ServerAPIError(
        4_040_009,
        "The server didn't find a subscription-renewal-date extension request for this "
            + "requestIdentifier and productId combination."
    )
    /// No transaction of that id in this app.
    public static let transactionIDNotFound = ServerAPIError(
        4_040_010,
        "Transaction id not found."
    )
    /// The customer has no app transaction.
    public static let appTransactionDoesNotExist = ServerAPIError(
        4_040_019,
        "No AppTransaction exists for the customer."
    )
    /// Something broke, and asking again does not help.
    public static let generalInternal = ServerAPIError(
        5_000_000,
        "An unknown error occurred."
    )
    /// Something is away; asking again may help.
    public static let generalInternalRetryable = ServerAPIError(
        5_000_001,
        "An unknown error occurred. Please try again."
    )

    /// The key asks more often than it may.
    public static func rateLimitExceeded(retryAfter: Duration) -> ServerAPIError {
        var error = ServerAPIError(4_290_000, "Rate limit exceeded.")
        error.retryAfter = retryAfter
        return error
    }
}
