import Crypto
import EventTypes
import Foundation
import Logging
import SwiftASN1
import TestSupport
import X509

@testable import Receipts

/// A directory with the OCSP responder's files for a test's chain, as `counterfoil keys` makes it.
final class StatusFiles: Sendable {
    let path: String
    private let chain: TestChain

    init(_ chain: TestChain) throws {
        self.chain = chain
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "receipts-status-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try writeResponder("root", of: chain.parsed[2], chain.rootKey)
        try writeResponder("intermediate", of: chain.parsed[1], chain.intermediateKey)
        try write("root-index.txt", Self.line("V", "", Self.serial(chain.parsed[1])))
        try write("intermediate-index.txt", Self.line("V", "", leafSerial))
    }

    deinit {
        // A directory left behind in the temporary directory does not affect later tests.
        try? FileManager.default.removeItem(atPath: path)
    }

    var leafSerial: String { Self.serial(chain.parsed[0]) }

    func directory() throws -> OCSPDirectory {
        try OCSPDirectory(
            path: path,
            chain: try chain.signingChain(),
            at: TestChain.now.onMachines,
            logger: Logger(label: "test")
        )
    }

    func revokeLeaf() throws {
        try write(
            "intermediate-index.txt",
            Self.line("R", "261121010000Z,keyCompromise", leafSerial)
        )
    }

    func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
    }

    /// Returns the certificates in PEM, for `openssl`.
    func pem() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for (name, certificate) in zip(["leaf", "intermediate", "root"], chain.parsed) {
            files["\(name).pem"] = Array(try certificate.serializeAsPEM().pemString.utf8)
        }
        return files
    }

    static func serial(_ certificate: Certificate) -> String {
        certificate.serialNumber.bytes.drop { $0 == 0 }.map { byte in
            String(byte >> 4, radix: 16, uppercase: true)
                + String(byte & 0xF, radix: 16, uppercase: true)
        }.joined()
    }

    private static func line(_ state: String, _ revocation: String, _ serial: String) -> String {
        "\(state)\t281121000000Z\t\(revocation)\t\(serial)\tunknown\t/CN=Test\n"
    }

    private func writeResponder(
        _ name: String,
        of authority: Certificate,
        _ authorityKey: P384.Signing.PrivateKey
    ) throws {
        let key = P256.Signing.PrivateKey()
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: TestChain.now.date.addingTimeInterval(-86_400),
            notValidAfter: TestChain.validUntil.date,
            issuer: authority.subject,
            subject: try DistinguishedName { CommonName("\(name) status") },
            extensions: try Certificate.Extensions {
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.ocspSigning])
            },
            issuerPrivateKey: .init(authorityKey)
        )
        try write("\(name)-responder.pem", try certificate.serializeAsPEM().pemString)
        try write("\(name)-responder-key.pem", key.pemRepresentation)
    }
}
