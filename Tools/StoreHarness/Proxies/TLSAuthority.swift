import Crypto
public import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A private certificate authority that signs the certificate of a server on this machine.
public struct TLSAuthority: Sendable {
    private let key: P256.Signing.PrivateKey
    private let certificate: Certificate
    private let name: DistinguishedName

    /// Makes a new authority, which nobody trusts yet.
    ///
    /// - Parameter name: Its common name.
    /// - Throws: An error if its certificate cannot be signed.
    public init(name: String = "Counterfoil Test Root") throws {
        key = P256.Signing.PrivateKey()
        self.name = try DistinguishedName { CommonName(name) }
        certificate = try Self.sign(
            key.publicKey,
            subject: self.name,
            issuer: self.name,
            by: key,
            try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
            }
        )
    }

    /// The root certificate in PEM.
    public var pem: Data {
        get throws { Data(try certificate.serializeAsPEM().pemString.utf8) }
    }

    /// Returns the TLS context of a server with this name.
    func server(named host: String) throws -> NIOSSLContext {
        let serverKey = P256.Signing.PrivateKey()
        let leaf = try Self.sign(
            serverKey.publicKey,
            subject: try DistinguishedName { CommonName(host) },
            issuer: name,
            by: key,
            try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([.dnsName(host)])
            }
        )
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [
                    .certificate(
                        try NIOSSLCertificate(
                            bytes: try leaf.serializeAsPEM().derBytes,
                            format: .der
                        )
                    )
                ],
                privateKey: .privateKey(
                    try NIOSSLPrivateKey(bytes: Array(serverKey.derRepresentation), format: .der)
                )
            )
        )
    }

    private static func sign(
        _ key: P256.Signing.PublicKey,
        subject: DistinguishedName,
        issuer: DistinguishedName,
        by issuerKey: P256.Signing.PrivateKey,
        _ extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key),
            notValidBefore: Date.now.addingTimeInterval(-3600),
            notValidAfter: Date.now.addingTimeInterval(24 * 3600),
            issuer: issuer,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(issuerKey)
        )
    }
}
