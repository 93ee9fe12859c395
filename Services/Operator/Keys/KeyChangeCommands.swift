import ArgumentParser
import EventTypes
import Foundation

/// `counterfoil keys rotate`.
struct RotateKeysCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Issues a new leaf to sign receipts with, in the place of the present one.",
        discussion: """
            Needs private/authority/intermediate-key.pem. Makes a new key, leaf and status responder;
            the chain before is kept in receipts/retired/, its key is not. What was signed before
            stays valid. Restart receipts afterwards: until then it signs with the leaf it has read.

            Examples:
              counterfoil keys rotate --directory .dev/keys
              counterfoil keys rotate --directory KEYS --ocsp-url http://receipts.example.com/ocsp
            """
    )

    @Option(help: "The directory of keys.")
    var directory: String

    @Option(
        help: """
            Where verifiers ask for the status of certificates (default: where they do already). \
            A new address needs the root's key, too.
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
        Console.say("The next leaf is \(result.current); \(result.retired) is retired.")
        if result.reissuedIntermediate {
            Console.say("The intermediate certificate was issued anew; the root is the same.")
        }
        Console.say("Restart receipts, so that it signs with the new leaf.")
    }
}

/// `counterfoil keys revoke`.
struct RevokeKeysCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Says that a certificate is not to be believed any more.",
        discussion: """
            Marks the leaf that signs at present, or the certificate of a serial number, as revoked.
            receipts tells so within a second, and verifiers that check online refuse everything
            that the leaf has signed. It cannot be taken back. Rotate first where receipts have to
            go on being signed:

              counterfoil keys rotate --directory KEYS      prints the serial of the leaf before
              counterfoil keys revoke --directory KEYS --serial SERIAL --reason keyCompromise
            """
    )

    @Option(help: "The directory of keys.")
    var directory: String

    @Option(help: "The serial number, in hexadecimal (default: the leaf that signs at present).")
    var serial: String?

    @Option(
        help: """
            Why: \(CertificateRegister.Reason.allCases.map(\.rawValue).joined(separator: ", ")).
            """,
        transform: { text in
            guard let reason = CertificateRegister.Reason(rawValue: text) else {
                throw ValidationError("'\(text)' is no reason.")
            }
            return reason
        }
    )
    var reason: CertificateRegister.Reason = .unspecified

    func perform() async throws {
        let keys = KeyDirectory(path: directory)
        guard let leaf = try keys.chain().first else {
            throw OperatorError(.failed, "There is no chain yet: run 'counterfoil keys create'.")
        }
        let current = CertificateRegister.serial(of: leaf)
        let wanted = (serial ?? current).replacing(":", with: "").uppercased()
        for name in AuthorityName.allCases {
            var register = try keys.readRegister(of: name)
            switch register.revoke(serial: wanted, at: Date(), for: reason) {
            case .unknown: continue
            case .wasRevoked:
                Console.say("\(wanted) was revoked already.")
                return
            case .revoked:
                try keys.write(register, of: name)
                Console.say("\(wanted) is revoked.")
                if wanted == current {
                    Console.say("Receipts are still signed with it: run 'counterfoil keys rotate'.")
                }
                return
            }
        }
        throw OperatorError(.failed, "No certificate of this store has the serial \(wanted).")
    }
}

/// `counterfoil keys server`.
struct ServerKeysCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "Makes a key with which an app's server asks the App Store Server API.",
        discussion: """
            Makes private/servers/<key id>.p8, which belongs to the app's server, and
            servers/<key id>.json, which receipts and fulfillment read while they run. Remove the
            latter and the key is worth nothing.

            Examples:
              counterfoil keys server --directory .dev/keys --key-id 2X9R4HXF34 --bundle com.example.app
            """
    )

    @Option(help: "The directory of keys.")
    var directory: String

    @Option(help: "The id of the key: the token's kid.")
    var keyID: String

    @Option(help: "The issuer: the token's iss (default: a new UUID).")
    var issuerID: String?

    @Option(help: "An app that the key speaks for; may be repeated.", transform: identifier)
    var bundle: [BundleID]

    @Flag(help: "Print what was made as JSON.")
    var json = false

    func validate() throws {
        guard CreateKeysCommand.isFileName(keyID) else {
            throw ValidationError("'\(keyID)' is no name for a key.")
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
