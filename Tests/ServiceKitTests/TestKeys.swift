import Crypto
import EventTypes
import Foundation
import JWTKit

@testable import ServiceKit

/// The time of tests with a fixed clock.
let testTime = MachineTime(millisecondsSinceEpoch: 1_800_000_000_000)

/// Two directories of public keys, with the private keys in memory.
///
/// Tokens are signed with jwt-kit, so that they come from an implementation other than the one
/// under test.
struct TestKeys: Sendable {
    let directory: String
    let appKey = ECDSA.PrivateKey<P256>()
    let adminKey = ECDSA.PrivateKey<P256>()

    var apps: String { directory + "/apps" }
    var admins: String { directory + "/admins" }

    init() throws {
        directory = NSTemporaryDirectory() + "servicekit-\(UUID().uuidString)"
        let files = FileManager.default
        try files.createDirectory(
            atPath: apps + "/com.example.app",
            withIntermediateDirectories: true
        )
        try files.createDirectory(atPath: admins, withIntermediateDirectories: true)
        try write(appKey.publicKey.pemRepresentation, to: "apps/com.example.app/key-1.pem")
        try write(adminKey.publicKey.pemRepresentation, to: "admins/grace.pem")
        try write(#"{"scopes": ["read", "support"]}"#, to: "admins/grace.json")
    }

    func write(_ text: String, to path: String) throws {
        try text.write(toFile: "\(directory)/\(path)", atomically: true, encoding: .utf8)
    }

    func remove() {
        // A directory left behind in /tmp does not affect the next test.
        try? FileManager.default.removeItem(atPath: directory)
    }

    func authenticator(
        now: @escaping @Sendable () -> MachineTime = { testTime }
    ) throws -> Authenticator {
        try Authenticator(
            appKeysDirectory: apps,
            adminKeysDirectory: admins,
            now: now,
            logger: silent
        )
    }

    /// The claims of a valid account token, for a test to change.
    var accountClaims: Claims {
        Claims(
            iss: "com.example.app",
            sub: "alice",
            aud: .one("counterfoil"),
            exp: testTime.seconds + 3600,
            iat: testTime.seconds
        )
    }

    var adminClaims: Claims {
        Claims(
            iss: "administrator",
            sub: "grace",
            aud: .one("counterfoil-admin"),
            exp: testTime.seconds + 3600
        )
    }

    func accountToken(
        _ claims: Claims? = nil,
        kid: String? = "key-1",
        key: ECDSA.PrivateKey<P256>? = nil,
        header: JWTHeader = [:]
    ) async throws -> String {
        try await sign(claims ?? accountClaims, kid: kid, key: key ?? appKey, header)
    }

    func adminToken(_ claims: Claims? = nil, kid: String? = "grace") async throws -> String {
        try await sign(claims ?? adminClaims, kid: kid, key: adminKey, [:])
    }

    private func sign(
        _ claims: Claims,
        kid: String?,
        key: ECDSA.PrivateKey<P256>,
        _ header: JWTHeader
    ) async throws -> String {
        var header = header
        header.kid = kid
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: key)
        return try await keys.sign(claims, header: header)
    }
}

struct Claims: JWTPayload {
    enum Audience: Codable {
        case one(String)
        case several([String])

        init(from decoder: any Decoder) throws {
            self = .one(try decoder.singleValueContainer().decode(String.self))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .one(let name): try container.encode(name)
            case .several(let names): try container.encode(names)
            }
        }
    }

    var iss: String?
    var sub: String?
    var aud: Audience?
    var exp: Int64?
    var iat: Int64?
    var nbf: Int64?
    var bid: String?
    var scope: String?

    func verify(using algorithm: some JWTAlgorithm) {}
}

extension MachineTime {
    var seconds: Int64 { millisecondsSinceEpoch / 1000 }
}
