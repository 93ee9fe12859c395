import Crypto
import EventTypes
import Foundation
import SwiftASN1
import TestSupport
import Testing
import X509

@testable import Receipts

/// A new key with its chain of three certificates, optionally with one fault.
struct TestChain {
    /// The fault of the chain.
    enum Fault: String, CaseIterable, Sendable {
        case leafMarkerMissing, leafMarkerCritical, intermediateMarkerMissing, markersSwapped
        case leafOfAnotherKey, leafOnAnotherCurve, leafExpired, leafNotYetValid
        case leafIsAuthority, leafWithoutAuthorityKeyIdentifier
        case intermediateWithoutAuthorityKeyIdentifier, intermediateWithoutSubjectKeyIdentifier
        case intermediateWithoutConstraints, intermediateWithoutKeyUsage
        case rootWithoutSubjectKeyIdentifier, signedByAnotherRoot, reordered, twoCertificates
    }

    /// The private key of the leaf, in PEM.
    let key: [UInt8]
    /// The leaf, intermediate and root certificates, in PEM.
    let certificates: [UInt8]
    /// The three certificates.
    let parsed: [Certificate]
    /// The keys of the authorities.
    let intermediateKey = P384.Signing.PrivateKey()
    let rootKey = P384.Signing.PrivateKey()

    /// The time of the tests: 2026-11-21 02:00 UTC.
    static let now = StoreTime(millisecondsSinceEpoch: 1_795_226_400_000)
    /// The end of the validity of a chain without a fault.
    static let validUntil = now.advanced(by: .seconds(365 * 86_400))

    init(_ fault: Fault? = nil) throws {
        let leafKey = P256.Signing.PrivateKey()
        let leafPublicKey: Certificate.PublicKey =
            switch fault {
            case .leafOfAnotherKey: .init(P256.Signing.PrivateKey().publicKey)
            case .leafOnAnotherCurve: .init(P384.Signing.PrivateKey().publicKey)
            default: .init(leafKey.publicKey)
            }
        let root = try Self.certificate(
            "Test Root",
            Certificate.PublicKey(rootKey.publicKey),
            issuer: "Test Root",
            issuerKey: .init(rootKey),
            extensions: Self.rootExtensions(fault, rootKey.publicKey)
        )
        let intermediate = try Self.certificate(
            "Test Intermediate",
            Certificate.PublicKey(intermediateKey.publicKey),
            issuer: "Test Root",
            issuerKey: .init(fault == .signedByAnotherRoot ? P384.Signing.PrivateKey() : rootKey),
            extensions: Self.intermediateExtensions(fault, intermediateKey, rootKey)
        )
        let day: TimeInterval = 86_400
        let leaf = try Self.certificate(
            "Test Leaf",
            leafPublicKey,
            issuer: "Test Intermediate",
            issuerKey: .init(intermediateKey),
            from: Self.now.date.addingTimeInterval(fault == .leafNotYetValid ? day : -day),
            until: fault == .leafExpired
                ? Self.now.date.addingTimeInterval(-60) : Self.validUntil.date,
            extensions: Self.leafExtensions(fault, leafPublicKey, intermediateKey)
        )
        parsed =
            switch fault {
            case .reordered: [leaf, root, intermediate]
            case .twoCertificates: [leaf, root]
            default: [leaf, intermediate, root]
            }
        key = Array(leafKey.pemRepresentation.utf8)
        certificates = Array(
            try parsed.map { try $0.serializeAsPEM().pemString }.joined(separator: "\n").utf8
        )
    }

    /// Returns the chain as the service reads it.
    func signingChain(at now: StoreTime = now) throws -> SigningChain {
        try SigningChain(key: key, certificates: certificates, at: now.onMachines)
    }

