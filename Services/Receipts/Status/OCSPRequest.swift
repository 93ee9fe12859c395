import SwiftASN1
import X509

/// A verifier's request for the status of certificates: an `OCSPRequest` of RFC 6960, section 4.1.
///
/// The bytes may come from anyone. A request that is too long, asks for too many certificates or is
/// malformed is refused before it costs anything. A signature over the request is allowed and
/// ignored.
struct OCSPRequest {
    /// The longest request that is read; one certificate takes about 100 bytes.
    static let lengthMax = 4096
    /// The largest number of certificates in one request.
    static let certificatesMax = 8
    /// The longest nonce that is returned (RFC 9654).
    static let nonceLengthMax = 128

    /// The reasons to refuse a request.
    enum Refusal: Error {
        case malformed
    }

    /// A certificate whose status is requested, identified by issuer and serial number.
    struct CertificateID {
        /// The encoding in the request, which is copied into the response.
        let encoded: [UInt8]
        /// The hash algorithm for the issuer's name and key.
        let hashAlgorithm: ASN1ObjectIdentifier
        let issuerNameHash: [UInt8]
        let issuerKeyHash: [UInt8]
        /// The serial number without leading zeros.
        let serial: [UInt8]
    }

    let certificates: [CertificateID]
    /// The extension with the nonce, which is returned unchanged.
    let nonce: Certificate.Extension?

    /// Parses a request.
    ///
    /// - Throws: ``Refusal`` if the bytes are not a request.
    init(_ bytes: [UInt8]) throws(Refusal) {
        guard bytes.count <= Self.lengthMax else { throw .malformed }
        do {
            self = try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
                guard let signed = nodes.next() else { throw Refusal.malformed }
                // An optional signature, which proves nothing that matters here.
                _ = nodes.next()
                return try OCSPRequest(signed)
            }
        } catch {
            // The parser's message quotes the input, so the answer is only "malformed".
            throw .malformed
        }
    }

    private init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let version = try DER.decodeDefaultExplicitlyTagged(
                &nodes,
                tagNumber: 0,
                tagClass: .contextSpecific,
                defaultValue: 0
            ) { try Int(derEncoded: $0) }
            guard version == 0 else { throw Refusal.malformed }
            _ = try DER.optionalExplicitlyTagged(
                &nodes,
                tagNumber: 1,
                tagClass: .contextSpecific
            ) { $0.encodedBytes.count }
            guard let list = nodes.next() else { throw Refusal.malformed }
            let certificates = try Self.certificates(list)
            let extensions = try DER.optionalExplicitlyTagged(
                &nodes,
                tagNumber: 2,
                tagClass: .contextSpecific
            ) { node in
                try DER.sequence(
                    of: Certificate.Extension.self,
                    identifier: .sequence,
                    rootNode: node
                )
            }
            return OCSPRequest(certificates, nonce: try Self.nonce(extensions ?? []))
        }
    }

    private init(_ certificates: [CertificateID], nonce: Certificate.Extension?) {
        self.certificates = certificates
        self.nonce = nonce
    }

    private static func certificates(_ list: ASN1Node) throws -> [CertificateID] {
        let certificates = try DER.sequence(list, identifier: .sequence) { nodes in
            var certificates: [CertificateID] = []
            while let request = nodes.next() {
                guard certificates.count < certificatesMax else { throw Refusal.malformed }
                certificates.append(try certificate(request))
            }
            return certificates
        }
        guard !certificates.isEmpty else { throw Refusal.malformed }
        return certificates
    }

    private static func certificate(_ request: ASN1Node) throws -> CertificateID {
        try DER.sequence(request, identifier: .sequence) { nodes in
            guard let id = nodes.next() else { throw Refusal.malformed }
            // Optional extensions of this single request. None is known, and none may be critical.
            _ = nodes.next()
            return try DER.sequence(id, identifier: .sequence) { nodes in
                guard let algorithm = nodes.next() else { throw Refusal.malformed }
                let name = try DER.sequence(algorithm, identifier: .sequence) { nodes in
                    let name = try ASN1ObjectIdentifier(derEncoded: &nodes)
                    // The parameters are absent or NULL.
                    _ = nodes.next()
                    return name
                }
                let issuerName = try ASN1OctetString(derEncoded: &nodes)
                let issuerKey = try ASN1OctetString(derEncoded: &nodes)
                let serial = try ArraySlice<UInt8>(derEncoded: &nodes)
                return CertificateID(
                    encoded: Array(id.encodedBytes),
                    hashAlgorithm: name,
                    issuerNameHash: Array(issuerName.bytes),
                    issuerKeyHash: Array(issuerKey.bytes),
                    serial: Array(serial.drop { $0 == 0 })
                )
            }
        }
    }

    private static func nonce(
        _ extensions: [Certificate.Extension]
    ) throws -> Certificate.Extension? {
        guard let nonce = extensions.first(where: { $0.oid == OCSPResponse.nonceIdentifier }) else {
            return nil
        }
        guard nonce.value.count <= nonceLengthMax else { throw Refusal.malformed }
        return nonce
    }
}
