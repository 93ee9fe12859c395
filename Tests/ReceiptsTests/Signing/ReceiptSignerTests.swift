import Crypto
import EventTypes
import Foundation
import SwiftASN1
import Testing
import X509

@testable import Receipts

@Suite(.timeLimit(.minutes(10))) struct ReceiptSignerTests {
    private let chain: SigningChain
    private let test: TestChain

    init() throws {
        test = try TestChain()
        chain = try test.signingChain()
    }

    private func receipt(
        _ transaction: Transaction = purchased(),
        at now: StoreTime = TestChain.now
    ) throws -> String {
        let signed = try ReceiptSigner(chain: chain, environment: .sandbox, at: now)
            .sign(transaction, at: now)
        return JWSSerialization.joined(
            header: chain.header,
            payload: signed.payload,
            signature: signed.signature
        )
    }

    @Test func theHeaderNamesTheAlgorithmAndExactlyThreeCertificates() throws {
        struct Header: Decodable {
            var alg: String
            var typ: String
            var x5c: [String]
        }
        let part = try #require(try receipt().split(separator: ".").first)
        let bytes = try #require(StrictBase64.decode(part))
        let header = try JSONDecoder().decode(Header.self, from: Data(bytes))
        #expect(header.alg == "ES256")
        #expect(header.typ == "JWT")
        let certificates = try test.parsed.map { certificate in
            Data(try certificate.serializeAsPEM().derBytes).base64EncodedString()
        }
        #expect(header.x5c == certificates)
    }

    @Test func aCarefulClientAcceptsAReceipt() throws {
        let payload = try ReceiptVerifier(root: chain.rootCertificate).payload(of: try receipt())
        let content = try JSONDecoder().decode(SignedTransactionPayload.self, from: Data(payload))
        #expect(content.transactionId == purchased().id)
        #expect(content.environment == .sandbox)
    }

    @Test func opensslAcceptsTheSignature() throws {
        let receipt = try receipt()
        let parts = receipt.split(separator: ".")
        let signature = try #require(StrictBase64.decode(parts[2]))
        #expect(signature.count == 64)
        let leaf = Array(try test.parsed[0].serializeAsPEM().pemString.utf8)
        let key = try OpenSSL.run(
            ["x509", "-in", "leaf.pem", "-pubkey", "-noout"],
            files: ["leaf.pem": leaf]
        )
        for (text, expected) in [
            ("\(parts[0]).\(parts[1])", 0 as Int32), ("\(parts[0]).\(parts[1])x", 1),
        ] {
            let (status, output) = try OpenSSL.run(
                ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "signed"],
                files: [
                    "key.pem": Array(key.output.utf8), "signature": OpenSSL.der(signature),
                    "signed": Array(text.utf8),
                ]
            )
            #expect(status == expected, "\(output)")
        }
    }

    @Test func noByteOfASignedTransactionCanBeChanged() throws {
        let bytes = Array(try receipt().utf8)
        let verifier = ReceiptVerifier(root: chain.rootCertificate)
        var accepted: [Int] = []
        for index in bytes.indices {
            var changed = bytes
            changed[index] =
                bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            if (try? verifier.payload(of: String(decoding: changed, as: UTF8.self))) != nil {
                accepted.append(index)
            }
        }
        #expect(accepted == [])
    }

    @Test func aReceiptOfAnotherRootOrEnvironmentOrAlgorithmIsRefused() throws {
        let receipt = try receipt()
        let other = try TestChain().signingChain()
        #expect(throws: ReceiptVerifier.Refusal.chain) {
            try ReceiptVerifier(root: other.rootCertificate).payload(of: receipt)
        }
        #expect(throws: ReceiptVerifier.Refusal.environment) {
            try ReceiptVerifier(root: chain.rootCertificate, environment: "Production")
                .payload(of: receipt)
        }
        let parts = receipt.split(separator: ".")
        let none = StrictBase64.text("{\"alg\":\"none\",\"x5c\":[]}".utf8)
        #expect(throws: ReceiptVerifier.Refusal.algorithm) {
            try ReceiptVerifier(root: chain.rootCertificate)
                .payload(of: "\(none).\(parts[1]).\(parts[2])")
        }
    }

    @Test func aReceiptStaysValidAfterItsLeafExpired() throws {
        let receipt = try receipt(at: TestChain.validUntil)
        #expect(throws: Never.self) {
            try ReceiptVerifier(root: chain.rootCertificate).payload(of: receipt)
        }
    }

    @Test func nothingIsSignedThatNobodyWouldAccept() throws {
        let after = TestChain.validUntil.advanced(by: .milliseconds(1))
        let error = #expect(throws: ReceiptsError.self) { try receipt(at: after) }
        #expect(error?.code == .chainNotValid)
        #expect(error?.isRetriable == true)
        #expect(error?.description.contains("SIGNING_CHAIN_FILE") == true)
    }
}
