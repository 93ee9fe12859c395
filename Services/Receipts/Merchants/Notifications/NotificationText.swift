import EventTypes

/// Converts a notification's payload to its stored form, which omits the header of what is signed
/// in it if both have the same header.
///
/// Pure. The header contains three certificates, 3 KB, and is stored once for each certificate
/// chain.
enum NotificationText {
    /// The byte that replaces the header.
    ///
    /// It does not occur in JSON.
    private static let mark: UInt8 = 0x01

    /// Returns the payload as it is stored.
    static func stored(_ payload: [UInt8], header: String) -> [UInt8] {
        payload.replacing(Array(header.utf8), with: [mark])
    }

    /// Returns the notification in compact form, as it is sent.
    static func signedPayload(header: String, stored: [UInt8], signature: [UInt8]) -> String {
        JWSSerialization.joined(
            header: header,
            payload: payload(header: header, stored: stored),
            signature: signature
        )
    }

    /// Returns the payload as it was signed.
    static func payload(header: String, stored: [UInt8]) -> [UInt8] {
        stored.replacing([mark], with: Array(header.utf8))
    }
}
