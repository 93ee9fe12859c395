/// The status of a certificate.
enum CertificateStatus: Hashable, Sendable {
    /// It was issued and is valid.
    case good
    /// It was revoked at a time (`YYYYMMDDHHMMSSZ`), for a reason of RFC 5280.
    case revoked(at: String, reason: UInt8)
    /// It was not issued by this authority.
    case unknown
}
