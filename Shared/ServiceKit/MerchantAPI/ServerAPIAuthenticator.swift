import Crypto
public import EventTypes
public import Logging
import Synchronization

/// Authenticates merchants' servers by their tokens, and limits their rate of requests.
///
/// A token is a JWT signed with ES256, as Apple's clients make them. Header `kid`; claims `iss`
/// (the key's issuer), `bid` (an app of the key), `aud` `appstoreconnect-v1`, `exp` within the next
/// 60 minutes. `iat` is optional, because Apple's own client leaves it out; if it is present, `exp`
/// is within 60 minutes of it. Clocks may differ by a minute. A refusal gives no reason: the answer
/// is a bare 401, like Apple's.
///
/// The directory of keys is read again at most every five seconds, so that keys can be added and
/// removed while services run.
public struct ServerAPIAuthenticator: Sendable {
    /// A token was refused.
    public struct Refusal: Error, Sendable {
        /// Whether the token is valid, but its app identifier is not:
        /// ``ServerAPIError/invalidAppIdentifier``.
        let namesNoApp: Bool

        /// Makes a refusal.
        public init() { namesNoApp = false }

        init(namesNoApp: Bool) { self.namesNoApp = namesNoApp }
    }

    private let state: ServerAPIState

    /// Reads the keys.
    ///
    /// - Parameters:
    ///   - settings: The directory of the keys, and the limit for each.
    ///   - now: The clock.
    ///   - logger: Receives reports of files that are not keys.
    /// - Throws: ``ServiceKitError`` with the code `keys`, naming every file that is not a key.
    public init(
        _ settings: ServerAPISettings,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger = Logger(label: "server-api")
    ) throws {
        let directory = ServerKeyDirectory(path: settings.keysDirectory)
        let (keys, problems) = directory.read()
        guard problems.isEmpty else {
            throw ServiceKitError(.keys, problems.joined(separator: "; "))
        }
        state = ServerAPIState(
            directory: directory,
            keys: keys ?? [:],
            requestsPerSecond: settings.requestsPerSecond,
            now: now,
            logger: logger
        )
    }

    /// The server that a token belongs to.
    ///
    /// - Throws: ``Refusal``.
    public func server(of token: some StringProtocol) throws(Refusal) -> AuthenticatedServer {
        try state.server(of: token)
    }

    /// Counts a request.
    ///
    /// - Throws: ``ServerAPIError/rateLimitExceeded(retryAfter:)``.
    public func admit(_ server: AuthenticatedServer) throws(ServerAPIError) {
        try state.admit(server)
    }
}

/// The keys, the verified tokens and the rates of requests, shared by all requests.
private final class ServerAPIState: Sendable {
    private struct Keys {
        var known: [String: ServerKeyDirectory.Key]
        var allowances: [String: RequestAllowance] = [:]
        var readAgainAt: MachineTime
    }

    private static let lifetimeMax = Duration.seconds(60 * 60)
    private static let readingInterval = Duration.seconds(5)

    private let directory: ServerKeyDirectory
    private let requestsPerSecond: Int
    private let keys: Mutex<Keys>
    private let servers = TokenCache<SHA256.Digest, AuthenticatedServer>()
    private let now: @Sendable () -> MachineTime
    private let logger: Logger

    init(
        directory: ServerKeyDirectory,
        keys: [String: ServerKeyDirectory.Key],
        requestsPerSecond: Int,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger
    ) {
        self.directory = directory
        self.requestsPerSecond = requestsPerSecond
        self.keys = Mutex(
            Keys(known: keys, readAgainAt: now().advanced(by: Self.readingInterval))
        )
        self.now = now
        self.logger = logger
    }

    func server(
        of token: some StringProtocol
    ) throws(ServerAPIAuthenticator.Refusal) -> AuthenticatedServer {
        let now = now()
        // The keys are read before the cache is used: a token of a removed key is invalid.
        readKeysAgain()
        let digest = SHA256.hash(data: Array(token.utf8))
        if let known = servers.value(of: digest, now: now) { return known }
        do {
            let parsed = try SignedToken(token)
            guard let keyID = parsed.header.kid,
                let key = keys.withLock({ $0.known[keyID] }),
                parsed.claims.iss == key.issuerID, let bundle = parsed.claims.bid
            else { throw ServerAPIAuthenticator.Refusal() }
            let bundleID = BundleID(rawValue: bundle)
            guard bundleID == nil || key.bundleIDs.contains(bundle) else {
                throw ServerAPIAuthenticator.Refusal()
            }
            try parsed.verify(
                key: key.publicKey,
                audience: "appstoreconnect-v1",
                lifetimeMax: Self.lifetimeMax,
                now: now
            )
            // Only a client that has the key learns what is wrong with its token.
            guard let bundleID else { throw ServerAPIAuthenticator.Refusal(namesNoApp: true) }
            let server = AuthenticatedServer(keyID: keyID, bundleID: bundleID)
            servers.insert(server, for: digest, until: parsed.takenUntil)
            return server
        } catch let refusal as ServerAPIAuthenticator.Refusal where refusal.namesNoApp {
            throw refusal
        } catch {
            // The reason appears only in the log.
            logger.debug("a server's token was refused", metadata: ["reason": "\(error)"])
            throw ServerAPIAuthenticator.Refusal()
        }
    }

    func admit(_ server: AuthenticatedServer) throws(ServerAPIError) {
        let now = now()
        let wait = keys.withLock { keys -> Duration? in
            keys.allowances[
                server.keyID,
                default: RequestAllowance(ratePerSecond: requestsPerSecond, at: now)
            ].take(at: now)
        }
        if let wait { throw .rateLimitExceeded(retryAfter: wait) }
    }

    private func readKeysAgain() {
        let now = now()
        let isDue = keys.withLock { keys in
            guard now >= keys.readAgainAt else { return false }
            keys.readAgainAt = now.advanced(by: Self.readingInterval)
            return true
        }
        guard isDue else { return }
        let (read, problems) = directory.read()
        for problem in problems {
            logger.warning("a server key cannot be used", metadata: ["problem": "\(problem)"])
        }
        // If the directory cannot be listed for a moment, all keys stay.
        guard let read else { return }
        keys.withLock { keys in
            keys.known = read
            keys.allowances = keys.allowances.filter { read[$0.key] != nil }
        }
        // A key may have been removed; tokens that it verified must be verified again.
        servers.removeAll()
    }
}
