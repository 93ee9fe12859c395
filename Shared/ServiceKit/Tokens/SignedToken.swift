import Crypto
import EventTypes
import Foundation
import StoreAPI

/// A JWT in compact form, parsed but not trusted before ``verify(key:audience:now:)``.
///
/// Only ES256 is accepted, whatever the header says, so an attacker cannot choose the algorithm.
struct SignedToken {
    struct Header: Decodable {
        var alg: String?
        var kid: String?
        var crit: [String]?
    }

    struct Claims: Decodable {
        var iss: String?
        var sub: String?
        var aud: Audience?
        /// The app, in tokens of merchants' servers.
        var bid: String?
        var exp: Double?
        var iat: Double?
        var nbf: Double?
        /// The scopes of an administrator's token, with spaces between them.
        var scope: String?

        /// The scopes of a key that the token leaves; all of them if it does not say.
        ///
        /// Names that are no scope of the key are passed over: a token only takes away.
        func narrowed(_ scopes: Set<AdministratorScope>) -> Set<AdministratorScope> {
            guard let scope else { return scopes }
            let named = scope.split(separator: " ").compactMap {
                AdministratorScope(rawValue: String($0))
            }
            return scopes.intersection(named)
        }
    }

    /// One audience or several.
    enum Audience: Decodable {
        case one(String)
        case several([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // If it is not a single name, it must be a list, or decoding the list throws.
            if let one = try? container.decode(String.self) {
                self = .one(one)
            } else {
                self = .several(try container.decode([String].self))
            }
        }

        func names(_ audience: String) -> Bool {
            switch self {
            case .one(let name): name == audience
            case .several(let names): names.contains(audience)
            }
        }
    }

    /// The largest length that is parsed; a token is a few hundred bytes long.
    static let lengthMax = 4096
    /// The longest time for which a token may be valid.
    static let lifetimeMax = Duration.seconds(24 * 3600)
    /// The largest difference between the signer's clock and ours, in either direction.
    static let clockTolerance = Duration.seconds(60)

    let header: Header
    let claims: Claims
    private let signedBytes: ArraySlice<UInt8>
    private let signature: [UInt8]

    init(_ token: some StringProtocol) throws {
        let bytes = Array(token.utf8)
        guard bytes.count <= Self.lengthMax else {
            throw HTTPProblem.unauthorized("The token is longer than \(Self.lengthMax) bytes.")
        }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = StrictBase64.decode(parts[0], .url),
            let claims = StrictBase64.decode(parts[1], .url),
            let signature = StrictBase64.decode(parts[2], .url)
        else {
            throw HTTPProblem.unauthorized("The token is not a JWT: three parts in base64url.")
        }
        let decoder = JSONDecoder()
        do {
            self.header = try decoder.decode(Header.self, from: Data(header))
            self.claims = try decoder.decode(Claims.self, from: Data(claims))
        } catch {
            throw HTTPProblem.unauthorized("The token's header or claims are not as JWT has them.")
        }
        guard self.header.alg == "ES256" else {
            throw HTTPProblem.unauthorized("The token is not signed with ES256.")
        }
        guard self.header.crit == nil else {
            throw HTTPProblem.unauthorized("The token's header asks for extensions (crit).")
        }
        signedBytes = bytes[..<(parts[0].count + 1 + parts[1].count)]
        self.signature = signature
    }

    /// The time when the token expires, by the signer's clock.
    private var expiry: MachineTime { Self.timestamp(claims.exp ?? 0) }

    /// The time until which the token is accepted.
    ///
    /// A signer whose clock is behind signs tokens that have already expired by ours.
    var takenUntil: MachineTime { expiry.advanced(by: Self.clockTolerance) }

    /// The time when the token was issued, by the signer's clock; `nil` if it does not say.
    var issuedAt: MachineTime? { claims.iat.map(Self.timestamp) }

    /// Verifies the signature, the audience and the times of the token.
    ///
    /// - Parameters:
    ///   - key: The key that must have signed it.
    ///   - audience: The required audience.
    ///   - lifetimeMax: The longest time for which it may be valid.
    ///   - now: The time.
    /// - Throws: ``HTTPProblem`` 401, with what is wrong.
    func verify(
        key: P256.Signing.PublicKey,
        audience: String,
        lifetimeMax: Duration = Self.lifetimeMax,
        now: MachineTime
    ) throws {
        // Bytes that are not a signature are refused like a signature of another key.
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: signedBytes)
        else {
            throw HTTPProblem.unauthorized("The token's signature is not by the key it names.")
        }
        guard claims.aud?.names(audience) == true else {
            throw HTTPProblem.unauthorized("The token's audience (aud) is not \"\(audience)\".")
        }
        guard claims.exp != nil else {
            throw HTTPProblem.unauthorized("The token has no expiry (exp).")
        }
        guard now < takenUntil else {
            throw HTTPProblem.unauthorized("The token has expired. Sign a new one.")
        }
        let latest = now.advanced(by: Self.clockTolerance)
        let begin = max(
            claims.iat.map(Self.timestamp) ?? now,
            claims.nbf.map(Self.timestamp) ?? now
        )
        guard begin <= latest else {
            throw HTTPProblem.unauthorized(
                "The token is from the future (iat, nbf). Set the signer's clock."
            )
        }
        // Without the time of issue there is only our clock, and the signer's may be ahead of it.
        let issued = claims.iat.map(Self.timestamp) ?? latest
        guard expiry <= latest.advanced(by: lifetimeMax),
            expiry.duration(since: issued) <= lifetimeMax
        else {
            let hours = lifetimeMax.components.seconds / 3600
            throw HTTPProblem.unauthorized("The token is good for more than \(hours) hours.")
        }
    }

    /// A JWT date, which is a number of seconds since 1970.
    ///
    /// Numbers outside any calendar are clamped.
    private static func timestamp(_ seconds: Double) -> MachineTime {
        let bounded = min(max(seconds, 0), 1e12)
        return MachineTime(millisecondsSinceEpoch: Int64(bounded * 1000))
    }
}
