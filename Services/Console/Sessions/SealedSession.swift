import Crypto
import EventTypes
import Foundation

/// A session as it is kept in a file: without the browser's cookie, nobody can read its token.
///
/// The key is made of the cookie's secret, which no file has.
struct SealedSession: Codable, Sendable {
    /// The parts that only the browser's cookie opens.
    private struct Secrets: Codable {
        let token: String
        let csrf: String
    }

    /// The administrator's name, by which all sessions of one person are ended.
    let holder: AdministratorName
    private let begun: Int64
    private let used: Int64
    private let isSandbox: Bool
    private let box: Data

    /// Seals a session with the secret of its cookie.
    init(_ session: ConsoleSession, with secret: String) throws {
        holder = session.holder
        begun = session.begunAt.millisecondsSinceEpoch
        used = session.usedAt.millisecondsSinceEpoch
        isSandbox = session.isSandbox
        let secrets = try JSONEncoder().encode(Secrets(token: session.token, csrf: session.csrf))
        let sealed = try AES.GCM.seal(
            secrets,
            using: Self.key(of: secret),
            authenticating: Self.place(holder, begun, used, isSandbox)
        )
        // A nonce of the usual length is part of the combined form.
        box = sealed.combined ?? Data()
    }

    /// Whether the session goes on at a time; its token is not needed for that.
    func isGoingOn(at now: MachineTime) -> Bool { session("", "").isGoingOn(at: now) }

    /// The session; `nil` if the secret is another, or the file was changed.
    func opened(with secret: String) -> ConsoleSession? {
        guard let sealed = try? AES.GCM.SealedBox(combined: box),
            let bytes = try? AES.GCM.open(
                sealed,
                using: Self.key(of: secret),
                authenticating: Self.place(holder, begun, used, isSandbox)
            ),
            let secrets = try? JSONDecoder().decode(Secrets.self, from: bytes)
        else { return nil }
        return session(secrets.token, secrets.csrf)
    }

    private func session(_ token: String, _ csrf: String) -> ConsoleSession {
        ConsoleSession(
            holder: holder,
            token: token,
            csrf: csrf,
            begunAt: MachineTime(millisecondsSinceEpoch: begun),
            isSandbox: isSandbox,
            usedAt: MachineTime(millisecondsSinceEpoch: used)
        )
    }

    /// The key of a cookie's secret.
    private static func key(of secret: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)),
            info: Data("counterfoil console session".utf8),
            outputByteCount: 32
        )
    }

    /// The text that stands beside the box, and cannot be changed without breaking its seal.
    private static func place(
        _ holder: AdministratorName,
        _ begun: Int64,
        _ used: Int64,
        _ isSandbox: Bool
    ) -> Data {
        Data("\(begun) \(used) \(isSandbox) \(holder)".utf8)
    }
}
