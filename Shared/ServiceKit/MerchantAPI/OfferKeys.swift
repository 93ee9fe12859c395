public import Crypto
public import EventTypes
public import Logging
import Synchronization

/// The public keys with which merchants' servers sign promotional offers: those of the server API.
///
/// The directory of keys is read again at most every five seconds, so that keys can be added and
/// removed while services run.
public struct OfferKeys: Sendable {
    /// A key that an app may use.
    public struct Key: Sendable {
        /// The issuer of the key.
        public let issuerID: String
        /// The key.
        public let publicKey: P256.Signing.PublicKey

        /// Makes a key.
        public init(issuerID: String, publicKey: P256.Signing.PublicKey) {
            self.issuerID = issuerID
            self.publicKey = publicKey
        }
    }

    private let find: @Sendable (String, BundleID) -> Key?

    /// Makes keys that are found by their id and an app.
    public init(find: @escaping @Sendable (String, BundleID) -> Key?) { self.find = find }

    /// Reads the keys.
    ///
    /// A file that is not a key is reported and left out. It keeps no other key from being used.
    ///
    /// - Parameters:
    ///   - directory: The directory with a `<key id>.json` for each key; `nil` if no offer is accepted.
    ///   - now: The clock.
    ///   - logger: Receives reports of files that are not keys.
    /// - Throws: ``ServiceKitError`` with the code `keys` if the directory cannot be listed.
    public init(
        directory: String?,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger = Logger(label: "offer-keys")
    ) throws {
        guard let directory else {
            self.init { _, _ in nil }
            return
        }
        let files = ServerKeyDirectory(path: directory)
        let (read, problems) = files.read()
        guard let known = read else {
            throw ServiceKitError(.keys, problems.joined(separator: "; "))
        }
        logger.report(problems)
        let state = OfferKeysState(files, known, now, logger)
        self.init { id, bundle in
            guard let key = state.key(id), key.bundleIDs.contains(bundle.rawValue) else {
                return nil
            }
            return Key(issuerID: key.issuerID, publicKey: key.publicKey)
        }
    }

    /// The key with an id, if it may sign for an app.
    public func key(_ id: String, of bundle: BundleID) -> Key? {
        find(id, bundle)
    }
}

/// The keys that were read last, shared by all requests.
private final class OfferKeysState: Sendable {
    private struct Keys {
        var known: [String: ServerKeyDirectory.Key]
        var readAgainAt: MachineTime
    }

    private static let readingInterval = Duration.seconds(5)

    private let directory: ServerKeyDirectory
    private let keys: Mutex<Keys>
    private let now: @Sendable () -> MachineTime
    private let logger: Logger

    init(
        _ directory: ServerKeyDirectory,
        _ known: [String: ServerKeyDirectory.Key],
        _ now: @escaping @Sendable () -> MachineTime,
        _ logger: Logger
    ) {
        self.directory = directory
        self.now = now
        self.logger = logger
        let next = now().advanced(by: Self.readingInterval)
        keys = Mutex(Keys(known: known, readAgainAt: next))
    }

    func key(_ id: String) -> ServerKeyDirectory.Key? {
        readAgain()
        return keys.withLock { $0.known[id] }
    }

    private func readAgain() {
        let now = now()
        let isDue = keys.withLock { keys in
            guard now >= keys.readAgainAt else { return false }
            keys.readAgainAt = now.advanced(by: Self.readingInterval)
            return true
        }
        guard isDue else { return }
        let (read, problems) = directory.read()
        logger.report(problems)
        // If the directory cannot be listed for a moment, all keys stay.
        guard let read else { return }
        keys.withLock { $0.known = read }
    }
}

extension Logger {
    /// Reports files that are not keys.
    fileprivate func report(_ problems: [String]) {
        for problem in problems {
            warning("a server key cannot be used", metadata: ["problem": "\(problem)"])
        }
    }
}
