import ArgumentParser
import EventTypes
import Foundation
import StoreAPI

/// `counterfoil keys create`.
struct CreateKeysCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Creates the missing keys in a directory of keys; overwrites nothing.",
        discussion: """
            Creates, below the directory:
              apps/<bundle>/<key id>.pem     public key of an app: APP_KEYS_DIRECTORY=apps
              apps/<bundle>/app.json         the app's number (appAppleID)
              administrators/<name>.pem      public key of an administrator:
                                             ADMIN_KEYS_DIRECTORY=administrators
              administrators/<name>.json     the scopes of that key
              servers/<key id>.json          key of a merchant's server:
                                             SERVER_KEYS_DIRECTORY
              receipts/signing-key.pem       key of the receipts service, mode 0600
              receipts/signing-chain.pem     leaf, intermediate and root certificates
              receipts/root.cer              the root alone, in DER, for verifiers
              receipts/ocsp/                 responders for their status: OCSP_DIRECTORY
              private/apps/, private/servers/, private/administrators/
                                             the private halves, mode 0600
              private/authority/             keys of root and intermediate, mode 0600
              private/webhook-secret         the secret that signs webhooks, mode 0600

            The keys in private/authority are needed again only to issue certificates ('keys \
            rotate'), so keep them offline. Run the command again to add an app or an \
            administrator.

            Examples:
              counterfoil keys create --directory .dev/keys
              counterfoil keys create --directory .dev/keys \\
                --bundle com.example.game --administrator grace
              counterfoil keys create --directory .dev/keys \\
                --administrator mia --scope read --scope support
            """
    )

    @Option(help: "The directory of keys.")
    var directory: String

    @Option(
        help: "The bundle id of the app to make a key pair for (default: com.example.app).",
        transform: identifier
    )
    var bundle: BundleID = BundleID(unchecked: "com.example.app")

    @Option(help: "The URL at which verifiers ask for certificates' status: /ocsp of receipts.")
    var ocspURL: String = "http://127.0.0.1:8083/ocsp"

    @Option(help: "The id of the app's key; the app's tokens name it.")
    var keyID: String = "key-1"

    @Option(
        name: [.customLong("administrator"), .customLong("admin")],
        help: "The name of the administrator to make a key pair for."
    )
    var administrator: String = "operator"

    @Option(
        name: .customLong("scope"),
        help: """
            A scope of the administrator's key: read, support, operator or merchandiser \
            (repeatable; default: all).
            """,
        transform: AdministratorScope.option
    )
    var scopes: [AdministratorScope] = []

    @Option(
        help: """
            For how many years the certificate that signs receipts is valid, from 1 to 9. A sandbox whose \
            clock is set far ahead needs more.
            """
    )
    var years: Int = 2

    @Flag(help: "Print the names of the created files as JSON.")
    var json = false

    func validate() throws {
        try Self.checkOCSP(ocspURL)
        guard (1...9).contains(years) else { throw ValidationError("--years must be from 1 to 9.") }
        for name in [keyID, administrator] where !Self.isFileName(name) {
            throw ValidationError(
                "'\(name)' is not a name of 1 to 64 letters, digits, hyphens and underscores."
            )
        }
    }

    func perform() async throws {
        var creation = KeyCreation(
            directory: KeyDirectory(path: directory),
            time: Date(),
            ocspURL: ocspURL
        )
        creation.leafYears = years
        try creation.createAll(
            bundleID: bundle.rawValue,
            keyID: keyID,
            administrator: administrator,
            scopes: scopes.isEmpty ? AdministratorScope.allCases : scopes
        )
        if json {
            try Console.say(json: ["created": creation.created])
        } else if creation.created.isEmpty {
            Console.say("Everything exists already in \(directory).")
        } else {
            Console.say("Created in \(directory):")
            for file in creation.created { Console.say("  " + file) }
        }
    }

    /// Refuses URLs that verifiers cannot use: they send OCSP over plain HTTP, because checking a
    /// TLS certificate would need a status in turn.
    static func checkOCSP(_ url: String) throws {
        let parts = URL(string: url)
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts, ["http", "https"].contains(parts.scheme ?? ""), parts.host() != nil
        else {
            throw ValidationError("'\(url)' is not a URL such as http://receipts.example.com/ocsp.")
        }
    }

    /// Whether a name is safe as a file name: no path, no leading full stop.
    static func isFileName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || "0123456789-_".unicodeScalars.contains($0))
            }
    }
}
