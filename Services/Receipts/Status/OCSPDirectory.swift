import Crypto
import EventTypes
import Foundation
import Logging
import SwiftASN1
import Synchronization
import X509

/// The files of the OCSP responder, which the operator may change while the service runs: for
/// `root` and `intermediate`, a responder's certificate and key, and the index of certificates.
///
/// They are checked at most once a second, and read again after a change. Unreadable files change
/// nothing: the previous data remains in use, and the log has the reason.
final class OCSPDirectory: Sendable {
    private struct State {
        var responder: OCSPResponder
        var seen: [String]
        var lookAgainAt: MachineTime
    }

    private static let names = ["root", "intermediate"]
    private static let interval = Duration.seconds(1)

    private let path: String
    /// The root and the intermediate certificate.
    private let authorities: [Certificate]
    private let state: Mutex<State>
    private let logger: Logger

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - chain: The chain whose issuers' certificates have a status here.
    ///   - now: The time.
    ///   - logger: Logs when changed files cannot be used.
    /// - Throws: ``ReceiptsError`` naming the file that cannot be used.
    init(path: String, chain: SigningChain, at now: MachineTime, logger: Logger) throws {
        self.path = path
        self.logger = logger
        authorities = [chain.certificates[2], chain.certificates[1]]
        let seen = Self.marks(in: path)
        state = Mutex(
            State(
                responder: try Self.read(path, authorities),
                seen: seen,
                lookAgainAt: now.advanced(by: Self.interval)
            )
        )
    }

    /// Returns the present responder.
    func responder(at now: MachineTime) -> OCSPResponder {
        state.withLock { state in
            // If the clock was set back, a revocation must still be noticed.
            let isDue =
                now >= state.lookAgainAt
                || now < state.lookAgainAt.advanced(by: .zero - Self.interval)
            guard isDue else { return state.responder }
            state.lookAgainAt = now.advanced(by: Self.interval)
            let marks = Self.marks(in: path)
            guard marks != state.seen else { return state.responder }
            do {
                state.responder = try Self.read(path, authorities)
                state.seen = marks
                logger.info("read what certificates were issued and revoked")
            } catch {
                logger.warning(
                    "the files in OCSP_DIRECTORY cannot be used; the earlier ones stay in use",
                    metadata: ["error": "\(error)"]
                )
            }
            return state.responder
        }
    }

    private static func files(of name: String) -> [String] {
        ["\(name)-index.txt", "\(name)-responder.pem", "\(name)-responder-key.pem"]
    }

    /// Returns marks that differ when a file is replaced: its time and its inode.
    private static func marks(in path: String) -> [String] {
        names.flatMap(files).map { name in
            // A mounted secret is a link that stays the same while its target is replaced.
            let file = URL(fileURLWithPath: "\(path)/\(name)").resolvingSymlinksInPath()
            guard let found = try? FileManager.default.attributesOfItem(atPath: file.path) else {
                // The file is missing. Reading the files reports it.
                return ""
            }
            let time = (found[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            let (inode, size) = (found[.systemFileNumber] ?? 0, found[.size] ?? 0)
            return "\(inode) \(size) \(time)"
        }
    }

    private static func read(
        _ path: String,
        _ authorities: [Certificate]
    ) throws -> OCSPResponder {
        OCSPResponder(
            authorities: try zip(names, authorities).map { name, certificate in
                let files = files(of: name)
                let index = try text(path, files[0])
                guard let register = CertificateIndex(index) else {
                    throw unusable(path, files[0], "has a line that is not of OpenSSL's form")
                }
                return OCSPResponder.Authority(
                    certificate: certificate,
                    signer: try signer(path, files[1], files[2], of: certificate),
                    register: register
                )
            }
        )
    }

    private static func signer(
        _ path: String,
        _ certificateFile: String,
        _ keyFile: String,
        of authority: Certificate
    ) throws -> OCSPResponse.Signer {
        let certificateText = try text(path, certificateFile)
        let keyText = try text(path, keyFile)
        // The parsers' messages may quote the input, so they are not reported.
        guard let document = try? PEMDocument(pemString: certificateText),
            let certificate = try? Certificate(pemDocument: document)
        else { throw unusable(path, certificateFile, "is not a certificate in PEM") }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: keyText) else {
            throw unusable(path, keyFile, "is not a P-256 private key in PEM")
        }
        guard
            P256.Signing.PublicKey(certificate.publicKey)?.rawRepresentation
                == key.publicKey.rawRepresentation
        else { throw unusable(path, keyFile, "is not the key of \(certificateFile)") }
        guard certificate.issuer == authority.subject,
            authority.publicKey.isValidSignature(certificate.signature, for: certificate)
        else {
            throw unusable(path, certificateFile, "was not issued by an authority of the chain")
        }
        return OCSPResponse.Signer(
            key: key,
            certificate: document.derBytes,
            keyHash: Array(
                Insecure.SHA1.hash(data: Array(certificate.publicKey.subjectPublicKeyInfoBytes))
            )
        )
    }

    private static func text(_ path: String, _ name: String) throws -> String {
        do {
            return try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
        } catch {
            throw unusable(path, name, "cannot be read; 'counterfoil keys create' makes it")
        }
    }

    private static func unusable(_ path: String, _ name: String, _ why: String) -> ReceiptsError {
        ReceiptsError(code: .statusFilesUnusable, detail: "\(path)/\(name) \(why)")
    }
}
