import ArgumentParser
import Foundation

/// `counterfoil keys rotate`.
struct RotateKeysCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Issues a new leaf certificate to sign receipts, in place of the current one.",
        discussion: """
            Creates a new key, leaf and status responder; this needs \
            private/authority/intermediate-key.pem. The previous certificate chain stays in \
            receipts/retired/, but not its key. Everything that was signed before stays valid. The \
            new leaf is valid for as many years as the previous one was issued for, but for no longer \
            than the intermediate certificate. \
            Restart receipts afterwards: until then it signs with the old leaf.

            Examples:
              counterfoil keys rotate --directory .dev/keys
              counterfoil keys rotate --directory KEYS \\
                --ocsp-url http://receipts.example.com/ocsp
            """
    )

    @Option(help: "The directory of keys.")
    var directory: String

    @Option(
        help: """
            The URL at which verifiers ask for certificates' status (default: unchanged). \
            A new URL also needs the root's key.
            """
    )
    var ocspURL: String?

    @Flag(help: "Print the serial numbers as JSON.")
    var json = false

    func validate() throws {
        if let ocspURL { try CreateKeysCommand.checkOCSP(ocspURL) }
    }

    func perform() async throws {
        let result = try ChainRotation(
            directory: KeyDirectory(path: directory),
            time: Date(),
            ocspURL: ocspURL
        ).rotate()
        if json {
            try Console.say(json: ["retired": result.retired, "current": result.current])
            return
        }
        Console.say("The new leaf is \(result.current); \(result.retired) is retired.")
        if let end = result.shortenedTo {
            Console.say(
                "The new leaf is valid until \(end.formatted(.iso8601)) only, when the intermediate ends."
            )
        }
        if result.reissuedIntermediate {
            Console.say("The intermediate certificate was issued again; the root is unchanged.")
        }
        Console.say("Restart receipts, so that it signs with the new leaf.")
    }
}
