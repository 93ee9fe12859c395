import Crypto
import EventTypes
import Foundation

/// The shared secrets of apps, with which their servers authenticate to `verifyReceipt`.
///
/// No secret is stored, only its HMAC under a key of this process. A comparison takes as long for a
/// wrong secret as for the right one.
struct SharedSecrets: Sendable, CustomStringConvertible {
    private let key = SymmetricKey(size: .bits256)
    private var codes: [String: Data] = [:]

    /// Creates an empty set: no app requires a secret.
    init() {}

    /// Reads a directory with a file for each app, named after its bundle id.
    ///
    /// - Returns: The secrets, and the problems with the directory, without a byte of a secret.
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
            let text: String
            do {
                text = try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
            } catch {
                // The error may quote what is in the file.
                problems.append("holds a file that cannot be read as text: \(name)")
                continue
            }
            let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard secret.utf8.count >= 16 else {
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

    /// Whether a secret is the app's.
    ///
    /// For an app without a secret, no secret is.
    func isSecret(_ secret: String, of bundleID: String) -> Bool {
        guard let code = codes[bundleID] else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code,
            authenticating: Data(secret.utf8),
            using: key
        )
    }

    /// The number of secrets.
    var description: String { "SharedSecrets(\(codes.count))" }
}
