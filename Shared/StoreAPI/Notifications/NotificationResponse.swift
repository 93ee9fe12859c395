public import EventTypes

/// A response for a notification that was signed and is being sent.
public struct NotificationResponse: Codable, Hashable, Sendable {
    /// The UUID of the notification.
    ///
    /// It is the same in every attempt.
    public var notificationUUID: EventID

    /// Makes a response.
    public init(notificationUUID: EventID) { self.notificationUUID = notificationUUID }
}
