import Crypto
import EventTypes
import Foundation

/// The directory of the public keys of merchants' servers.
///
/// Each file `<key id>.json` contains the issuer, the key's apps and the key. Keys are found by
/// listing the directory, never by making a path from the contents of a token.
struct ServerKeyDirectory: Sendable {
    /// A key with its issuer and its apps.
    struct Key: Sendable {
        let issuerID: String
        let bundleIDs: Set<String>
        let publicKey: P256.Signing.PublicKey
    }

    private struct File: Decodable {
        var issuerID: String
        var bundleIDs: [String]
        var publicKey: String
    }

    let path: String

    /// Reads all keys; unreadable ones are reported and left out.
    ///
    /// - Returns: `nil` instead of keys if the directory cannot be listed.
    func read() -> (keys: [String: Key]?, problems: [String]) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
                .filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        } catch {
            return (nil, ["the directory of server keys cannot be listed: \(path)"])
        }
        var keys: [String: Key] = [:]
        var problems: [String] = []
        for name in names {
            do {
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
                let file = try JSONDecoder().decode(File.self, from: data)
                keys[String(name.dropLast(5))] = Key(
                    issuerID: file.issuerID,
                    bundleIDs: Set(file.bundleIDs),
                    publicKey: try P256.Signing.PublicKey(pemRepresentation: file.publicKey)
                )
            } catch {
                problems.append(
                    "\(path)/\(name) is no server key: issuerID, bundleIDs, publicKey in PEM"
                )
            }
        }
        return (keys, problems)
    }
}
