import Crypto
import EventTypes
import Foundation
import ServiceKit
import TestSupport

@testable import Receipts

/// Keys of two apps and an administrator, in directories that the service reads.
final class TokenKeys: Sendable {
    private let directory: String
    private let app = P256.Signing.PrivateKey()
    private let admin = P256.Signing.PrivateKey()

    init() throws {
        directory =
            FileManager.default.temporaryDirectory
            .appending(path: "receipts-keys-\(UUID().uuidString)").path()
        for bundle in ["com.example.app", "com.other.app"] {
            try write(app.publicKey.pemRepresentation, "apps/\(bundle)", "test.pem")
        }
        try write(admin.publicKey.pemRepresentation, "admins", "ada.pem")
        try write(#"{"scopes": ["support"]}"#, "admins", "ada.json")
    }

    deinit {
        // A directory left behind in the temporary directory does not affect later tests.
        try? FileManager.default.removeItem(atPath: directory)
    }

    func authenticator() throws -> Authenticator {
        try Authenticator(
            appKeysDirectory: directory + "/apps",
            adminKeysDirectory: directory + "/admins",
            now: { TestChain.now.onMachines }
        )
    }

    func account(_ account: String, bundle: String = "com.example.app") throws -> String {
        try token(app, kid: "test", issuer: bundle, subject: account, audience: "counterfoil")
    }

    func administrator() throws -> String {
        try token(
            admin,
            kid: "ada",
            issuer: "administrator",
            subject: "ada",
            audience: "counterfoil-admin"
        )
    }

    private func write(_ text: String, _ folder: String, _ name: String) throws {
        let path = "\(directory)/\(folder)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
    }

    private func token(
        _ key: P256.Signing.PrivateKey,
        kid: String,
        issuer: String,
        subject: String,
        audience: String
    ) throws -> String {
        let seconds = TestChain.now.millisecondsSinceEpoch / 1000
        let header = "{\"alg\":\"ES256\",\"kid\":\"\(kid)\",\"typ\":\"JWT\"}"
        let claims = """
            {"aud":"\(audience)","exp":\(seconds + 600),"iat":\(seconds),"iss":"\(issuer)",\
            "sub":"\(subject)"}
            """
        let signed = [header, claims].map { StrictBase64.text($0.utf8) }.joined(separator: ".")
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return signed + "." + StrictBase64.text(signature)
    }
}
