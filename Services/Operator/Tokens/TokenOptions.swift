import ArgumentParser
import EventTypes
import Foundation

/// Whose private key signs a token: found below the directory that `keys create` made.
struct KeysOption: ParsableArguments {
    @Option(
        name: .customLong("keys"),
        help: "The directory that 'keys create' made (or COUNTERFOIL_KEYS; default .dev/keys)."
    )
    var path: String?

    var directory: KeyDirectory {
        KeyDirectory(
            path: path ?? ProcessInfo.processInfo.environment["COUNTERFOIL_KEYS"] ?? ".dev/keys"
        )
    }
}

/// Which app signs the account's token, with which of its keys.
struct AppOptions: ParsableArguments {
    @Option(
        help: "The app's bundle id; needed only if there are keys of several apps.",
        transform: identifier
    )
    var bundle: BundleID?

    @Option(help: "The id of the app's key; needed only if the app has several.")
    var keyID: String?

    /// Makes a token for an account.
    func token(
        for accountID: AccountID,
        keys: KeyDirectory,
        at time: Timestamp,
        lifetime: Duration
    ) throws(OperatorError) -> String {
        let appsFolder = keys.privateKeys.appending(path: "apps")
        let bundleName = try only(
            bundle?.rawValue,
            in: keys.names(in: appsFolder),
            of: appsFolder.path,
            option: "--bundle"
        )
        let keysFolder = appsFolder.appending(path: bundleName)
        let keyFiles = keys.names(in: keysFolder).filter { $0.hasSuffix(".pem") }
            .map { String($0.dropLast(4)) }
        let keyName = try only(keyID, in: keyFiles, of: keysFolder.path, option: "--key-id")
        guard let bundleID = BundleID(rawValue: bundleName) else {
            throw OperatorError(.failed, "\(bundleName) is not \(BundleID.form).")
        }
        let signer = try tokenSigner(
            keys.appPrivateKey(bundleID: bundleName, keyID: keyName),
            named: keyName,
            in: keys
        )
        return try signing {
            try signer.accountToken(accountID, of: bundleID, from: time, lifetime: lifetime)
        }
    }
}

/// Which administrator acts.
struct AdminOption: ParsableArguments {
    @Option(
        name: [.customLong("administrator"), .customLong("admin")],
        help: "The administrator's name; needed only if there are keys of several."
    )
    var administrator: String?

    /// Makes a token for the administrator.
    func token(
        keys: KeyDirectory,
        at time: Timestamp,
        lifetime: Duration
    ) throws(OperatorError) -> String {
        let folder = keys.privateKeys.appending(path: "administrators")
        let names = keys.names(in: folder).filter { $0.hasSuffix(".pem") }
            .map { String($0.dropLast(4)) }
        let name = try only(
            administrator,
            in: names,
            of: folder.path,
            option: "--administrator"
        )
        let signer = try tokenSigner(
            keys.administratorPrivateKey(name: name),
            named: name,
            in: keys
        )
        return try signing { try signer.adminToken(from: time, lifetime: lifetime) }
    }
}

/// The name asked for, or the only one there is.
private func only(
    _ asked: String?,
    in names: [String],
    of folder: String,
    option: String
) throws(OperatorError) -> String {
    if let asked { return asked }
    guard let name = names.first else {
        throw OperatorError(
            .failed,
            "There is no private key in \(folder): make one with 'counterfoil keys create'."
        )
    }
    guard names.count == 1 else {
        throw OperatorError(
            .failed,
            "\(folder) holds \(names.joined(separator: ", ")): choose with \(option)."
        )
    }
    return name
}

private func tokenSigner(
    _ file: URL,
    named name: String,
    in keys: KeyDirectory
) throws(OperatorError) -> TokenSigner {
    guard let pem = try keys.read(file) else {
        throw OperatorError(.failed, "There is no private key at \(file.path).")
    }
    do {
        return try TokenSigner(privateKeyPEM: String(decoding: pem, as: UTF8.self), keyID: name)
    } catch {
        throw OperatorError(.failed, "\(file.path) is no P-256 private key in PEM.")
    }
}

private func signing(_ body: () throws -> String) throws(OperatorError) -> String {
    do {
        return try body()
    } catch {
        throw OperatorError(.failed, "The token cannot be signed: \(error)")
    }
}
