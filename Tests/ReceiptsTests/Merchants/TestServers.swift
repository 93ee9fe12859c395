import Crypto
import EventTypes
import Foundation
import Logging
import ServiceKit
import TestSupport

@testable import Receipts

/// Keys of merchants' servers in a directory, and tokens signed with them.
final class TestServers: Sendable {
    let keysDirectory: String
    private let key = P256.Signing.PrivateKey()

    init() throws {
        keysDirectory =
            FileManager.default.temporaryDirectory
            .appending(path: "receipts-servers-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(
            atPath: keysDirectory + "/com.example.app",
            withIntermediateDirectories: true
        )
        let file = """
            {"issuerID":"issuer-1","bundleIDs":["com.example.app","com.other.app"],
            "publicKey":"\(key.publicKey.pemRepresentation.replacing("\n", with: "\\n"))"}
            """
        try Data(file.utf8).write(to: URL(filePath: "\(keysDirectory)/KEY1.json"))
        try Data("{\"appAppleID\":1234567890}".utf8)
            .write(to: URL(filePath: "\(keysDirectory)/com.example.app/app.json"))
    }

    deinit {
        // A directory left behind in the temporary directory does not affect later tests.
        try? FileManager.default.removeItem(atPath: keysDirectory)
    }

    /// Returns a router without routes.
    func router() throws -> StoreRouter {
        storeRouter(
            authenticator: try Authenticator(
                appKeysDirectory: keysDirectory,
                adminKeysDirectory: keysDirectory,
                now: { TestChain.now.onMachines }
            ),
            readiness: [],
            logger: Logger(label: "test")
        )
    }

    func authenticator(requestsPerSecond: Int = 1000) throws -> ServerAPIAuthenticator {
        try ServerAPIAuthenticator(
            ServerAPISettings(
                keysDirectory: keysDirectory,
                requestsPerSecond: requestsPerSecond
            ),
            now: { TestChain.now.onMachines }
        )
    }

    /// Returns a token as Apple's client makes it: without `iat`, valid for five minutes.
    func token(bundle: String = "com.example.app") throws -> String {
        let seconds = TestChain.now.millisecondsSinceEpoch / 1000
        let header = "{\"alg\":\"ES256\",\"kid\":\"KEY1\",\"typ\":\"JWT\"}"
        let claims = """
            {"aud":"appstoreconnect-v1","bid":"\(bundle)","exp":\(seconds + 300),"iss":"issuer-1"}
            """
        let signed = [header, claims].map { StrictBase64.text($0.utf8) }.joined(separator: ".")
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return signed + "." + StrictBase64.text(signature)
    }
}
