import ArgumentParser
import EventTypes
import Foundation

/// The options that select the app and the key that sign an account's token.
struct AppOptions: ParsableArguments {
    @Option(
        help: "The app's bundle id; needed only if several apps have keys.",
        transform: identifier
    )
    var bundle: BundleID?

    @Option(help: "The id of the app's key; needed only if the app has several keys.")
    var keyID: String?

    /// Makes a token for an account.
    func token(
        for accountID: AccountID,
        keys: KeyDirectory,
        at time: MachineTime,
        lifetime: Duration
    ) async throws(OperatorError) -> String {
        let appsFolder = keys.privateKeys.appending(path: "apps")
        let bundleName = try KeyDirectory.only(
            bundle?.rawValue,
            in: keys.names(in: appsFolder),
            of: appsFolder,
            option: "--bundle"
        )
        let keysFolder = appsFolder.appending(path: bundleName)
        let keyFiles = keys.names(in: keysFolder).filter { $0.hasSuffix(".pem") }
            .map { String($0.dropLast(4)) }
        let keyName = try KeyDirectory.only(keyID, in: keyFiles, of: keysFolder, option: "--key-id")
        guard let bundleID = BundleID(rawValue: bundleName) else {
            throw OperatorError(.failed, "\(bundleName) is not \(BundleID.form).")
        }
        let signer = try keys.tokenSigner(
            keys.appPrivateKey(bundleID: bundleName, keyID: keyName),
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
