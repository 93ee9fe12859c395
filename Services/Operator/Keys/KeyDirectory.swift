import Foundation
import OperatorCore

/// The two authorities of a store's certificate chain.
enum AuthorityName: String, CaseIterable {
    case root, intermediate
}

/// The directory of a store's keys, whose files are written atomically and never over existing
/// ones.
struct KeyDirectory {
    let root: URL

    init(path: String) { root = URL(fileURLWithPath: path, isDirectory: true) }

    /// Public keys of the apps that may sign account tokens; `APP_KEYS_DIRECTORY` of every service.
    var apps: URL { root.appending(path: "apps") }
    /// Public keys of the administrators; `ADMIN_KEYS_DIRECTORY` of every service.
    var administrators: URL { root.appending(path: "administrators") }
    /// Private keys that no service reads.
    var privateKeys: URL { root.appending(path: "private") }
    /// The secret that webhooks are signed with.
    var webhookSecret: URL { privateKeys.appending(path: "webhook-secret") }
    /// The key that receipts are signed with.
    var signingKey: URL { root.appending(path: "receipts/signing-key.pem") }
    /// Leaf, intermediate and root, in this order.
    var signingChain: URL { root.appending(path: "receipts/signing-chain.pem") }
    /// The root alone, in DER, as verifiers need it.
    var rootCertificate: URL { root.appending(path: "receipts/root.cer") }
    /// The files that answer for the status of certificates; `OCSP_DIRECTORY` of receipts.
    var statuses: URL { root.appending(path: "receipts/ocsp") }
    /// The certificate that signs the status of an authority's certificates.
    func responder(of authority: AuthorityName) -> URL {
        statuses.appending(path: "\(authority.rawValue)-responder.pem")
    }
    /// The key of that certificate.
    func responderKey(of authority: AuthorityName) -> URL {
        statuses.appending(path: "\(authority.rawValue)-responder-key.pem")
    }
    /// The register of an authority's certificates.
    func register(of authority: AuthorityName) -> URL {
        statuses.appending(path: "\(authority.rawValue)-index.txt")
    }
    /// The public keys of merchants' servers; `SERVER_KEYS_DIRECTORY` of receipts and fulfillment.
    var serverKeys: URL { root.appending(path: "servers") }
    /// Certificate chains that receipts were signed with before a rotation.
    func retiredChain(serial: String) -> URL {
        root.appending(path: "receipts/retired/\(serial).pem")
    }
    /// The key of the root certificate, which belongs offline after the first day.
    var rootKey: URL { privateKeys.appending(path: "authority/root-key.pem") }
    /// The key of the intermediate certificate.
    var intermediateKey: URL { privateKeys.appending(path: "authority/intermediate-key.pem") }

    func appKey(bundleID: String, keyID: String) -> URL {
        apps.appending(path: "\(bundleID)/\(keyID).pem")
    }
    func appPrivateKey(bundleID: String, keyID: String) -> URL {
        privateKeys.appending(path: "apps/\(bundleID)/\(keyID).pem")
    }
    /// The file of an app, beside its keys.
    func appRegistration(bundleID: String) -> URL { apps.appending(path: "\(bundleID)/app.json") }
    func serverKey(keyID: String) -> URL { serverKeys.appending(path: "\(keyID).json") }
    func serverPrivateKey(keyID: String) -> URL {
        privateKeys.appending(path: "servers/\(keyID).p8")
    }
    func administratorKey(name: String) -> URL { administrators.appending(path: "\(name).pem") }
    /// The file of an administrator, beside the key: what the key may be used for.
    func administratorRegistration(name: String) -> URL {
        administrators.appending(path: "\(name).json")
    }
    func administratorPrivateKey(name: String) -> URL {
        privateKeys.appending(path: "administrators/\(name).pem")
    }

    /// The path of a file, as the operator would write it.
    func relativePath(of file: URL) -> String {
        file.path.hasPrefix(root.path + "/")
            ? String(file.path.dropFirst(root.path.count + 1)) : file.path
    }

    /// The names in a folder, sorted; none if there is no such folder.
    func names(in folder: URL) -> [String] {
        // A folder that cannot be read has no names to offer.
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []
    }

    /// Reads a file.
    ///
    /// - Returns: `nil` if it does not exist.
    func read(_ file: URL) throws(OperatorError) -> Data? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw .unreadable(file.path, error)
        }
    }

    /// Writes a file that must not exist.
    ///
    /// It is written beside its place first and then linked there, so that neither a crash nor a
    /// second writer leaves half a file.
    func create(_ file: URL, _ contents: Data, isPrivate: Bool) throws(OperatorError) {
        try write(file, contents, isPrivate: isPrivate) { draft in
            try FileManager.default.linkItem(at: draft, to: file)
        }
    }

    /// Replaces a file atomically: readers see either the whole old file or the whole new one.
    func replace(_ file: URL, _ contents: Data, isPrivate: Bool) throws(OperatorError) {
        try write(file, contents, isPrivate: isPrivate) { draft in
            try DraftFile.put(draft.path, at: file.path)
        }
    }

    private func write(
        _ file: URL,
        _ contents: Data,
        isPrivate: Bool,
        putInPlace: (_ draft: URL) throws -> Void
    ) throws(OperatorError) {
        let folder = file.deletingLastPathComponent()
        let draft = folder.appending(path: ".\(file.lastPathComponent).\(UUID().uuidString)")
        let isSecret = folder.path.hasPrefix(privateKeys.path)
        do {
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: isSecret ? [.posixPermissions: 0o700] : nil
            )
        } catch {
            throw .unwritable(folder.path, error)
        }
        // A draft that is left behind is hidden and harmless.
        defer { try? FileManager.default.removeItem(at: draft) }
        do {
            try DraftFile.write(contents, to: draft.path, isPrivate: isPrivate)
            try putInPlace(draft)
        } catch {
            throw .unwritable(file.path, error)
        }
    }
}
