import ArgumentParser
import EventTypes
import Foundation

/// `counterfoil keys server`.
struct ServerKeysCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "Creates a key with which a merchant's server calls the App Store Server API.",
        discussion: """
            Creates private/servers/<key id>.p8, which belongs on the merchant's server, and \
            servers/<key id>.json, which payments, receipts and fulfillment read while they run. \
            The key also signs promotional offers. To revoke it, remove the second file.

            Example:
              counterfoil keys server --directory .dev/keys --key-id 2X9R4HXF34 \\
                --bundle com.example.app
            """
    )

    @Option(help: "The directory of keys.")
    var directory: String

    @Option(help: "The id of the key, the 'kid' of tokens.")
    var keyID: String

    @Option(help: "The issuer, the 'iss' of tokens (default: a new UUID).")
    var issuerID: String?

    @Option(help: "An app that the key may speak for; may be repeated.", transform: identifier)
    var bundle: [BundleID]

    @Flag(help: "Print what was created as JSON.")
    var json = false

    func validate() throws {
        guard CreateKeysCommand.isFileName(keyID) else {
            throw ValidationError("'\(keyID)' cannot name a key.")
        }
        guard !bundle.isEmpty else { throw ValidationError("Name at least one --bundle.") }
    }

    func perform() async throws {
        var creation = KeyCreation(
            directory: KeyDirectory(path: directory),
            time: Date(),
            ocspURL: ""
        )
        try creation.createServerKey(
            keyID: keyID,
            issuerID: issuerID,
            bundleIDs: bundle.map(\.rawValue)
        )
        if json {
            try Console.say(json: ["created": creation.created])
        } else {
            for file in creation.created { Console.say(file) }
        }
    }
}
