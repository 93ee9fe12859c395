import EventTypes
import ServiceKit

/// The settings of `receipts`, read from environment variables and proved before anything starts.
///
/// | key | default | meaning |
/// | --- | --- | --- |
/// | `SIGNING_KEY_FILE` | required | the P-256 private key that receipts are signed with, in PEM |
/// | `SIGNING_CHAIN_FILE` | required | leaf, intermediate and root certificate, in PEM |
/// | `STORE_ENVIRONMENT` | required | `Sandbox` or `Production`, as every receipt says |
///
/// The rest is ``NotificationSettings`` and ``CommonSettings``. `STORE_ENVIRONMENT` has no default, because a receipt that says
/// the wrong one is refused by every client and cannot be taken back.
struct ReceiptsSettings: Sendable {
    let common: CommonSettings
    let environment: StoreEnvironment
    let chain: SigningChain
    let notifications: NotificationSettings

    /// Reads and checks everything, and reports all problems at once.
    ///
    /// - Throws: `ServiceKitError` if anything was wrong.
    init(_ reader: inout SettingsReader, now: Timestamp) throws {
        common = CommonSettings(&reader, service: "receipts", defaultPort: 8083)
        environment = reader.choice(
            "STORE_ENVIRONMENT",
            default: nil,
            "What every receipt gives as its environment."
        )
        let key = reader.file(
            "SIGNING_KEY_FILE",
            "The P-256 private key that receipts are signed with, in PEM."
        )
        let certificates = reader.file(
            "SIGNING_CHAIN_FILE",
            "The certificates that vouch for the key, in PEM: leaf, intermediate, root."
        )
        notifications = NotificationSettings(&reader)
        chain = try Self.chain(key: key, certificates: certificates, now: now, &reader)
    }

    private static func chain(
        key: [UInt8],
        certificates: [UInt8],
        now: Timestamp,
        _ reader: inout SettingsReader
    ) throws -> SigningChain {
        do {
            let chain = try SigningChain(key: key, certificates: certificates, at: now)
            try reader.check()
            return chain
        } catch let refusal as SigningChainRefusal {
            // A file that is missing was reported as missing; what it does not hold is no news.
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
