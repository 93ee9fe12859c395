import Crypto
import Foundation
import SwiftASN1
import X509

/// The three certificates that receipts are signed with, in the form Apple's own verifiers accept:
/// P-256 throughout, key identifiers on all, and one marker OID each on leaf and intermediate,
/// present and not critical (spec section 2.4).
enum SigningChain {
    /// Marks a certificate that signs receipts.
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// Marks the authority that issues them.
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

    /// An authority: a certificate and the key that signs in its name.
    struct Authority {
        let certificate: Certificate
        let key: P256.Signing.PrivateKey
    }

    /// Issues the self-signed root, valid for 20 years.
    static func root(key: P256.Signing.PrivateKey, at time: Date) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        let name = try name("Counterfoil Root")
        return try certificate(
            for: publicKey,
            subject: name,
            issuer: name,
            years: 20,
            at: time,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: publicKey)
            },
            signedBy: key
        )
    }

    /// Issues the intermediate authority, valid for 10 years.
    static func intermediate(
        key: P256.Signing.PrivateKey,
        from root: Authority,
        at time: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        return try certificate(
            for: publicKey,
            subject: name("Counterfoil Receipt Authority"),
            issuer: root.certificate.subject,
            years: 10,
            at: time,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: try keyIdentifier(of: root.certificate))
                marker(intermediateMarker)
            },
            signedBy: root.key
        )
    }

    /// Issues the certificate that signs receipts, valid for 2 years.
    static func leaf(
        key: P256.Signing.PublicKey,
        from intermediate: Authority,
        at time: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key)
        return try certificate(
            for: publicKey,
            subject: name("Counterfoil Receipt Signing"),
            issuer: intermediate.certificate.subject,
            years: 2,
            at: time,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(
                    keyIdentifier: try keyIdentifier(of: intermediate.certificate)
                )
                marker(leafMarker)
            },
            signedBy: intermediate.key
        )
    }

    private static func certificate(
        for publicKey: Certificate.PublicKey,
        subject: DistinguishedName,
        issuer: DistinguishedName,
        years: Int,
        at time: Date,
        extensions: Certificate.Extensions,
        signedBy key: P256.Signing.PrivateKey
    ) throws -> Certificate {
        // Backdated by an hour, so that a verifier whose clock is behind accepts it.
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: time.addingTimeInterval(-3600),
            notValidAfter: time.addingTimeInterval(Double(years) * 365 * 86_400),
            issuer: issuer,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
    }

    private static func name(_ commonName: String) throws -> DistinguishedName {
        try DistinguishedName {
            CommonName(commonName)
            OrganizationName("Counterfoil")
        }
    }

    private static func keyIdentifier(of certificate: Certificate) throws -> ArraySlice<UInt8>? {
        try certificate.extensions.subjectKeyIdentifier?.keyIdentifier
    }

    /// An extension that says no more than that it is there: its value is ASN.1 `NULL`.
    private static func marker(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: oid, critical: false, value: [0x05, 0x00])
    }
}
