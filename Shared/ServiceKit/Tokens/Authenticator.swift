import Crypto
public import EventTypes
public import Logging
public import StoreAPI
import Synchronization

/// The buyer on whose behalf a request is made.
public struct AuthenticatedAccount: Hashable, Sendable {
    /// The account.
    public let accountID: AccountID
    /// The app that signed the token.
    public let bundleID: BundleID
    /// The time when the app issued the token, by the app's clock; `nil` if the token does not say.
    public let tokenIssuedAt: MachineTime?
    /// Makes an account of an app.
    public init(accountID: AccountID, bundleID: BundleID, tokenIssuedAt: MachineTime? = nil) {
        self.accountID = accountID
        self.bundleID = bundleID
        self.tokenIssuedAt = tokenIssuedAt
    }
}

/// The administrator on whose behalf a request is made.
public struct AuthenticatedAdministrator: Hashable, Sendable {
    /// The administrator's name.
    public let name: AdministratorName
    /// The scopes that the token has.
    public let scopes: Set<AdministratorScope>
    /// Makes an administrator.
    public init(name: AdministratorName, scopes: Set<AdministratorScope>) {
        self.name = name
        self.scopes = scopes
    }
}

/// Authenticates the sender of a request by its token, a JWT that must be signed with ES256.
///
/// - An account token is signed by an app: header `kid`; claims `iss` (the bundle id), `sub` (the
///   account id), `aud` `counterfoil`, `exp`, `iat`. Its key is `<bundle id>/<kid>.pem` in the
///   directory of app keys.
/// - An administrator token has `iss` `administrator`, `sub` and `kid` the administrator's name,
///   `aud` `counterfoil-admin`, `exp`. Its key is `<name>.pem` in the directory of admin keys, and
///   `<name>.json` beside it lists the key's scopes. The claim `scope`, names with spaces between
///   them, leaves a token only those of the key's scopes that it names.
///
/// A token is valid for 24 hours at most. The keys are read at the start. A token that names an
/// unknown key makes the authenticator read the directories again, at most every five seconds, so
/// that keys can be added and removed while a service runs. A key of an administrator that was
/// removed, or a scope, ends within five seconds.
public struct Authenticator: Sendable {
    private let state: State

    /// Reads the keys.
    ///
    /// - Parameters:
    ///   - appKeysDirectory: The directory with a `<bundle id>/<key id>.pem` for each app key; `nil` for a
    ///     program that no account calls.
    ///   - adminKeysDirectory: The directory with a `<name>.pem` and a `<name>.json` for each
    ///     administrator.
    ///   - now: The clock.
    ///   - logger: Receives reports of changed keys and of files that are not keys.
    /// - Throws: ``ServiceKitError`` with the code `keys`, naming every file that is not a public
    ///   P-256 key in PEM.
    public init(
        appKeysDirectory: String? = nil,
        adminKeysDirectory: String,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger = Logger(label: "authenticator")
    ) throws {
        let directories = KeyDirectories(apps: appKeysDirectory, admins: adminKeysDirectory)
        let (keys, problems) = directories.read()
        guard problems.isEmpty else {
            throw ServiceKitError(.keys, problems.joined(separator: "; "))
        }
        state = State(directories: directories, keys: keys, now: now, logger: logger)
    }

    /// The account that a token belongs to.
    ///
    /// - Throws: ``HTTPProblem`` 401, with what is wrong with the token.
    public func account(of token: some StringProtocol) throws -> AuthenticatedAccount {
        try state.account(of: token)
    }

    /// The administrator that a token belongs to.
    ///
    /// - Throws: ``HTTPProblem`` 401, with what is wrong with the token.
    public func administrator(of token: some StringProtocol) throws -> AuthenticatedAdministrator {
        try state.administrator(of: token)
    }
}

/// The keys and the verified tokens, shared by all requests.
private final class State: Sendable {
    private struct Keys {
        var known: KeyDirectories.Keys
        var readAgainAfter: MachineTime
        /// The time after which the administrators' keys are read again.
        var readAdministratorsAfter: MachineTime
    }

    private let directories: KeyDirectories
    private let keys: Mutex<Keys>
    private let accounts = TokenCache<SHA256.Digest, AuthenticatedAccount>()
    private let administrators = TokenCache<SHA256.Digest, AuthenticatedAdministrator>()
    private let now: @Sendable () -> MachineTime
    private let logger: Logger

    init(
        directories: KeyDirectories,
        keys: KeyDirectories.Keys,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger
    ) {
        self.directories = directories
        let next = now().advanced(by: .seconds(5))
        self.keys = Mutex(
            Keys(known: keys, readAgainAfter: next, readAdministratorsAfter: next)
        )
        self.now = now
        self.logger = logger
    }

