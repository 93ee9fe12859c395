import ClockAndIDs
import Crypto
public import EventTypes
import Foundation
import ReceiptValidation

/// The keys of a sandbox that a test owns, from the folder that `counterfoil keys create` has made.
///
/// They sign what otherwise the merchant's server and an administrator sign. A test that runs against the
/// sandbox of somebody else asks them for tokens.
public struct StoreTestKeys: Sendable {
    private struct Signer: Sendable {
        let name: String
        let key: P256.Signing.PrivateKey
    }

    /// The app.
    public let bundleID: BundleID
    /// The trust of the app in receipts of this store.
    let receiptTrust: ReceiptTrust
    private let app: Signer
    private let administrator: Signer

    /// Reads the keys.
    ///
    /// - Parameters:
    ///   - directory: The folder, such as `.dev/keys`.
    ///   - bundleID: The app.
    /// - Throws: ``StoreTestError/noKey(path:)``, or an error of a file that is no key.
    public init(directory: String, bundleID: String) throws {
        self.bundleID = BundleID(unchecked: bundleID)
        let root = URL(fileURLWithPath: directory, isDirectory: true)
        app = try Self.signer(in: root.appending(path: "private/apps/\(bundleID)"))
        administrator = try Self.signer(in: root.appending(path: "private/administrators"))
        let certificate = root.appending(path: "receipts/root.cer")
        receiptTrust = ReceiptTrust(
            roots: [[UInt8](try Data(contentsOf: certificate))],
            bundleID: bundleID,
            environment: .sandbox
        )
    }

    /// Signs a token for an account.
    public func accountToken(for account: AccountID) throws -> String {
        try Self.token(from: bundleID.rawValue, for: account.rawValue, to: "counterfoil", app)
    }

    /// Signs a token for the administrator.
    public func administratorToken() throws -> String {
        try Self.token(
            from: "administrator",
            for: administrator.name,
            to: "counterfoil-admin",
            administrator
        )
    }

    /// The first key in a folder.
    private static func signer(in folder: URL) throws -> Signer {
        // A folder that is not there has no keys.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        guard let file = names.filter({ $0.hasSuffix(".pem") }).min() else {
            throw StoreTestError.noKey(path: folder.path)
        }
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        return Signer(
            name: String(file.dropLast(4)),
            key: try P256.Signing.PrivateKey(pemRepresentation: text)
        )
    }

    private struct Header: Encodable {
        let alg = "ES256"
        let typ = "JWT"
        let kid: String
    }

    private struct Claims: Encodable {
        let iss: String
        let sub: String
        let aud: String
        let iat: Int64
        let exp: Int64
    }

    private static func token(
        from issuer: String,
        for subject: String,
        to audience: String,
        _ signer: Signer
    ) throws -> String {
        let time = MachineTime.now().millisecondsSinceEpoch / 1000
        let claims = Claims(iss: issuer, sub: subject, aud: audience, iat: time, exp: time + 3600)
        let encoder = JSONEncoder()
        let parts = [
            try encoder.encode(Header(kid: signer.name)), try encoder.encode(claims),
        ]
        let signed = parts.map(base64URL).joined(separator: ".")
        let signature = try signer.key.signature(for: Data(signed.utf8)).rawRepresentation
        return signed + "." + base64URL(signature)
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