    private static func certificate(
        _ subject: String,
        _ key: Certificate.PublicKey,
        issuer: String,
        issuerKey: Certificate.PrivateKey,
        from: Date = now.date.addingTimeInterval(-86_400),
        until: Date = now.date.addingTimeInterval(10 * 365 * 86_400),
        extensions: [Certificate.Extension]
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key,
            notValidBefore: from,
            notValidAfter: until,
            issuer: try DistinguishedName { CommonName(issuer) },
            subject: try DistinguishedName { CommonName(subject) },
            extensions: try Certificate.Extensions(extensions),
            issuerPrivateKey: issuerKey
        )
    }

    private static func rootExtensions(
        _ fault: Fault?,
        _ key: P384.Signing.PublicKey
    ) throws -> [Certificate.Extension] {
        var extensions = try authority(keyUsage: true, constraints: true)
        if fault != .rootWithoutSubjectKeyIdentifier {
            extensions.append(try subjectKeyIdentifier(.init(key)))
        }
        return extensions
    }

    private static func intermediateExtensions(
        _ fault: Fault?,
        _ key: P384.Signing.PrivateKey,
        _ rootKey: P384.Signing.PrivateKey
    ) throws -> [Certificate.Extension] {
        var extensions = try authority(
            keyUsage: fault != .intermediateWithoutKeyUsage,
            constraints: fault != .intermediateWithoutConstraints
        )
        if fault != .intermediateWithoutSubjectKeyIdentifier {
            extensions.append(try subjectKeyIdentifier(.init(key.publicKey)))
        }
        if fault != .intermediateWithoutAuthorityKeyIdentifier {
            extensions.append(try authorityKeyIdentifier(.init(rootKey.publicKey)))
        }
        if fault == .markersSwapped {
            extensions.append(marker(SigningChainCheck.leafMarker))
        } else if fault != .intermediateMarkerMissing {
            extensions.append(marker(SigningChainCheck.intermediateMarker))
        }
        return extensions
    }

    private static func leafExtensions(
        _ fault: Fault?,
        _ key: Certificate.PublicKey,
        _ intermediateKey: P384.Signing.PrivateKey
    ) throws -> [Certificate.Extension] {
        var extensions: [Certificate.Extension] = []
        if fault == .leafIsAuthority {
            extensions = try authority(keyUsage: true, constraints: true)
        } else {
            extensions.append(
                try Certificate.Extension(KeyUsage(digitalSignature: true), critical: true)
            )
        }
        extensions.append(try subjectKeyIdentifier(key))
        if fault != .leafWithoutAuthorityKeyIdentifier {
            extensions.append(try authorityKeyIdentifier(.init(intermediateKey.publicKey)))
        }
        if fault == .markersSwapped {
            extensions.append(marker(SigningChainCheck.intermediateMarker))
        } else if fault != .leafMarkerMissing {
            extensions.append(
                marker(SigningChainCheck.leafMarker, critical: fault == .leafMarkerCritical)
            )
        }
        return extensions
    }

    private static func authority(
        keyUsage: Bool,
        constraints: Bool
    ) throws -> [Certificate.Extension] {
        var extensions: [Certificate.Extension] = []
        if constraints {
            extensions.append(
                try Certificate.Extension(
                    BasicConstraints.isCertificateAuthority(maxPathLength: nil),
                    critical: true
                )
            )
        }
        if keyUsage {
            extensions.append(
                try Certificate.Extension(
                    KeyUsage(keyCertSign: true, cRLSign: true),
                    critical: true
                )
            )
        }
        return extensions
    }

    private static func subjectKeyIdentifier(
        _ key: Certificate.PublicKey
    ) throws -> Certificate.Extension {
        try Certificate.Extension(SubjectKeyIdentifier(hash: key), critical: false)
    }

    private static func authorityKeyIdentifier(
        _ issuer: Certificate.PublicKey
    ) throws -> Certificate.Extension {
        try Certificate.Extension(
            AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuer).keyIdentifier),
            critical: false
        )
    }

    private static func marker(
        _ oid: ASN1ObjectIdentifier,
        critical: Bool = false
    ) -> Certificate.Extension {
        // Apple's certificates have this value: an ASN.1 NULL.
        Certificate.Extension(oid: oid, critical: critical, value: [5, 0])
    }
}

extension ReceiptSigner {
    /// Makes a signer on a machine whose clock stands still.
    init(chain: SigningChain, environment: StoreEnvironment, at now: StoreTime = TestChain.now) {
        self.init(chain: chain, environment: environment, machineNow: { now.onMachines })
    }
}

extension AppReceiptSigner {
    /// Makes a signer on a machine whose clock stands still.
    init(chain: SigningChain, at now: StoreTime = TestChain.now) throws {
        try self.init(chain: chain, machineNow: { now.onMachines })
    }
}
