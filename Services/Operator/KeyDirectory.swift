import Foundation

/// Where a store's keys lie, and how a file gets there: whole or not at all, and never over one
/// that exists.
struct KeyDirectory {
    let root: URL

    init(path: String) { root = URL(fileURLWithPath: path, isDirectory: true) }

    /// Public keys of the apps that may sign account tokens; `APP_KEYS_DIRECTORY` of every service.
    var apps: URL { root.appending(path: "apps") }
    /// Public keys of the administrators; `ADMIN_KEYS_DIRECTORY` of every service.
    var administrators: URL { root.appending(path: "administrators") }
    /// Private keys that no service reads.
    var privateKeys: URL { root.appending(path: "private") }
    /// What webhooks are signed with.
    var webhookSecret: URL { privateKeys.appending(path: "webhook-secret") }
    /// What receipts are signed with.
    var signingKey: URL { root.appending(path: "receipts/signing-key.pem") }
    /// Leaf, intermediate and root, in this order.
    var signingChain: URL { root.appending(path: "receipts/signing-chain.pem") }
    /// The root alone, DER, as verifiers want it.
    var rootCertificate: URL { root.appending(path: "receipts/root.cer") }
    /// The key of the root certificate; its place after the first day is offline.
    var rootKey: URL { privateKeys.appending(path: "authority/root-key.pem") }
    /// The key of the intermediate certificate.
    var intermediateKey: URL { privateKeys.appending(path: "authority/intermediate-key.pem") }

    func appKey(bundleID: String, keyID: String) -> URL {
        apps.appending(path: "\(bundleID)/\(keyID).pem")
    }
    func appPrivateKey(bundleID: String, keyID: String) -> URL {
        privateKeys.appending(path: "apps/\(bundleID)/\(keyID).pem")
    }
    func administratorKey(name: String) -> URL { administrators.appending(path: "\(name).pem") }
    func administratorPrivateKey(name: String) -> URL {
        privateKeys.appending(path: "administrators/\(name).pem")
    }

    /// The path of a file as the operator would write it.
    func relativePath(of file: URL) -> String {
        file.path.hasPrefix(root.path + "/")
            ? String(file.path.dropFirst(root.path.count + 1)) : file.path
    }

    /// The names in a folder, sorted; none if there is no such folder.
    func names(in folder: URL) -> [String] {
        // A folder that cannot be read holds no name we could offer.
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
            throw OperatorError(.failed, "\(file.path) cannot be read.")
        }
    }

    /// Writes a file that must not exist: beside its place first, then linked into it, so that
    /// neither a crash nor a second writer leaves half of one.
    func create(_ file: URL, _ contents: Data, isPrivate: Bool) throws(OperatorError) {
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
            throw OperatorError(.failed, "The folder \(folder.path) cannot be made.")
        }
        // A draft left behind is hidden and harmless.
        defer { try? FileManager.default.removeItem(at: draft) }
        // The mode is set as the file is made: at no moment can others read a private key.
        let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_EXCL, isPrivate ? 0o600 : 0o644)
        guard descriptor >= 0 else {
            throw OperatorError(.failed, "\(file.path) cannot be written.")
        }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: contents)
            try handle.synchronize()
        } catch {
            throw OperatorError(.failed, "\(file.path) cannot be written.")
        }
        do {
            try FileManager.default.linkItem(at: draft, to: file)
        } catch {
            throw OperatorError(.failed, "\(file.path) cannot be written, or exists already.")
        }
    }
}
