/// What is known of a certificate.
enum CertificateStatus: Hashable, Sendable {
    /// It was issued and is believed.
    case good
    /// It is not believed any more, since a time (`YYYYMMDDHHMMSSZ`) and for a reason of RFC 5280.
    case revoked(at: String, reason: UInt8)
    /// It was not issued here.
    case unknown
}
