import EventTypes
import HTTPTypes
public import Hummingbird

/// A refusal of the App Store Server API.
///
/// It contains Apple's number and message and nothing else, because existing clients match on both.
/// The first three digits of the number are the HTTP status. Among the 404s, an even last digit
/// means that a retry may help.
public struct ServerAPIError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Apple's number, seven digits.
    public let code: Int
    /// Apple's message.
    public let message: String
    /// The time after which a retry makes sense; only with ``rateLimitExceeded(retryAfter:)``.
    public var retryAfter: Duration?

    /// Makes an error.
    public init(_ code: Int, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The number and the message.
    public var description: String { "\(code) \(message)" }

    /// The error as a response.
    ///
    /// The type is plain `application/json`, because clients compare the whole value.
    public func response() -> Response {
        // None of the messages contains a character that JSON must escape.
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
            // In seconds, as HTTP specifies and every client and proxy understands.
            response.headers[.retryAfter] = String(max(1, (retryAfter.milliseconds + 999) / 1000))
        }
        return response
    }
}

extension ServerAPIError {
    /// The request cannot be understood.
    public static let generalBadRequest = ServerAPIError(4_000_000, "Bad request.")
    /// The token is valid, but its `bid` is not a bundle identifier.
    public static let invalidAppIdentifier = ServerAPIError(
        4_000_002,
        "Invalid request app identifier."
    )
    /// The page token does not come from an earlier page of this request.
    public static let invalidRequestRevision = ServerAPIError(
        4_000_005,
        "Invalid request revision."
    )
    /// The path does not contain a valid transaction id.
    public static let invalidTransactionID = ServerAPIError(4_000_006, "Invalid transaction id.")
    /// The path does not contain a valid original transaction id.
    public static let invalidOriginalTransactionID = ServerAPIError(
        4_000_008,
        "Invalid original transaction id."
    )
    /// The number of days is not from 1 to 90.
    public static let invalidExtendByDays = ServerAPIError(
        4_000_009,
        "Invalid extend by days value."
    )
    /// The reason code is not from 0 to 3.
    public static let invalidExtendReasonCode = ServerAPIError(
        4_000_010,
        "Invalid extend reason code."
    )
    /// The request identifier is missing or too long.
    public static let invalidRequestIdentifier = ServerAPIError(
        4_000_011,
        "Invalid request identifier."
    )
    /// The end of the time span does not come after its start.
    public static let startDateAfterEndDate = ServerAPIError(
        4_000_013,
        "Invalid request. The end date precedes the start date or the dates are the same."
    )
    /// The start date is not a number of milliseconds.
    public static let invalidStartDate = ServerAPIError(4_000_015, "Invalid start date.")
    /// The end date is not a number of milliseconds.
    public static let invalidEndDate = ServerAPIError(4_000_016, "Invalid end date.")
    /// The sort order is neither `ASCENDING` nor `DESCENDING`.
    public static let invalidSort = ServerAPIError(4_000_021, "Invalid request. Invalid sort.")
    /// The product type is none of the four.
    public static let invalidProductType = ServerAPIError(
        4_000_022,
        "Invalid request. The product type parameter is invalid."
    )
    /// The product id is invalid.
    public static let invalidProductID = ServerAPIError(
        4_000_023,
        "Invalid request. The product id parameter is invalid."
    )
    /// The subscription group identifier is invalid.
    public static let invalidSubscriptionGroupIdentifier = ServerAPIError(
        4_000_024,
        "Invalid request. The subscription group identifier parameter is invalid."
    )
    /// The exclude-revoked parameter is invalid; `revoked` has replaced it.
    public static let invalidExcludeRevoked = ServerAPIError(
        4_000_025,
        "Invalid request. The exclude-revoked parameter is invalid."
    )
    /// The ownership type is neither `PURCHASED` nor `FAMILY_SHARED`.
    public static let invalidInAppOwnershipType = ServerAPIError(
        4_000_026,
        "Invalid request. The in-app ownership type parameter is invalid."
    )
    /// The list of storefronts is empty.
    public static let invalidEmptyStorefrontCountryCodeList = ServerAPIError(
        4_000_027,
        "Invalid request. If provided, the list of storefront country codes must not be empty."
    )
    /// The list contains an invalid storefront.
    public static let invalidStorefrontCountryCode = ServerAPIError(
        4_000_028,
        "Invalid request. A storefront country code was invalid."
    )
    /// The value of `revoked` is neither `true` nor `false`.
    public static let invalidRevoked = ServerAPIError(
        4_000_030,
        "Invalid request. The revoked parameter is invalid."
    )
    /// The status is none of the five.
    public static let invalidStatus = ServerAPIError(
        4_000_031,
        "Invalid request. The status parameter is invalid."
    )
    /// The id is that of an app transaction, which this endpoint does not support.
    public static let appTransactionIDNotSupported = ServerAPIError(
        4_000_048,
        "Invalid request. App transactions aren't supported by this endpoint."
    )
    /// The app account token is not a UUID.
    public static let invalidAppAccountTokenUUID = ServerAPIError(
        4_000_183,
        "Invalid request. The app account token field must be a valid UUID."
    )
    /// The id is that of a transaction, but not of an original transaction.
    public static let transactionIDIsNotOriginal = ServerAPIError(
        4_000_187,
        "Invalid request. The transaction ID provided is not an original transaction ID."
    )
    /// Only a subscription that is active can be extended.
    public static let subscriptionExtensionIneligible = ServerAPIError(
        4_030_004,
        "Forbidden - subscription state ineligible for extension."
    )
    /// The subscription was extended as often as it may be in a year.
    public static let subscriptionMaxExtension = ServerAPIError(
        4_030_005,
        "Forbidden - subscription has reached maximum extension count."
    )
    /// A family shares the subscription, which is extended by the id that its buyer has.
    public static let familySharedSubscriptionExtensionIneligible = ServerAPIError(
        4_030_007,
        "Forbidden - family shared subscription ineligible for extension."
    )
    /// The store does not know the app of the token.
    public static let appNotFound = ServerAPIError(4_040_003, "App not found.")
    /// The app is registered, but its registration cannot be read at present.
    public static let appNotFoundRetryable = ServerAPIError(
        4_040_004,
        "App not found. Please try again."
    )
    /// The app has no original transaction with that id.
    public static let originalTransactionIDNotFound = ServerAPIError(
        4_040_005,
        "Original transaction id not found."
    )
    /// No request was made under that identifier.
    public static let statusRequestNotFound = ServerAPIError(
        4_040_009,
        "The server didn't find a subscription-renewal-date extension request for this "
            + "requestIdentifier and productId combination."
    )
    /// The app has no transaction with that id.
    public static let transactionIDNotFound = ServerAPIError(
        4_040_010,
        "Transaction id not found."
    )
    /// The customer has no app transaction.
    public static let appTransactionDoesNotExist = ServerAPIError(
        4_040_019,
        "No AppTransaction exists for the customer."
    )
    /// An internal error occurred, and a retry does not help.
    public static let generalInternal = ServerAPIError(
        5_000_000,
        "An unknown error occurred."
    )
    /// An internal error occurred, and a retry may help.
    public static let generalInternalRetryable = ServerAPIError(
        5_000_001,
        "An unknown error occurred. Please try again."
    )

    /// The key has made too many requests.
    public static func rateLimitExceeded(retryAfter: Duration) -> ServerAPIError {
        var error = ServerAPIError(4_290_000, "Rate limit exceeded.")
        error.retryAfter = retryAfter
        return error
    }
}
