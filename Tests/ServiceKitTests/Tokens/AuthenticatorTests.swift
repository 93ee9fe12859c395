import Crypto
import EventTypes
import Foundation
import HTTPTypes
import JWTKit
import StoreAPI
import Synchronization
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct AuthenticatorTests {
    private let keys: TestKeys
    private let authenticator: Authenticator

    init() throws {
        keys = try TestKeys()
        authenticator = try keys.authenticator()
    }

    private func refusal(of token: String) -> String? {
        do {
            _ = try authenticator.account(of: token)
            return nil
        } catch let problem as HTTPProblem {
            return problem.status == .unauthorized ? problem.problem.detail : "\(problem)"
        } catch {
            return "\(error)"
        }
    }

    @Test func aGoodTokenNamesItsAccountAndApp() async throws {
        let token = try await keys.accountToken()
        let account = try authenticator.account(of: token)
        #expect(account.accountID.rawValue == "alice")
        #expect(account.bundleID.rawValue == "com.example.app")
        #expect(try authenticator.account(of: token) == account)
    }

    @Test func anAudienceMayBeAList() async throws {
        var claims = keys.accountClaims
        claims.aud = .several(["other", "counterfoil"])
        #expect(refusal(of: try await keys.accountToken(claims)) == nil)
    }

    @Test(arguments: ["", "x", "a.b", "a.b.c", "....", "e30.e30.", "e30.e30.AAAA", "a b.c.d"])
    func aMalformedTokenIsRefused(token: String) {
        #expect(refusal(of: token) != nil)
    }

    @Test func aHugeTokenIsRefusedUnread() {
        let token = String(repeating: "e", count: 100_000)
        #expect(refusal(of: token) == "The token is longer than 4096 bytes.")
    }

    @Test func aTokenOfAnotherKeyIsRefused() async throws {
        let token = try await keys.accountToken(key: ECDSA.PrivateKey<P256>())
        #expect(refusal(of: token) == "The token's signature is not by the key it names.")
    }

    @Test func aChangedClaimIsRefused() async throws {
        let token = try await keys.accountToken()
        var other = keys.accountClaims
        other.sub = "mallory"
        let otherToken = try await keys.accountToken(other)
        var parts = token.split(separator: ".")
        parts[1] = otherToken.split(separator: ".")[1]
        let forged = parts.joined(separator: ".")
        #expect(refusal(of: forged) == "The token's signature is not by the key it names.")
    }

    @Test func anUnknownKeyIDIsRefused() async throws {
        let unknown = try await keys.accountToken(kid: "key-2")
        #expect(refusal(of: unknown)?.hasPrefix("The store has no key of that key id") == true)
        let missing = try await keys.accountToken(kid: nil)
        #expect(refusal(of: missing) == "The token has no key id (kid).")
        let path = try await keys.accountToken(kid: "../../admins/grace")
        #expect(refusal(of: path)?.hasPrefix("The store has no key of that key id") == true)
    }

    @Test func aTokenOfAnUnknownAppIsRefused() async throws {
        var claims = keys.accountClaims
        for issuer in ["com.example.other", "..", "../admins", ""] {
            claims.iss = issuer
            #expect(refusal(of: try await keys.accountToken(claims)) != nil)
        }
    }

    @Test func timesAreHeld() async throws {
        let now = testTime.seconds
        let day: Int64 = 24 * 3600
        func claims(exp: Int64?, iat: Int64?, nbf: Int64? = nil) -> Claims {
            var claims = keys.accountClaims
            (claims.exp, claims.iat, claims.nbf) = (exp, iat, nbf)
            return claims
        }
        let expected: [(Claims, String?)] = [
            (claims(exp: now + 1, iat: now), nil),
            // A signer's clock may be behind by a minute.
            (claims(exp: now - 59, iat: now - 70), nil),
            (claims(exp: now - 60, iat: now - 70), "The token has expired. Sign a new one."),
            (claims(exp: nil, iat: now), "The token has no expiry (exp)."),
            (claims(exp: now + 100, iat: now + 59), nil),
            (
                claims(exp: now + 100, iat: now + 61),
                "The token is from the future (iat, nbf). Set the signer's clock."
            ),
            (
                claims(exp: now + 100, iat: now, nbf: now + 90),
                "The token is from the future (iat, nbf). Set the signer's clock."
            ),
            (claims(exp: now + day, iat: now), nil),
            (
                claims(exp: now + day + 1, iat: now), "The token is good for more than 24 hours."
            ),
            (claims(exp: now + 60, iat: now - day), "The token is good for more than 24 hours."),
            (
                claims(exp: now + 2 * day, iat: nil), "The token is good for more than 24 hours."
            ),
            (claims(exp: .max, iat: now), "The token is good for more than 24 hours."),
        ]
        for (claims, refused) in expected {
            #expect(refusal(of: try await keys.accountToken(claims)) == refused)
        }
    }

    @Test func anotherAudienceIsRefused() async throws {
        var claims = keys.accountClaims
        claims.aud = .one("counterfoil-admin")
        #expect(
            refusal(of: try await keys.accountToken(claims))
                == "The token's audience (aud) is not \"counterfoil\"."
        )
        claims.aud = nil
        #expect(refusal(of: try await keys.accountToken(claims)) != nil)
    }

    @Test func theAlgorithmIsNotTheTokensChoice() async throws {
        let claims = keys.accountClaims
        let none = JWTKeyCollection()
        await none.addUnsecuredNone()
        let unsigned = try await none.sign(claims, header: ["kid": "key-1"])
        #expect(refusal(of: unsigned) == "The token is not signed with ES256.")

        let symmetric = JWTKeyCollection()
        let publicKey = keys.appKey.publicKey.pemRepresentation
        await symmetric.add(hmac: HMACKey(from: publicKey), digestAlgorithm: .sha256)
        let confused = try await symmetric.sign(claims, header: ["kid": "key-1"])
        #expect(refusal(of: confused) == "The token is not signed with ES256.")
    }

    @Test func criticalExtensionsAreRefused() async throws {
        let token = try await keys.accountToken(header: ["crit": ["exp"]])
        #expect(refusal(of: token) == "The token's header asks for extensions (crit).")
    }

    @Test func administratorsHaveTokensOfTheirOwn() async throws {
        let token = try await keys.adminToken()
        #expect(try authenticator.administrator(of: token).name.rawValue == "grace")
        #expect(throws: HTTPProblem.self) { try authenticator.account(of: token) }
        let account = try await keys.accountToken()
        #expect(throws: HTTPProblem.self) { try authenticator.administrator(of: account) }
        let other = try await keys.adminToken(kid: "ada")
        #expect(throws: HTTPProblem.self) { try authenticator.administrator(of: other) }
    }

    @Test func aTokenHasTheScopesOfItsKeyOrFewer() async throws {
        func scopes(_ claim: String?) async throws -> Set<AdministratorScope> {
            var claims = keys.adminClaims
            claims.scope = claim
            return try authenticator.administrator(of: try await keys.adminToken(claims)).scopes
        }
        #expect(try await scopes(nil) == [.read, .support])
        #expect(try await scopes("support") == [.support])
        #expect(try await scopes("support operator of-a-newer-store") == [.support])
        #expect(try await scopes("operator") == [])
        #expect(try await scopes("") == [])
    }

    @Test func aScopeOrAKeyThatIsTakenAwayEndsSoon() async throws {
        let clock = MovingClock(testTime)
        let authenticator = try keys.authenticator(now: { clock.now })
        let token = try await keys.adminToken()
        #expect(try authenticator.administrator(of: token).scopes == [.read, .support])
        try keys.write(#"{"scopes": ["read"]}"#, to: "admins/grace.json")
        clock.advance(by: .seconds(5))
        #expect(try authenticator.administrator(of: token).scopes == [.read])
        try FileManager.default.removeItem(atPath: keys.admins + "/grace.json")
        clock.advance(by: .seconds(5))
        #expect(throws: HTTPProblem.self) { try authenticator.administrator(of: token) }
    }

    @Test(arguments: [nil, "{}", #"{"scopes": ["everything"]}"#, "[]"])
    func aKeyWithoutScopesStopsTheService(registration: String?) throws {
        let path = keys.admins + "/grace.json"
        if let registration {
            try keys.write(registration, to: "admins/grace.json")
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        let error = #expect(throws: ServiceKitError.self) { try keys.authenticator() }
        #expect(error?.code == .keys)
        #expect(error?.description.contains(path) == true)
    }

    @Test func aCachedTokenStillExpires() async throws {
        let clock = MovingClock(testTime)
        let authenticator = try keys.authenticator(now: { clock.now })
        let token = try await keys.accountToken()
        _ = try authenticator.account(of: token)
        // The signer's clock may be a minute behind.
        clock.advance(by: .seconds(3600 + 59))
        _ = try authenticator.account(of: token)
        clock.advance(by: .seconds(1))
        #expect(throws: HTTPProblem.self) { try authenticator.account(of: token) }
    }

    @Test func aKeyCanBeAddedAndRemovedWhileRunning() async throws {
        let clock = MovingClock(testTime)
        let authenticator = try keys.authenticator(now: { clock.now })
        let old = try await keys.accountToken()
        _ = try authenticator.account(of: old)
        let added = ECDSA.PrivateKey<P256>()
        let new = try await keys.accountToken(kid: "key-2", key: added)
        try keys.write(added.publicKey.pemRepresentation, to: "apps/com.example.app/key-2.pem")
        try FileManager.default.removeItem(atPath: keys.apps + "/com.example.app/key-1.pem")
        #expect(throws: HTTPProblem.self) { try authenticator.account(of: new) }
        clock.advance(by: .seconds(5))
        _ = try authenticator.account(of: new)
        #expect(throws: HTTPProblem.self) { try authenticator.account(of: old) }
    }

    @Test func filesThatAreNoPublicKeysAreAllNamed() throws {
        try keys.write("no key", to: "apps/com.example.app/bad.pem")
        try keys.write(keys.adminKey.pemRepresentation, to: "admins/private.pem")
        let error = #expect(throws: ServiceKitError.self) { try keys.authenticator() }
        #expect(error?.code == .keys)
        #expect(error?.description.contains("bad.pem is not a public P-256 key in PEM") == true)
        #expect(error?.description.contains("private.pem holds a private key") == true)
    }

    @Test func aMissingDirectoryIsNamed() {
        let error = #expect(throws: ServiceKitError.self) {
            try Authenticator(
                appKeysDirectory: "/nowhere/apps",
                adminKeysDirectory: keys.admins,
                now: { testTime }
            )
        }
        #expect(
            error?.description == "the directory of app keys cannot be listed: /nowhere/apps"
        )
    }
}

@Suite struct TokenCacheTests {
    private func digest(_ number: Int) -> SHA256.Digest {
        SHA256.hash(data: Data("\(number)".utf8))
    }

    @Test func theOldestEntryMakesRoom() {
        let cache = TokenCache<SHA256.Digest, Int>(countMax: 3)
        let expiry = testTime.advanced(by: .seconds(10))
        for number in 0..<5 { cache.insert(number, for: digest(number), until: expiry) }
        #expect(cache.count == 3)
        let values = (0..<5).map { cache.value(of: digest($0), now: testTime) }
        #expect(values == [nil, nil, 2, 3, 4])
    }

    @Test func aTokenHasItsNewestContents() {
        let cache = TokenCache<SHA256.Digest, Int>(countMax: 2)
        let expiry = testTime.advanced(by: .seconds(10))
        for number in 0..<5 { cache.insert(number, for: digest(1), until: expiry) }
        cache.insert(5, for: digest(2), until: expiry)
        #expect(cache.value(of: digest(1), now: testTime) == 4)
        #expect(cache.count == 2)
    }

    @Test func anEntryEndsWithItsToken() {
        let cache = TokenCache<SHA256.Digest, Int>()
        cache.insert(1, for: digest(1), until: testTime)
        #expect(cache.value(of: digest(1), now: testTime) == nil)
    }
}

/// A clock that a test can move.
final class MovingClock: Sendable {
    private let time: Mutex<MachineTime>
    init(_ time: MachineTime) { self.time = Mutex(time) }
    var now: MachineTime { time.withLock { $0 } }
    func advance(by duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
}
