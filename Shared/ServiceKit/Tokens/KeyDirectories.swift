import Crypto
import EventTypes
import Foundation

/// The directories of the public keys of apps and administrators.
///
/// Keys are found by listing the directories, never by making a path from the contents of a token.
struct KeyDirectories: Sendable {
    struct Keys: Sendable {
        /// The app keys, by bundle id, then by key id.
        var apps: [String: [String: P256.Signing.PublicKey]] = [:]
        /// The administrators' keys, by name.
        var admins: [String: P256.Signing.PublicKey] = [:]
    }

    let apps: String
    let admins: String

    /// Reads all keys; unreadable ones are reported and left out.
    func read() -> (keys: Keys, problems: [String]) {
        var keys = Keys()
        var problems: [String] = []
        for bundleID in names(in: apps, of: "app keys", &problems) {
            let path = "\(apps)/\(bundleID)"
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            guard isDirectory.boolValue, BundleID.isWellFormed(bundleID) else { continue }
            keys.apps[bundleID] = publicKeys(in: path, &problems)
        }
        keys.admins = publicKeys(in: admins, of: "administrator keys", &problems)
        return (keys, problems)
    }

    private func publicKeys(
        in directory: String,
        of kind: String = "app keys",
        _ problems: inout [String]
    ) -> [String: P256.Signing.PublicKey] {
        var keys: [String: P256.Signing.PublicKey] = [:]
        for name in names(in: directory, of: kind, &problems) where name.hasSuffix(".pem") {
            let path = "\(directory)/\(name)"
            do {
                let text = try String(contentsOfFile: path, encoding: .utf8)
                guard !text.contains("PRIVATE KEY") else {
                    problems.append("\(path) holds a private key; put the public one there")
                    continue
                }
                keys[String(name.dropLast(4))] = try P256.Signing.PublicKey(pemRepresentation: text)
            } catch {
                problems.append("\(path) is not a public P-256 key in PEM")
            }
        }
        return keys
    }

    private func names(
        in directory: String,
        of kind: String,
        _ problems: inout [String]
    ) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
                .filter { !$0.hasPrefix(".") }.sorted()
        } catch {
            problems.append("the directory of \(kind) cannot be listed: \(directory)")
            return []
        }
    }
}
