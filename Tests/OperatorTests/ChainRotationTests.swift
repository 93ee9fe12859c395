import Crypto
import Foundation
import ReceiptValidation
import SwiftASN1
import Testing
import X509

@testable import Operator
@testable import OperatorCore

@Suite struct ChainRotationTests {
    private let time = Date(timeIntervalSince1970: 1_795_237_175)
    private static let address = "http://127.0.0.1:8083/ocsp"

    private func withKeys<R>(years: Int = 2, _ body: (KeyDirectory) throws -> R) throws -> R {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "counterfoil-rotation-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = KeyDirectory(path: path)
        var creation = KeyCreation(directory: directory, time: time, ocspURL: Self.address)
        creation.leafYears = years
        try creation.createAll(bundleID: "com.example.app", keyID: "key-1", administrator: "a")
        return try body(directory)
    }

    private func rotate(
        _ directory: KeyDirectory,
        ocspURL: String? = nil,
        after years: Int = 0
    ) throws -> ChainRotation.Result {
        let time = self.time.addingTimeInterval(Double(years) * 365 * 86_400)
        return try ChainRotation(directory: directory, time: time, ocspURL: ocspURL).rotate()
    }

    @Test func aNewLeafComesFromTheSameIntermediateWithAKeyOfItsOwn() throws {
        try withKeys { directory in
            let before = try directory.chain()
            let result = try rotate(directory)
            let after = try directory.chain()
            #expect(after[1] == before[1] && after[2] == before[2])
            #expect(after[0].publicKey != before[0].publicKey)
            #expect(result.retired == CertificateIndexFile.serial(of: before[0]))
            #expect(result.current == CertificateIndexFile.serial(of: after[0]))
            #expect(!result.reissuedIntermediate)
            #expect(after[1].publicKey.isValidSignature(after[0].signature, for: after[0]))
            let pem = String(decoding: try Data(contentsOf: directory.signingKey), as: UTF8.self)
            let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
            #expect(after[0].publicKey == Certificate.PublicKey(key.publicKey))
        }
    }

    @Test(arguments: [1, 2, 9])
    func aNewLeafIsValidForAsManyYearsAsTheOldOne(years: Int) throws {
        try withKeys(years: years) { directory in
            _ = try rotate(directory)
            let end = try directory.chain()[0].notValidAfter
            #expect(end.timeIntervalSince(time) == Double(years) * 365 * 86_400)
        }
    }

    @Test func aNewLeafEndsWithAnOldIntermediate() throws {
        try withKeys(years: 9) { directory in
            let unlimited = try rotate(directory)
            #expect(unlimited.shortenedTo == nil)
            let result = try rotate(directory, after: 2)
            let chain = try directory.chain()
            #expect(chain[0].notValidAfter == chain[1].notValidAfter)
            #expect(result.shortenedTo == chain[1].notValidAfter)
        }
    }

    @Test func anIntermediateThatHasEndedIssuesNothing() throws {
        try withKeys { directory in
            let before = try Data(contentsOf: directory.signingChain)
            let error = #expect(throws: OperatorError.self) { try rotate(directory, after: 10) }
            #expect(error?.description.contains("has expired") == true)
            #expect(try Data(contentsOf: directory.signingChain) == before)
        }
    }

    @Test func theRetiredCertificateStaysValidAndItsChainStored() throws {
        try withKeys { directory in
            let before = try directory.chain()[0]
            let result = try rotate(directory)
            let text = try directory.readRegister(of: .intermediate).text
            for serial in [result.retired, result.current] {
                #expect(text.split(separator: "\n").filter { $0.contains(serial) }.count == 1)
                #expect(text.contains("V\t") && !text.contains("R\t"))
            }
            let kept = try Data(contentsOf: directory.retiredChain(serial: result.retired))
            let documents = try PEMDocument.parseMultiple(
                pemString: String(decoding: kept, as: UTF8.self)
            )
            #expect(documents.count == 3)
            #expect(try documents.first.map { try Certificate(pemDocument: $0) } == before)
        }
    }

    @Test func aNewAddressIssuesTheIntermediateAgainForItsKey() throws {
        try withKeys { directory in
            let before = try directory.chain()
            let result = try rotate(directory, ocspURL: "http://receipts.example.com/ocsp")
            let after = try directory.chain()
            #expect(result.reissuedIntermediate)
            #expect(after[1].publicKey == before[1].publicKey && after[1] != before[1])
            #expect(after[2] == before[2])
            for certificate in after.prefix(2) {
                #expect(
                    CertificateIssue.statusAddress(of: certificate)
                        == "http://receipts.example.com/ocsp"
                )
            }
            // The leaf before chains to the new intermediate, too.
            #expect(after[1].publicKey.isValidSignature(before[0].signature, for: before[0]))
        }
    }

    @Test func withoutTheIntermediatesKeyNothingIsChanged() throws {
        try withKeys { directory in
            let before = try Data(contentsOf: directory.signingChain)
            let register = try Data(contentsOf: directory.register(of: .intermediate))
            try FileManager.default.removeItem(at: directory.intermediateKey)
            let error = #expect(throws: OperatorError.self) { try rotate(directory) }
            #expect(error?.description.contains("intermediate-key.pem") == true)
            #expect(try Data(contentsOf: directory.signingChain) == before)
            #expect(try Data(contentsOf: directory.register(of: .intermediate)) == register)
        }
    }

    @Test func aRevocationIsEnteredOnceAndKeepsItsFirstTime() throws {
        try withKeys { directory in
            let serial = CertificateIndexFile.serial(of: try directory.chain()[0])
            var register = try directory.readRegister(of: .intermediate)
            let first = register.revoke(serial: serial, at: time, for: .keyCompromise)
            let line = try #require(register.text.split(separator: "\n").first)
            #expect(first == .revoked)
            #expect(line.hasPrefix("R\t"))
            #expect(line.contains("\t261121045935Z,keyCompromise\t\(serial)\t"))
            let second = register.revoke(serial: serial, at: time + 60, for: .superseded)
            #expect(second == .wasRevoked)
            #expect(register.text.contains("261121045935Z,keyCompromise"))
            let unknown = register.revoke(serial: "00FF", at: time, for: .unspecified)
            #expect(unknown == .unknown)
        }
    }
}
