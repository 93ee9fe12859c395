import ServiceKit

/// The errors of the calls about notifications, with Apple's numbers.
extension ServerAPIError {
    /// The start is earlier than the history goes back.
    static let startDateTooFarInPast = ServerAPIError(
        4_000_012,
        "Invalid request. The start date is earlier than the earliest allowed date."
    )
    /// The token was not issued for a page.
    static let invalidPaginationToken = ServerAPIError(
        4_000_014,
        "Invalid request. The pagination token is invalid."
    )
    /// The token is too old.
    static let paginationTokenExpired = ServerAPIError(
        4_000_017,
        "Invalid request. The pagination token is expired."
    )
    /// The type does not exist, or does not have the subtype.
    static let invalidNotificationType = ServerAPIError(
        4_000_018,
        "Invalid request. The notification type or subtype is invalid."
    )
    /// The request has both a transaction and a type.
    static let multipleFiltersSupplied = ServerAPIError(
        4_000_019,
        "Invalid request. Supply either a transaction id or a notification type, but not both."
    )
    /// The token is not that of a test notification.
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
    /// There is no test notification with that token, or it has not been tried yet.
    static let testNotificationNotFound = ServerAPIError(
        4_040_008,
        "Either the test notification token is expired or the notification and status are not yet "
            + "available."
    )
}
