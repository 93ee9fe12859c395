import Crypto
import EventTypes
import Foundation
import StoreAPI

/// The directories of the public keys of apps and administrators.
///
/// Keys are found by listing the directories, never by making a path from the contents of a token.
struct KeyDirectories: Sendable {
    struct Keys: Sendable {
        /// The app keys, by bundle id, then by key id.
        var apps: [String: [String: P256.Signing.PublicKey]] = [:]
        /// The administrators' keys, by name.
        var admins: [String: AdministratorKey] = [:]
    }

    /// An administrator's key, with what it may be used for.
    struct AdministratorKey: Equatable, Sendable {
        let key: P256.Signing.PublicKey
        let scopes: Set<AdministratorScope>

        static func == (left: AdministratorKey, right: AdministratorKey) -> Bool {
            left.scopes == right.scopes
                && left.key.rawRepresentation == right.key.rawRepresentation
        }
    }

    /// The file beside an administrator's key that lists its scopes.
    private struct Registration: Decodable {
        var scopes: Set<AdministratorScope>
    }

    /// The directory of the apps' keys; `nil` if no app's token is accepted.
    let apps: String?
    let admins: String

    /// Reads all keys; unreadable ones are reported and left out.
    func read() -> (keys: Keys, problems: [String]) {
        var keys = Keys()
        var problems: [String] = []
        for (apps, bundleID) in bundles(&problems) {
            let path = "\(apps)/\(bundleID)"
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            guard isDirectory.boolValue, BundleID.isWellFormed(bundleID) else { continue }
            keys.apps[bundleID] = publicKeys(in: path, &problems)
        }
        keys.admins = administrators(&problems)
        return (keys, problems)
    }

    private func bundles(_ problems: inout [String]) -> [(folder: String, name: String)] {
        guard let apps else { return [] }
        return names(in: apps, of: "app keys", &problems).map { (apps, $0) }
    }

    /// Reads the administrators' keys and their scopes.
    ///
    /// A key without scopes is reported and left out, so a forgotten file never gives every right.
    func administrators(_ problems: inout [String]) -> [String: AdministratorKey] {
        var administrators: [String: AdministratorKey] = [:]
        for (name, key) in publicKeys(in: admins, of: "administrator keys", &problems) {
            let path = "\(admins)/\(name).json"
            guard AdministratorName.isWellFormed(name) else {
                problems.append("\(admins)/\(name).pem is not named as \(AdministratorName.form)")
                continue
            }
            guard let bytes = FileManager.default.contents(atPath: path) else {
                problems.append(
                    "\(path) is missing: it lists the scopes of the key beside it, such as "
                        + #"{"scopes": ["read", "support"]}"#
                )
                continue
            }
            do {
                let registration = try JSONDecoder().decode(Registration.self, from: bytes)
                administrators[name] = AdministratorKey(key: key, scopes: registration.scopes)
            } catch {
                let names = AdministratorScope.allCases.map(\.rawValue).joined(separator: ", ")
                problems.append(#"\#(path) is not {"scopes": […]} with some of \#(names)"#)
            }
        }
        return administrators
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
