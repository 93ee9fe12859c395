import EventTypes

/// How a notification's payload is kept: without the header of the transaction in it where that is
/// the notification's own.
///
/// Pure. The header holds three certificates, 3 KB, and is stored once for a chain.
enum NotificationText {
    /// Stands for the header; a byte that JSON does not hold.
    private static let mark: UInt8 = 0x01

    /// The payload as it is stored.
    static func stored(_ payload: [UInt8], header: String) -> [UInt8] {
        payload.replacing(Array(header.utf8), with: [mark], maxReplacements: 1)
    }

    /// The notification as it is sent, in compact form.
    static func signedPayload(header: String, stored: [UInt8], signature: [UInt8]) -> String {
        JWSSerialization.joined(
            header: header,
            payload: payload(header: header, stored: stored),
            signature: signature
        )
    }

    /// The payload as it was signed.
    static func payload(header: String, stored: [UInt8]) -> [UInt8] {
        stored.replacing([mark], with: Array(header.utf8), maxReplacements: 1)
    }
}
