import Crypto
import EventTypes
import Foundation
import SwiftASN1
import X509

@testable import Receipts

/// Verifies a receipt as a careful client does, with only the root certificate that it has pinned.
struct ReceiptVerifier {
    /// The reasons to refuse a receipt.
    enum Refusal: Error, Hashable {
        case form, algorithm, chain, signature, environment
    }

    /// The root certificate, in DER.
    let root: [UInt8]
    /// The environment that the payload has to name, or `nil` for a notification, which names it in
    /// its data.
    var environment: String? = "Sandbox"

    private struct Header: Decodable {
        var alg: String
        var x5c: [String]
    }

    private struct Dates: Decodable {
        var signedDate: Int64
        var environment: String?
    }

    /// Returns the payload of a receipt if it is genuine.
    func payload(of receipt: String) throws(Refusal) -> [UInt8] {
        let parts = receipt.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let headerBytes = StrictBase64.decode(parts[0]),
            let payload = StrictBase64.decode(parts[1]),
            let signature = StrictBase64.decode(parts[2]),
            let header = try? JSONDecoder().decode(Header.self, from: Data(headerBytes)),
            let dates = try? JSONDecoder().decode(Dates.self, from: Data(payload))
        else { throw .form }
        guard header.alg == "ES256" else { throw .algorithm }
        let key = try leafKey(
            header.x5c,
            at: Date(timeIntervalSince1970: Double(dates.signedDate) / 1000)
        )
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: signed)
        else { throw .signature }
        guard dates.environment == environment else { throw .environment }
        return payload
    }

    private func leafKey(_ x5c: [String], at date: Date) throws(Refusal) -> P256.Signing.PublicKey {
        let certificates = x5c.compactMap { Data(base64Encoded: $0).map(Array.init) }
        guard certificates.count == 3, x5c.count == 3, certificates[2] == root,
            let parsed = try? certificates.map({ try Certificate(derEncoded: $0) })
        else { throw .chain }
        var check = SigningChainCheck(parsed)
        check.run(at: date, privateKey: nil)
        guard check.problems.isEmpty, let key = P256.Signing.PublicKey(parsed[0].publicKey) else {
            throw .chain
        }
        return key
    }
}
