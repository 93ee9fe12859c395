import ServiceKit

/// What the calls about notifications refuse, by Apple's numbers.
extension ServerAPIError {
    /// Earlier than the history goes back.
    static let startDateTooFarInPast = ServerAPIError(
        4_000_012,
        "Invalid request. The start date is earlier than the earliest allowed date."
    )
    /// Not a token that a page ended with.
    static let invalidPaginationToken = ServerAPIError(
        4_000_014,
        "Invalid request. The pagination token is invalid."
    )
    /// A token that was given too long ago.
    static let paginationTokenExpired = ServerAPIError(
        4_000_017,
        "Invalid request. The pagination token is expired."
    )
    /// No type, or no subtype of it.
    static let invalidNotificationType = ServerAPIError(
        4_000_018,
        "Invalid request. The notification type or subtype is invalid."
    )
    /// A transaction and a type.
    static let multipleFiltersSupplied = ServerAPIError(
        4_000_019,
        "Invalid request. Supply either a transaction id or a notification type, but not both."
    )
    /// Not a token of a test notification.
    static let invalidTestNotificationToken = ServerAPIError(
        4_000_020,
        "Invalid request. The test notification token is invalid."
    )
    /// The app has no endpoint.
    static let serverNotificationURLNotFound = ServerAPIError(
        4_040_007,
        "No App Store Server Notification URL found for provided app. Check that a URL is "
            + "configured for this environment."
    )
    /// No test notification of that token, or none that was tried yet.
    static let testNotificationNotFound = ServerAPIError(
        4_040_008,
        "Either the test notification token is expired or the notification and status are not yet "
            + "available."
    )
}
