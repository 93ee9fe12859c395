import Crypto
import EventTypes
import Foundation

/// The three parts of a JWS in compact form (RFC 7515, section 7.1), before verification.
struct CompactJWS {
    private struct Header: Decodable {
        var alg: String
        var x5c: [String]
        var crit: [String]?
    }

    private let bytes: [UInt8]
    private let firstDot: Int
    private let secondDot: Int

    /// Splits a JWS into its parts.
    ///
    /// - Throws: ``ReceiptRefusal`` if there are not exactly three parts.
    init(_ text: String) throws(ReceiptRefusal) {
        bytes = Array(text.utf8)
        let dot = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: dot), let last = bytes.lastIndex(of: dot),
            first > 0, last > first + 1, last + 1 < bytes.count,
            !bytes[(first + 1)..<last].contains(dot)
        else {
            throw ReceiptRefusal(.form, "it does not have the three parts of a JWS")
        }
        firstDot = first
        secondDot = last
    }

    /// The encoded header with the following dot.
    ///
    /// It is the key of the chain cache, and its hash is computed only once.
    var header: ArraySlice<UInt8> { bytes[...firstDot] }

    /// The encoded payload, which is the rest of the signed bytes.
    var payloadAfterDot: ArraySlice<UInt8> { bytes[(firstDot + 1)..<secondDot] }

    /// Decodes the payload.
    func payload() throws(ReceiptRefusal) -> [UInt8] { try decoded(payloadAfterDot, "payload") }

    /// Decodes the signature: r and s, 32 bytes each.
    func signature() throws(ReceiptRefusal) -> P256.Signing.ECDSASignature {
        let raw = try decoded(bytes[(secondDot + 1)...], "signature")
        guard raw.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw)
        else {
            throw ReceiptRefusal(.signature, "the signature does not have the 64 bytes of ES256")
        }
        return signature
    }

    /// Reads the certificates in the header, in DER.
    ///
    /// - Throws: ``ReceiptRefusal`` unless the header has the algorithm ES256 and exactly three
    ///   certificates.
    func certificates() throws(ReceiptRefusal) -> [[UInt8]] {
        let json = try decoded(bytes[..<firstDot], "header")
        let header: Header
        do {
            header = try JSONDecoder().decode(Header.self, from: Data(json))
        } catch {
            throw ReceiptRefusal(.header, "the header does not give `alg` and `x5c`")
        }
        guard header.alg == "ES256" else {
            throw ReceiptRefusal(.algorithm, "the algorithm has to be ES256")
        }
        guard header.crit == nil else {
            throw ReceiptRefusal(.header, "the header asks for unknown extensions (`crit`)")
        }
        guard header.x5c.count == CertificateChain.length else {
            throw ReceiptRefusal(
                .chainLength,
                "`x5c` holds \(header.x5c.count) certificates, not \(CertificateChain.length)"
            )
        }
        var certificates: [[UInt8]] = []
        for text in header.x5c {
            guard let der = StrictBase64.decode(text, .standard) else {
                throw ReceiptRefusal(.certificate, "a certificate in `x5c` is not base64")
            }
            certificates.append(der)
        }
        return certificates
    }

    private func decoded(
        _ part: ArraySlice<UInt8>,
        _ name: StaticString
    ) throws(ReceiptRefusal) -> [UInt8] {
        guard let bytes = StrictBase64.decode(part, .url) else {
            throw ReceiptRefusal(.form, "the \(name) is not base64url")
        }
        return bytes
    }
}
