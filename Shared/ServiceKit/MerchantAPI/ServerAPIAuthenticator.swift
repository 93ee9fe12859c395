import Crypto
public import EventTypes
public import Logging
import Synchronization

/// Tells which merchant's server sent a request, by its token, and how often it may: a JWT signed
/// with ES256 as Apple's clients make them.
///
/// Header `kid`; claims `iss` (the key's issuer), `bid` (an app that the key speaks for), `aud`
/// `appstoreconnect-v1`, `exp` within the next 60 minutes. `iat` may be missing, as Apple's own
/// client leaves it out; where it is there, `exp` is within 60 minutes of it. Clocks may be a minute
/// apart. A refusal does not say why: the answer is a bare 401, as Apple's is.
///
/// The directory of keys is read again at most every five seconds, so that keys come and go while
/// services run.
public struct ServerAPIAuthenticator: Sendable {
    /// The token is not believed.
    public struct Refusal: Error, Sendable {
        /// Whether it is believed, and speaks for what is no app: ``ServerAPIError/invalidAppIdentifier``.
        let namesNoApp: Bool

        /// Makes a refusal.
        public init() { namesNoApp = false }

        init(namesNoApp: Bool) { self.namesNoApp = namesNoApp }
    }

    private let state: ServerAPIState

    /// Reads the keys.
    ///
    /// - Parameters:
    ///   - keysDirectory: Holds `<key id>.json`.
    ///   - requestsPerSecond: How often one key may ask.
    ///   - now: The clock.
    ///   - logger: Told of files that are no keys.
    /// - Throws: ``ServiceKitError`` with the code `keys`, naming every file that is no key.
    public init(
        keysDirectory: String,
        requestsPerSecond: Int,
        now: @escaping @Sendable () -> Timestamp,
        logger: Logger = Logger(label: "server-api")
    ) throws {
        let directory = ServerKeyDirectory(path: keysDirectory)
        let (keys, problems) = directory.read()
        guard problems.isEmpty else {
            throw ServiceKitError(.keys, problems.joined(separator: "; "))
        }
        state = ServerAPIState(
            directory: directory,
            keys: keys ?? [:],
            requestsPerSecond: requestsPerSecond,
            now: now,
            logger: logger
        )
    }

    /// Tells which server a token speaks for.
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

/// The keys, what they have verified and how often they asked, shared by all requests.
private final class ServerAPIState: Sendable {
    private struct Keys {
        var known: [String: ServerKeyDirectory.Key]
        var allowances: [String: RequestAllowance] = [:]
        var readAgainAt: Timestamp
    }

    private static let lifetimeMax = Duration.seconds(60 * 60)
    private static let readingInterval = Duration.seconds(5)

    private let directory: ServerKeyDirectory
    private let requestsPerSecond: Int
    private let keys: Mutex<Keys>
    private let servers = TokenCache<AuthenticatedServer>()
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    init(
        directory: ServerKeyDirectory,
        keys: [String: ServerKeyDirectory.Key],
        requestsPerSecond: Int,
        now: @escaping @Sendable () -> Timestamp,
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
        // Before what is remembered: a key that was removed is worth nothing.
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
            // Only the key's own server hears what is wrong with its token.
            guard let bundleID else { throw ServerAPIAuthenticator.Refusal(namesNoApp: true) }
            let server = AuthenticatedServer(keyID: keyID, bundleID: bundleID)
            servers.insert(server, for: digest, until: parsed.takenUntil)
            return server
        } catch let refusal as ServerAPIAuthenticator.Refusal where refusal.namesNoApp {
            throw refusal
        } catch {
            // Why is nobody's business but the log's.
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
        // A directory that cannot be listed for a moment takes no key away.
        guard let read else { return }
        keys.withLock { keys in
            keys.known = read
            keys.allowances = keys.allowances.filter { read[$0.key] != nil }
        }
        // A key may have gone; nothing that it verified is believed any more.
        servers.removeAll()
    }
}
