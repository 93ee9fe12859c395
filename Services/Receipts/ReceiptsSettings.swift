import EventTypes
import Foundation
import ServiceKit
import SwiftASN1
import X509

/// The settings of `receipts`, read from environment variables and validated before anything
/// starts.
///
/// | key | default | meaning |
/// | --- | --- | --- |
/// | `SIGNING_KEY_FILE` | required | the P-256 private key that receipts are signed with, in PEM |
/// | `SIGNING_CHAIN_FILE` | required | leaf, intermediate and root certificate, in PEM |
/// | `OCSP_DIRECTORY` | required | the keys and registers for the status of certificates |
/// | `FULFILLMENT_URL` | `http://127.0.0.1:8084` | the service that finishes are passed on to |
/// | `FULFILLMENT_TIMEOUT_MS` | 10 s | the time limit for one of them |
/// | `PAYMENTS_URL` | `http://127.0.0.1:8082` | the service that is asked for its environment, and extends subscriptions |
/// | `PAYMENTS_TIMEOUT_MS` | 10 s | the time limit for an extension |
/// | `STORE_ENVIRONMENT` | required | `Sandbox` or `Production`, as written in every receipt |
/// | `FORMER_ROOTS_FILE` | none | roots that `verifyReceipt` trusts besides the present one |
/// | `SHARED_SECRETS_DIRECTORY` | none | a file for each app whose server has to send a secret |
///
/// The remaining settings are ``NotificationSettings``, `ServerAPISettings` and `CommonSettings`.
/// `STORE_ENVIRONMENT` has no default, because every client refuses a receipt with the wrong environment, and such a
/// receipt cannot be taken back.
struct ReceiptsSettings: Sendable {
    let common: CommonSettings
    let environment: StoreEnvironment
    let chain: SigningChain
    /// The roots that were in use before, in DER.
    let formerRoots: [[UInt8]]
    let notifications: NotificationSettings
    let ocspDirectory: String
    let servers: ServerAPISettings
    let fulfillmentURL: String
    let fulfillmentTimeout: Duration
    let paymentsURL: String
    let paymentsTimeout: Duration
    let sharedSecrets: SharedSecrets

    /// Reads and checks everything, and reports all problems at once.
    ///
    /// - Throws: `ServiceKitError` if any setting is wrong.
    init(_ reader: inout SettingsReader, now: MachineTime) throws {
        common = CommonSettings(&reader, service: .receipts, defaultPort: 8083)
        environment = Self.environment(&reader)
        ocspDirectory = reader.string(
            "OCSP_DIRECTORY",
            "Responders and registers of root and intermediate; keys create makes them."
        )
        servers = ServerAPISettings(&reader)
        fulfillmentURL = reader.string(
            "FULFILLMENT_URL",
            default: "http://127.0.0.1:8084",
            "Where fulfillment is: finishes of merchants' servers are passed on to it."
        )
        fulfillmentTimeout = reader.milliseconds(
            "FULFILLMENT_TIMEOUT_MS",
            default: .seconds(10),
            in: .milliseconds(50)...(.seconds(120)),
            "How long fulfillment may take to answer a finish."
        )
        paymentsURL = reader.string(
            "PAYMENTS_URL",
            default: "http://127.0.0.1:8082",
            "Where payments is: it says its STORE_ENVIRONMENT, and extends for merchants' servers."
        )
        paymentsTimeout = reader.milliseconds(
            "PAYMENTS_TIMEOUT_MS",
            default: .seconds(10),
            in: .milliseconds(50)...(.seconds(120)),
            "How long payments may take to answer an extension."
        )
        sharedSecrets = Self.sharedSecrets(&reader)
        formerRoots = Self.formerRoots(&reader)
        notifications = NotificationSettings(&reader)
        chain = try Self.chain(now: now, &reader)
    }

    /// Reads the signing chain and the environment, which is all that `measure` needs.
    static func signing(
        _ reader: inout SettingsReader,
        now: MachineTime
    ) throws -> (environment: StoreEnvironment, chain: SigningChain) {
        (environment(&reader), try chain(now: now, &reader))
    }

    private static func environment(_ reader: inout SettingsReader) -> StoreEnvironment {
        reader.choice(
            "STORE_ENVIRONMENT",
            default: nil,
            "The environment that every receipt names."
        )
    }

    /// Reads the former roots, in DER.
    private static func formerRoots(_ reader: inout SettingsReader) -> [[UInt8]] {
        let key = "FORMER_ROOTS_FILE"
        let path = reader.string(
            "FORMER_ROOTS_FILE",
            default: "",
            "Former roots in PEM: verifyReceipt still accepts receipts that were signed under them."
        )
        guard !path.isEmpty else { return [] }
        do {
            let roots = try PEMDocument.parseMultiple(
                pemString: String(contentsOfFile: path, encoding: .utf8)
            ).map { document in
                _ = try Certificate(pemDocument: document)
                return document.derBytes
            }
            if roots.isEmpty { reader.refuse(key, "names a file without a certificate in PEM") }
            return roots
        } catch {
            reader.refuse(key, "names no file of certificates in PEM")
            return []
        }
    }

    private static func sharedSecrets(_ reader: inout SettingsReader) -> SharedSecrets {
        let key = "SHARED_SECRETS_DIRECTORY"
        let directory = reader.string(
            "SHARED_SECRETS_DIRECTORY",
            default: "",
            "Shared secrets for verifyReceipt: a file for each app, named by its bundle id. A path."
        )
        guard !directory.isEmpty else { return SharedSecrets() }
        let (secrets, problems) = SharedSecrets.read(in: directory)
        for problem in problems {
            reader.refuse(key, problem)
        }
        return secrets
    }

    private static func chain(
        now: MachineTime,
        _ reader: inout SettingsReader
    ) throws -> SigningChain {
        let key = reader.file(
            "SIGNING_KEY_FILE",
            "The P-256 private key that receipts are signed with, in PEM."
        )
        let certificates = reader.file(
            "SIGNING_CHAIN_FILE",
            "The certificates that vouch for the key, in PEM: leaf, intermediate, root."
        )
        do {
            let chain = try SigningChain(key: key, certificates: certificates, at: now)
            try reader.check()
            return chain
        } catch let refusal as SigningChainRefusal {
            // Missing files have already been reported, so problems with their content are not.
            let reported = Set(reader.problems.map(\.key))
            for (setting, problems) in [
                ("SIGNING_KEY_FILE", refusal.keyProblems),
                ("SIGNING_CHAIN_FILE", refusal.chainProblems),
            ] where !reported.contains(setting) {
                for problem in problems {
                    reader.refuse(setting, problem)
                }
            }
            try reader.check()
            throw refusal
        }
    }
}
