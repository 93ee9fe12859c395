import ArgumentParser
import EventTypes
import Foundation
import OperatorCore

/// The options that select the app and the key that sign an account's token.
struct AppOptions: ParsableArguments {
    @Option(
        help: "The app's bundle id; needed only if several apps have keys.",
        transform: identifier
    )
    var bundle: BundleID?

    @Option(help: "The id of the app's key; needed only if the app has several keys.")
    var keyID: String?

    /// The app: the one that was named, or the only one that has keys.
    func app(keys: KeyDirectory) throws(OperatorError) -> BundleID {
        let folder = keys.privateKeys.appending(path: "apps")
        let name = try KeyDirectory.only(
            bundle?.rawValue,
            in: keys.names(in: folder),
            of: folder,
            option: "--bundle"
        )
        guard let bundleID = BundleID(rawValue: name) else {
            throw OperatorError(.failed, "\(name) is not \(BundleID.form).")
        }
        return bundleID
    }

    /// Makes a token for an account.
    func token(
        for accountID: AccountID,
        keys: KeyDirectory,
        at time: MachineTime,
        lifetime: Duration
    ) async throws(OperatorError) -> String {
        let bundleID = try app(keys: keys)
        let keysFolder = keys.privateKeys.appending(path: "apps/\(bundleID)")
        let keyFiles = keys.names(in: keysFolder).filter { $0.hasSuffix(".pem") }
            .map { String($0.dropLast(4)) }
        let keyName = try KeyDirectory.only(keyID, in: keyFiles, of: keysFolder, option: "--key-id")
        let signer = try keys.tokenSigner(
            keys.appPrivateKey(bundleID: bundleID.rawValue, keyID: keyName),
            named: keyName
        )
        return try await signer.accountToken(
            accountID,
            of: bundleID,
            from: time,
            lifetime: lifetime
        )
    }
}
