public import EventTypes

/// The notification that was signed and is being sent.
public struct NotificationResponse: Codable, Hashable, Sendable {
    /// Its UUID, the same at every try.
    public var notificationUUID: EventID

    /// Makes an answer.
    public init(notificationUUID: EventID) { self.notificationUUID = notificationUUID }
}
