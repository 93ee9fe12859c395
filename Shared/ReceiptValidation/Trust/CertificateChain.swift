import Crypto
import Foundation
import SwiftASN1
import X509

/// The result of a verified chain: a key and its period of validity.
struct VerifiedChain: Sendable {
    /// The key of the leaf certificate.
    let key: P256.Signing.PublicKey
    /// The leaf certificate, in DER.
    let leaf: [UInt8]
    /// The start of the period in which all three certificates are valid.
    let validFrom: Date
    /// The end of that period.
    let validUntil: Date

    /// Checks that the certificates were valid at the date of a signature.
    func requireValid(at date: Date) throws(ReceiptRefusal) {
        // A certificate is valid for the whole of its last second.
        guard date >= validFrom, date < validUntil.addingTimeInterval(1) else {
            throw ReceiptRefusal(
                .validity,
                "its certificates were not valid when it was signed"
            )
        }
    }
}

/// The rules for a chain of three certificates, as tests of Apple's verifier revealed them.
///
/// It does no I/O. Dates are checked later, because the date of the signature is part of the signed
/// data.
struct CertificateChain {
    /// The number of certificates: leaf, intermediate and root.
    static let length = 3
    /// The maximum size of a certificate in bytes.
    ///
    /// Real ones have about 1,000.
    private static let certificateLengthMax = 8 << 10

    /// The extension that marks a leaf that may sign receipts.
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// The extension that marks an intermediate that may issue such leaves.
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

