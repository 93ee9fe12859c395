import Crypto
import Foundation
import OperatorCore

/// The keys of merchants' servers, and the files of apps.
extension KeyCreation {
    /// The file of one server key, which payments, receipts and fulfillment read.
    struct ServerKey: Codable, Equatable {
        /// The issuer that signs with the key: the token's `iss`.
        var issuerID: String
        /// The apps that the key may speak for: the token's `bid`.
        var bundleIDs: [String]
        /// The public key, in PEM.
        var publicKey: String
    }

    /// The file of an app, which receipts reads.
    struct AppRegistration: Codable, Equatable {
        /// The app's number, which every answer of the server API contains.
        var appAppleID: Int64
    }

    /// Creates a key pair for a merchant's server.
    ///
    /// - Parameters:
    ///   - keyID: The token's `kid` and the name of the file.
    ///   - issuerID: Who signs with it; a UUID of its own where none is given.
    ///   - bundleIDs: The apps it speaks for.
    /// - Throws: ``OperatorError`` if a key with that id exists already.
    mutating func createServerKey(
        keyID: String,
        issuerID: String?,
        bundleIDs: [String]
    ) throws(OperatorError) {
        let file = directory.serverKey(keyID: keyID)
        guard try directory.read(file) == nil else {
            throw OperatorError(.failed, "The server key \(keyID) exists already: \(file.path).")
        }
        let key = try key(directory.serverPrivateKey(keyID: keyID))
        let registered = ServerKey(
            issuerID: issuerID ?? UUID().uuidString.lowercased(),
            bundleIDs: bundleIDs,
            publicKey: key.publicKey.pemRepresentation
        )
        let text = try certifying { try Console.prettyJSON(registered) + "\n" }
        try create(file, text, isPrivate: false)
    }

    /// Whether a server key speaks for an app.
    func hasServerKey(for bundleID: String) throws(OperatorError) -> Bool {
        for name in directory.names(in: directory.serverKeys) where name.hasSuffix(".json") {
            let contents = try directory.read(directory.serverKeys.appending(path: name))
            // A file that is not a server key speaks for no app; the services report it.
            let key = contents.flatMap { try? JSONDecoder().decode(ServerKey.self, from: $0) }
            if key?.bundleIDs.contains(bundleID) == true { return true }
        }
        return false
    }

    /// Registers an app, with a number of ten digits like those of Apple's apps.
    mutating func createAppRegistration(bundleID: String) throws(OperatorError) {
        let file = directory.appRegistration(bundleID: bundleID)
        guard try directory.read(file) == nil else { return }
        let app = AppRegistration(appAppleID: Int64.random(in: 1_000_000_000...9_999_999_999))
        let text = try certifying { try Console.prettyJSON(app) + "\n" }
        try create(file, text, isPrivate: false)
    }
}
