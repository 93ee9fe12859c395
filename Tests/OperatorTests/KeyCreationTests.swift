import Crypto
import EventTypes
import Foundation
import SwiftASN1
import Testing
import X509

@testable import Operator
@testable import OperatorCore

@Suite struct KeyCreationTests {
    private let time = Date(timeIntervalSince1970: 1_795_237_175)

    private func withDirectory<R>(_ body: (KeyDirectory) async throws -> R) async throws -> R {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "counterfoil-keys-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(KeyDirectory(path: path))
    }

    @discardableResult
    private func create(
        in directory: KeyDirectory,
        bundleID: String = "com.example.app"
    ) throws -> [String] {
        var creation = KeyCreation(
            directory: directory,
            time: time,
            ocspURL: "http://127.0.0.1:8083/ocsp"
        )
        try creation.createAll(bundleID: bundleID, keyID: "key-1", administrator: "operator")
        return creation.created
    }

    private func chain(in directory: KeyDirectory) throws -> [Certificate] {
        let text = String(decoding: try Data(contentsOf: directory.signingChain), as: UTF8.self)
        return try PEMDocument.parseMultiple(pemString: text).map {
            try Certificate(pemDocument: $0)
        }
    }

    private func files(of directory: KeyDirectory) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.root.path) {
            let file = directory.root.appending(path: name)
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
            if !isFolder.boolValue { files[name] = try Data(contentsOf: file) }
        }
        return files
    }

    @Test func everythingIsMadeOnceAndNeverOverwritten() async throws {
        try await withDirectory { directory in
            #expect(try create(in: directory).count == 20)
            let files = try files(of: directory)
            #expect(files.count == 20)
            #expect(try create(in: directory).isEmpty)
            #expect(try self.files(of: directory) == files)
        }
    }

    @Test func theCertificateThatSignsIsValidForTheYearsThatWereWished() async throws {
        try await withDirectory { directory in
            var creation = KeyCreation(
                directory: directory,
                time: time,
                ocspURL: "http://127.0.0.1:8083/ocsp"
            )
            creation.leafYears = 9
            try creation.createAll(bundleID: "com.example.app", keyID: "key-1", administrator: "a")
            let leaf = try #require(try chain(in: directory).first)
            #expect(leaf.notValidAfter == time.addingTimeInterval(9 * 365 * 86_400))
        }
    }

    @Test func privateFilesAreForTheirOwnerOnly() async throws {
        try await withDirectory { directory in
            try create(in: directory)
            for name in try files(of: directory).keys {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: directory.root.appending(path: name).path
                )
                let isPrivate =
                    name.hasPrefix("private/") || name == "receipts/signing-key.pem"
                    || name.hasSuffix("-responder-key.pem")
                #expect(attributes[.posixPermissions] as? Int == (isPrivate ? 0o600 : 0o644))
            }
        }
    }

    @Test func aFurtherAppChangesNothingElse() async throws {
        try await withDirectory { directory in
            try create(in: directory)
            let before = try files(of: directory)
            #expect(
                try create(in: directory, bundleID: "com.example.game") == [
                    "private/apps/com.example.game/key-1.pem", "apps/com.example.game/key-1.pem",
                    "apps/com.example.game/app.json",
                    "private/servers/com-example-game-key-1.p8",
                    "servers/com-example-game-key-1.json",
                ]
            )
            let after = try files(of: directory)
            #expect(after.count == 25)
            #expect(before.allSatisfy { after[$0.key] == $0.value })
        }
    }

    @Test func whatIsMissingIsMadeAgainFromWhatIsThere() async throws {
        try await withDirectory { directory in
            try create(in: directory)
            let before = try files(of: directory)
            try FileManager.default.removeItem(at: directory.rootCertificate)
            try FileManager.default.removeItem(
                at: directory.appKey(bundleID: "com.example.app", keyID: "key-1")
            )
            #expect(
                try create(in: directory) == [
                    "receipts/root.cer", "apps/com.example.app/key-1.pem",
                ]
            )
            #expect(try files(of: directory) == before)
            try FileManager.default.removeItem(at: directory.signingChain)
            #expect(
                try create(in: directory) == ["receipts/signing-chain.pem"],
                "The new leaf is entered in the register that is there."
            )
            let chain = try chain(in: directory)
            let pem = String(decoding: try Data(contentsOf: directory.signingKey), as: UTF8.self)
            let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
            #expect(chain.first?.publicKey == Certificate.PublicKey(key.publicKey))
        }
    }

    @Test func aChainWithoutItsKeyIsRefused() async throws {
        try await withDirectory { directory in
            try create(in: directory)
            try FileManager.default.removeItem(at: directory.signingKey)
            let error = #expect(throws: OperatorError.self) { try create(in: directory) }
            #expect(error?.description.contains("signing-key.pem") == true)
        }
    }

    @Test func theChainIsInTheFormThatVerifiersAccept() async throws {
        try await withDirectory { directory in
            try create(in: directory)
            let chain = try chain(in: directory)
            #expect(chain.count == 3)
            let (leaf, intermediate, root) = (chain[0], chain[1], chain[2])
            #expect(leaf.issuer == intermediate.subject && intermediate.issuer == root.subject)
            #expect(root.issuer == root.subject)
            #expect(intermediate.publicKey.isValidSignature(leaf.signature, for: leaf))
            #expect(root.publicKey.isValidSignature(intermediate.signature, for: intermediate))
            #expect(try leaf.extensions.basicConstraints == .notCertificateAuthority)
            #expect(
                try intermediate.extensions.basicConstraints
                    == .isCertificateAuthority(maxPathLength: 0)
            )
            #expect(try leaf.extensions.keyUsage == KeyUsage(digitalSignature: true))
            for certificate in chain {
                #expect(try certificate.extensions.subjectKeyIdentifier != nil)
                #expect(certificate.notValidBefore < time && certificate.notValidAfter > time)
            }
            for certificate in [leaf, intermediate] {
                #expect(
                    CertificateIssue.statusAddress(of: certificate) == "http://127.0.0.1:8083/ocsp"
                )
            }
            for (certificate, issuer) in [(leaf, intermediate), (intermediate, root)] {
                let authority = try certificate.extensions.authorityKeyIdentifier
                let subject = try issuer.extensions.subjectKeyIdentifier
                #expect(authority?.keyIdentifier == subject?.keyIdentifier)
            }
            let markers = [
                (leaf, CertificateIssue.leafMarker),
                (intermediate, CertificateIssue.intermediateMarker),
            ]
            for (certificate, oid) in markers {
                let marker = try #require(certificate.extensions[oid: oid])
                #expect(!marker.critical)
            }
            let rootDER = try Data(contentsOf: directory.rootCertificate)
            #expect(try Certificate(derEncoded: Array(rootDER)) == root)
        }
    }

    @Test func openSSLVerifiesTheChainStrictly() async throws {
        try await withDirectory { directory in
            try create(in: directory)
            let chain = try chain(in: directory)
            let names = ["leaf.pem", "intermediate.pem", "root.pem"]
            let paths = names.map { directory.root.appending(path: $0).path }
            for (certificate, path) in zip(chain, paths) {
                try (certificate.serializeAsPEM().pemString + "\n").write(
                    toFile: path,
                    atomically: true,
                    encoding: .utf8
                )
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "openssl", "verify", "-x509_strict", "-attime", "1795237200", "-CAfile", paths[2],
                "-untrusted", paths[1], paths[0],
            ]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(
                decoding: output.fileHandleForReading.readDataToEndOfFile(),
                as: UTF8.self
            )
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(text)")
        }
    }

    @Test func namesThatAreNoFileNamesAreRefused() {
        for name in ["key-1", "grace_hopper", "A"] { #expect(CreateKeysCommand.isFileName(name)) }
        for name in ["", "..", "a/b", "a.pem", "é", String(repeating: "x", count: 65)] {
            #expect(!CreateKeysCommand.isFileName(name))
        }
    }
}