    func account(of token: some StringProtocol) throws -> AuthenticatedAccount {
        let now = now()
        let digest = SHA256.hash(data: Array(token.utf8))
        if let known = accounts.value(of: digest, now: now) { return known }
        let parsed = try SignedToken(token)
        guard let issuer = parsed.claims.iss, let bundleID = BundleID(rawValue: issuer) else {
            throw HTTPProblem.unauthorized("The token's issuer (iss) is not a bundle id.")
        }
        guard let subject = parsed.claims.sub, let accountID = AccountID(rawValue: subject) else {
            throw HTTPProblem.unauthorized("The token's subject (sub) is not \(AccountID.form).")
        }
        let key = try key(parsed.header.kid, unknown: unknownKey(of: issuer)) { keys, kid in
            keys.apps[issuer]?[kid]
        }
        try parsed.verify(key: key, audience: "counterfoil", now: now)
        let account = AuthenticatedAccount(
            accountID: accountID,
            bundleID: bundleID,
            tokenIssuedAt: parsed.issuedAt
        )
        accounts.insert(account, for: digest, until: parsed.takenUntil)
        return account
    }

    func administrator(of token: some StringProtocol) throws -> AuthenticatedAdministrator {
        let now = now()
        readAdministratorsAgain(now)
        let digest = SHA256.hash(data: Array(token.utf8))
        if let known = administrators.value(of: digest, now: now) { return known }
        let parsed = try SignedToken(token)
        guard parsed.claims.iss == "administrator" else {
            throw HTTPProblem.unauthorized("The token's issuer (iss) is not \"administrator\".")
        }
        guard let name = parsed.claims.sub, name == parsed.header.kid else {
            throw HTTPProblem.unauthorized(
                "The token's subject (sub) and key id (kid) are not the same name."
            )
        }
        guard let registered = keys.withLock({ $0.known.admins[name] }) else {
            throw HTTPProblem.unauthorized("The store knows no administrator of that name.")
        }
        try parsed.verify(key: registered.key, audience: "counterfoil-admin", now: now)
        let administrator = AuthenticatedAdministrator(
            name: AdministratorName(unchecked: name),
            scopes: parsed.claims.narrowed(registered.scopes)
        )
        administrators.insert(administrator, for: digest, until: parsed.takenUntil)
        return administrator
    }

    private func unknownKey(of issuer: String) -> String {
        "The store has no key of that key id (kid) for the app \(shortened(issuer, to: 60))."
    }

    private func key(
        _ kid: String?,
        unknown: String,
        find: (KeyDirectories.Keys, String) -> P256.Signing.PublicKey?
    ) throws -> P256.Signing.PublicKey {
        guard let kid else { throw HTTPProblem.unauthorized("The token has no key id (kid).") }
        if let key = keys.withLock({ find($0.known, kid) }) { return key }
        if readKeysAgain(), let key = keys.withLock({ find($0.known, kid) }) { return key }
        throw HTTPProblem.unauthorized(unknown)
    }

    /// Reads the administrators' keys again, unless that was done within the last seconds.
    ///
    /// Administrators ask seldom, and a right that was taken from one has to end soon.
    private func readAdministratorsAgain(_ now: MachineTime) {
        let isDue = keys.withLock { keys in
            guard now >= keys.readAdministratorsAfter else { return false }
            keys.readAdministratorsAfter = now.advanced(by: .seconds(5))
            return true
        }
        guard isDue else { return }
        var problems: [String] = []
        let read = directories.administrators(&problems)
        report(problems)
        let isNew = keys.withLock { keys in
            defer { keys.known.admins = read }
            return keys.known.admins != read
        }
        // Tokens that an old key verified must be verified again.
        if isNew { administrators.removeAll() }
    }

    private func report(_ problems: [String]) {
        for problem in problems {
            logger.warning("a key file cannot be used", metadata: ["problem": "\(problem)"])
        }
    }

    /// Reads the directories again, unless that was done within the last seconds.
    private func readKeysAgain() -> Bool {
        let now = now()
        let isDue = keys.withLock { keys in
            guard now >= keys.readAgainAfter else { return false }
            keys.readAgainAfter = now.advanced(by: .seconds(5))
            return true
        }
        guard isDue else { return false }
        let (read, problems) = directories.read()
        report(problems)
        keys.withLock { $0.known = read }
        // A key may have been removed; tokens that it verified must be verified again.
        accounts.removeAll()
        administrators.removeAll()
        return true
    }
}
