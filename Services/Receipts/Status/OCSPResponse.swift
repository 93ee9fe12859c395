import Crypto
import EventTypes
import Foundation
import SwiftASN1
import X509

/// Builds the responses of RFC 6960, section 4.2.
///
/// Pure but for the signature, which takes 20 µs.
enum OCSPResponse {
    /// Responses that say why there is no status.
    ///
    /// They are not signed.
    enum Failure: UInt8 {
        case malformedRequest = 1
        case unauthorized = 6
    }

    /// One certificate's status.
    struct Single {
        let certificate: OCSPRequest.CertificateID
        let status: CertificateStatus
    }

    /// The key and certificate of a responder.
    struct Signer: Sendable {
        let key: P256.Signing.PrivateKey
        /// The certificate, in DER, with which the authority authorizes the responder.
        let certificate: [UInt8]
        /// SHA-1 of its public key, which identifies the responder.
        let keyHash: [UInt8]
    }

    static let nonceIdentifier: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 2]
    private static let basicResponse: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 1]
    private static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 2]
    private static let enumerated = ASN1Identifier(tagWithNumber: 10, tagClass: .universal)

    /// Returns a response without a status.
    static func failure(_ failure: Failure) throws -> [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { coder in
            coder.appendPrimitiveNode(identifier: enumerated) { $0.append(failure.rawValue) }
        }
        return serializer.serializedBytes
    }

    /// Returns a signed response.
    ///
    /// - Parameters:
    ///   - singles: The statuses, in the order of the request.
    ///   - nonce: The nonce of the request, returned unchanged.
    ///   - signer: The responder.
    ///   - now: The time of the signature.
    ///   - thisUpdate: The time at which the statuses are known to be correct.
    ///   - nextUpdate: The time until which the response is valid.
    /// - Returns: The response in DER.
    /// - Throws: An error if it cannot be signed.
    static func signed(
        _ singles: [Single],
        nonce: Certificate.Extension?,
        by signer: Signer,
        at now: MachineTime,
        thisUpdate: MachineTime,
        nextUpdate: MachineTime
    ) throws -> [UInt8] {
        var data = DER.Serializer()
        try data.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(explicitlyTaggedWithTagNumber: 2, tagClass: .contextSpecific) {
                try $0.serialize(ASN1OctetString(contentBytes: signer.keyHash[...]))
            }
            coder.append(now)
            coder.appendConstructedNode(identifier: .sequence) { coder in
                for single in singles {
                    coder.append(single, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
                }
            }
            if let nonce {
                try coder.serialize(explicitlyTaggedWithTagNumber: 1, tagClass: .contextSpecific) {
                    try $0.serializeSequenceOf([nonce])
                }
            }
        }
        let signature = try signer.key.signature(for: Data(data.serializedBytes))
        var basic = DER.Serializer()
        try basic.appendConstructedNode(identifier: .sequence) { coder in
            coder.serializeRawBytes(data.serializedBytes)
            try coder.appendConstructedNode(identifier: .sequence) {
                try $0.serialize(ecdsaWithSHA256)
            }
            try coder.serialize(ASN1BitString(bytes: Array(signature.derRepresentation)[...]))
            coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) {
                $0.appendConstructedNode(identifier: .sequence) {
                    $0.serializeRawBytes(signer.certificate)
                }
            }
        }
        return try successful(basic.serializedBytes)
    }

    private static func successful(_ basic: [UInt8]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { coder in
            coder.appendPrimitiveNode(identifier: enumerated) { $0.append(0) }
            try coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) {
                try $0.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(basicResponse)
                    try coder.serialize(ASN1OctetString(contentBytes: basic[...]))
                }
            }
        }
        return serializer.serializedBytes
    }
}

extension DER.Serializer {
    fileprivate mutating func append(
        _ single: OCSPResponse.Single,
        thisUpdate: MachineTime,
        nextUpdate: MachineTime
    ) {
        appendConstructedNode(identifier: .sequence) { coder in
            coder.serializeRawBytes(single.certificate.encoded)
            coder.append(single.status)
            coder.append(thisUpdate)
            coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) {
                $0.append(nextUpdate)
            }
        }
    }

    private mutating func append(_ status: CertificateStatus) {
        func tag(_ number: UInt) -> ASN1Identifier {
            ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
        }
        switch status {
        case .good:
            appendPrimitiveNode(identifier: tag(0)) { _ in }
        case .revoked(let time, let reason):
            appendConstructedNode(identifier: tag(1)) { coder in
                coder.append(generalizedTime: time)
                coder.serialize(
                    explicitlyTaggedWithTagNumber: 0,
                    tagClass: .contextSpecific
                ) {
                    $0.appendPrimitiveNode(
                        identifier: ASN1Identifier(tagWithNumber: 10, tagClass: .universal)
                    ) { $0.append(reason) }
                }
            }
        case .unknown:
            appendPrimitiveNode(identifier: tag(2)) { _ in }
        }
    }

    /// Appends a time as `GeneralizedTime`, in whole seconds.
    fileprivate mutating func append(_ time: MachineTime) {
        append(generalizedTime: time.description.filter(\.isNumber).prefix(14) + "Z")
    }

    private mutating func append(generalizedTime text: some StringProtocol) {
        appendPrimitiveNode(identifier: .generalizedTime) { $0.append(contentsOf: text.utf8) }
    }
}