    private static let names = ["leaf", "intermediate", "root"]
    private static let understood: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage,
    ]
    private static let algorithms: Set<Certificate.SignatureAlgorithm> = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512,
    ]

    private let certificates: [Certificate]

    /// Verifies a chain apart from its dates.
    ///
    /// - Parameters:
    ///   - certificates: Leaf, intermediate and root, in DER.
    ///   - roots: The trusted roots.
    /// - Returns: The leaf's key and its period of validity.
    /// - Throws: ``ReceiptRefusal`` with the first rule that is violated.
    static func verify(
        _ certificates: [[UInt8]],
        roots: [[UInt8]]
    ) throws(ReceiptRefusal) -> VerifiedChain {
        guard certificates.count == length else {
            throw ReceiptRefusal(
                .chainLength,
                "there are \(certificates.count) certificates, not \(length)"
            )
        }
        guard roots.contains(certificates[2]) else {
            throw ReceiptRefusal(.root, "the last certificate is none of the pinned roots")
        }
        let chain = try CertificateChain(certificates)
        return try chain.verified(leaf: certificates[0])
    }

    private init(_ certificates: [[UInt8]]) throws(ReceiptRefusal) {
        var parsed: [Certificate] = []
        for (der, name) in zip(certificates, Self.names) {
            guard der.count <= Self.certificateLengthMax else {
                throw ReceiptRefusal(.size, "the \(name) is too large for a certificate")
            }
            guard let certificate = try? Certificate(derEncoded: der),
                Self.isWhole(certificate, der)
            else {
                throw ReceiptRefusal(.certificate, "the \(name) is not a certificate in DER")
            }
            parsed.append(certificate)
        }
        self.certificates = parsed
    }

    /// Whether the reader used every byte of a certificate.
    ///
    /// The issuer signs most of the bytes, but a reader may skip some of the others. A certificate
    /// that is re-encoded to the same bytes contains nothing else. The only exception is the number
    /// of unused bits in the signature: if the last bit is zero, it may be declared unused.
    private static func isWhole(_ certificate: Certificate, _ der: [UInt8]) -> Bool {
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(certificate)) != nil, serializer.serializedBytes == der,
            let fields = DERReader.only(DERReader.Tag.sequence, in: der[...])
        else { return false }
        var reader = DERReader(fields)
        // Read the signed part and the algorithm.
        guard reader.next(DERReader.Tag.sequence) != nil,
            reader.next(DERReader.Tag.sequence) != nil,
            let signature = reader.next(DERReader.Tag.bitString)
        else { return false }
        return signature.first == 0 && reader.isAtEnd
    }

    private func verified(leaf: [UInt8]) throws(ReceiptRefusal) -> VerifiedChain {
        for index in certificates.indices {
            try checkCriticalExtensions(of: index)
        }
        try checkMarker(Self.leafMarker, of: 0)
        try checkMarker(Self.intermediateMarker, of: 1)
        try checkLeafIssuesNothing()
        try checkAuthority(of: 1, certificatesBelow: 0)
        try checkAuthority(of: 2, certificatesBelow: 1)
        try checkIssuer(of: 0)
        try checkIssuer(of: 1)
        guard let key = P256.Signing.PublicKey(certificates[0].publicKey) else {
            throw ReceiptRefusal(.key, "the leaf's key is not on P-256, which ES256 needs")
        }
        return VerifiedChain(
            key: key,
            leaf: leaf,
            validFrom: certificates.map(\.notValidBefore).max() ?? .distantFuture,
            validUntil: certificates.map(\.notValidAfter).min() ?? .distantPast
        )
    }

    /// Checks that all critical extensions are known.
    ///
    /// Otherwise the certificate must not be used (RFC 5280, 4.2).
    private func checkCriticalExtensions(of index: Int) throws(ReceiptRefusal) {
        let isMarker = { [Self.leafMarker, Self.intermediateMarker].contains($0) }
        for found in certificates[index].extensions
        where found.critical && !Self.understood.contains(found.oid) {
            throw isMarker(found.oid)
                ? ReceiptRefusal(.marker, "the \(Self.names[index]) has a marker that is critical")
                : ReceiptRefusal(
                    .criticalExtension,
                    "the \(Self.names[index]) has the critical extension \(found.oid)"
                )
        }
    }

    private func checkMarker(
        _ marker: ASN1ObjectIdentifier,
        of index: Int
    ) throws(ReceiptRefusal) {
        guard certificates[index].extensions[oid: marker] != nil else {
            throw ReceiptRefusal(.marker, "the \(Self.names[index]) has no extension \(marker)")
        }
    }

    private func checkLeafIssuesNothing() throws(ReceiptRefusal) {
        let extensions = certificates[0].extensions
        do {
            if case .isCertificateAuthority? = try extensions.basicConstraints {
                throw ReceiptRefusal(.authority, "the leaf is a certificate authority")
            }
            if let usage = try extensions.keyUsage, !usage.digitalSignature {
                throw ReceiptRefusal(.authority, "the leaf may not sign data")
            }
        } catch let refusal as ReceiptRefusal {
            throw refusal
        } catch {
            throw ReceiptRefusal(.certificate, "an extension of the leaf cannot be read")
        }
    }

    private func checkAuthority(
        of index: Int,
        certificatesBelow: Int
    ) throws(ReceiptRefusal) {
        let extensions = certificates[index].extensions
        // An unreadable extension is treated as missing. Both are refused.
        guard case .isCertificateAuthority(let pathLength)? = try? extensions.basicConstraints,
            pathLength ?? certificatesBelow >= certificatesBelow
        else {
            throw ReceiptRefusal(
                .authority,
                "the \(Self.names[index]) is no certificate authority, or not for so long a chain"
            )
        }
        guard (try? extensions.keyUsage)?.keyCertSign == true else {
            throw ReceiptRefusal(
                .authority,
                "the \(Self.names[index]) may not sign certificates (keyUsage)"
            )
        }
    }

    private func checkIssuer(of index: Int) throws(ReceiptRefusal) {
        let certificate = certificates[index]
        let issuer = certificates[index + 1]
        let issuerName = Self.names[index + 1]
        guard let identifier = try? issuer.extensions.subjectKeyIdentifier else {
            throw ReceiptRefusal(.keyIdentifier, "the \(issuerName) has no subject key identifier")
        }
        guard let named = (try? certificate.extensions.authorityKeyIdentifier)?.keyIdentifier
        else {
            throw ReceiptRefusal(
                .keyIdentifier,
                "the \(Self.names[index]) has no authority key identifier"
            )
        }
        guard named == identifier.keyIdentifier else {
            throw ReceiptRefusal(
                .keyIdentifier,
                "the \(Self.names[index]) names another key than its \(issuerName)'s"
            )
        }
        guard certificate.issuer == issuer.subject,
            Self.algorithms.contains(certificate.signatureAlgorithm),
            issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
        else {
            throw ReceiptRefusal(
                .issuer,
                "the \(Self.names[index]) was not issued by the \(issuerName); the order is leaf, "
                    + "intermediate, root"
            )
        }
    }
}
