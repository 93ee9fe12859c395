import Crypto
import Foundation
import SwiftASN1
import X509

/// Issues the certificates that receipts are signed with, in the form that Apple's own verifiers
/// accept (spec section 2.4).
///
/// All are P-256 and have key identifiers. Leaf and intermediate have one marker OID each, present
/// and not critical, and the address where their status can be asked.
///
/// Responders answer for their status: each authority issues a certificate that may sign OCSP
/// answers in its name (RFC 6960, 4.2.2.2), so neither authority's own key is ever online.
enum CertificateIssue {
    /// Marks a certificate that signs receipts.
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// Marks the authority that issues them.
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
    /// Marks a responder's certificate as one whose own status need not be checked (RFC 6960,
    /// 4.2.2.2.1).
    static let noCheck: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 5]

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
        statusToldAt ocspURL: String,
        at time: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        return try certificate(
            for: publicKey,
            subject: name("Counterfoil Receipt Authority"),
            issuer: root.certificate.subject,
            years: 10,
            at: time,
            noLongerThan: root.certificate,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: try keyIdentifier(of: root.certificate))
                statusAddress(ocspURL)
                marker(intermediateMarker)
            },
            signedBy: root.key
        )
    }

    /// Issues the certificate that signs receipts, valid for 2 years unless more are wished, but for no
    /// longer than the intermediate.
    static func leaf(
        key: P256.Signing.PublicKey,
        from intermediate: Authority,
        statusToldAt ocspURL: String,
        years: Int = 2,
        at time: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key)
        return try certificate(
            for: publicKey,
            subject: name("Counterfoil Receipt Signing"),
            issuer: intermediate.certificate.subject,
            years: years,
            at: time,
            noLongerThan: intermediate.certificate,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(
                    keyIdentifier: try keyIdentifier(of: intermediate.certificate)
                )
                statusAddress(ocspURL)
                marker(leafMarker)
            },
            signedBy: intermediate.key
        )
    }

    /// Issues the certificate that signs the status of an authority's certificates.
    static func responder(
        key: P256.Signing.PublicKey,
        named commonName: String,
        from authority: Authority,
        years: Int,
        at time: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key)
        return try certificate(
            for: publicKey,
            subject: name(commonName),
            issuer: authority.certificate.subject,
            years: years,
            at: time,
            noLongerThan: authority.certificate,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.ocspSigning])
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(
                    keyIdentifier: try keyIdentifier(of: authority.certificate)
                )
                marker(noCheck)
            },
            signedBy: authority.key
        )
    }

    /// The URL at which a certificate's status can be checked; `nil` if it names none.
    static func statusAddress(of certificate: Certificate) -> String? {
        // Verifiers cannot use an extension that cannot be read.
        let access = try? certificate.extensions.authorityInformationAccess
        for description in access ?? AuthorityInformationAccess()
        where description.method == .ocspServer {
            if case .uniformResourceIdentifier(let address) = description.location {
                return address
            }
        }
        return nil
    }

    private static func certificate(
        for publicKey: Certificate.PublicKey,
        subject: DistinguishedName,
        issuer: DistinguishedName,
        years: Int,
        at time: Date,
        noLongerThan authority: Certificate? = nil,
        extensions: Certificate.Extensions,
        signedBy key: P256.Signing.PrivateKey
    ) throws -> Certificate {
        let end = time.addingTimeInterval(Double(years) * 365 * 86_400)
        // Backdated by an hour, so that a verifier whose clock is behind accepts it.
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: time.addingTimeInterval(-3600),
            // What outlives its authority is refused by verifiers after the authority's end.
            notValidAfter: min(end, authority?.notValidAfter ?? end),
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

    private static func statusAddress(_ url: String) -> AuthorityInformationAccess {
        AuthorityInformationAccess(
            [.init(method: .ocspServer, location: .uniformResourceIdentifier(url))]
        )
    }

    /// A marker extension, whose value is ASN.1 `NULL`.
    private static func marker(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: oid, critical: false, value: [0x05, 0x00])
    }
}
