import Crypto
import EventTypes
import Foundation

/// The shared secrets of apps, with which their servers say who they are to `verifyReceipt`.
///
/// A secret itself is not kept: what is kept is an HMAC of it under a key of this process, and the
/// comparison takes as long for a wrong one as for the right one.
struct SharedSecrets: Sendable, CustomStringConvertible {
    private let key = SymmetricKey(size: .bits256)
    private var codes: [String: Data] = [:]

    /// No secrets: no app asks for one.
    init() {}

    /// Reads a folder with a file for each app, named by its bundle id.
    ///
    /// - Returns: The secrets, and what is wrong with the folder, without a byte of a secret.
    static func read(in directory: String) -> (secrets: SharedSecrets, problems: [String]) {
        var secrets = SharedSecrets()
        var problems: [String] = []
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            return (secrets, ["names a directory that cannot be listed"])
        }
        for name in names where !name.hasPrefix(".") {
            guard BundleID.isWellFormed(name) else {
                problems.append("holds a file whose name is not a bundle id: \(name)")
                continue
            }
            guard let text = try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8),
                case let secret = text.trimmingCharacters(in: .whitespacesAndNewlines),
                secret.utf8.count >= 16
            else {
                problems.append("holds no secret of 16 characters or more in the file \(name)")
                continue
            }
            secrets.set(secret, of: name)
        }
        return (secrets, problems)
    }

    /// Sets an app's secret.
    mutating func set(_ secret: String, of bundleID: String) {
        codes[bundleID] = Data(
            HMAC<SHA256>.authenticationCode(for: Data(secret.utf8), using: key)
        )
    }

    /// Whether an app has a secret.
    func has(_ bundleID: String) -> Bool { codes[bundleID] != nil }

    /// Whether a secret is an app's; no secret is the one of an app that has none.
    func isSecret(_ secret: String, of bundleID: String) -> Bool {
        guard let code = codes[bundleID] else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code,
            authenticating: Data(secret.utf8),
            using: key
        )
    }

    /// How many there are.
    var description: String { "SharedSecrets(\(codes.count))" }
}
