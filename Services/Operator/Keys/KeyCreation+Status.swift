import Crypto
import Foundation
import OperatorCore
import SwiftASN1
import X509

/// The files that the status of certificates is answered with (RFC 6960): for each authority a
/// certificate that answers in its name, its key, and the register of issued certificates.
extension KeyCreation {
    /// Creates missing responders, and registers every certificate that is not registered yet.
    ///
    /// An authority whose key is elsewhere, as it should be, gets no responder here.
    mutating func createStatusFiles() throws(OperatorError) {
        let chain = try directory.chain()
        guard chain.count == 3 else { return }
        for (name, certificate, issued) in [
            (AuthorityName.root, chain[2], chain[1]),
            (AuthorityName.intermediate, chain[1], chain[0]),
        ] {
            var register = try directory.readRegister(of: name)
            let wasMissing = try directory.read(directory.register(of: name)) == nil
            var hasChanged = register.add(issued)
            if try directory.read(directory.responder(of: name)) == nil,
                let authority = try directory.authority(name, certificate)
            {
                let responder = try createResponder(of: name, from: authority)
                hasChanged = register.add(responder) || hasChanged
            }
            if wasMissing {
                try create(directory.register(of: name), register.text, isPrivate: false)
            } else if hasChanged {
                try directory.write(register, of: name)
            }
        }
    }

    private mutating func createResponder(
        of name: AuthorityName,
        from authority: CertificateIssue.Authority
    ) throws(OperatorError) -> Certificate {
        let key = try key(directory.responderKey(of: name))
        let certificate = try certifying {
            try CertificateIssue.responder(key: key.publicKey, of: name, from: authority, at: time)
        }
        let text = try certifying { try certificate.serializeAsPEM().pemString + "\n" }
        try create(directory.responder(of: name), text, isPrivate: false)
        return certificate
    }
}

extension CertificateIssue {
    /// Issues the certificate that answers for an authority.
    ///
    /// For the root, whose key is rarely fetched, it is valid as long as the intermediate; for the
    /// intermediate, as long as a leaf.
    static func responder(
        key: P256.Signing.PublicKey,
        of name: AuthorityName,
        from authority: Authority,
        at time: Date
    ) throws -> Certificate {
        try responder(
            key: key,
            named: name == .root
                ? "Counterfoil Root Status" : "Counterfoil Receipt Authority Status",
            from: authority,
            years: name == .root ? 10 : 2,
            at: time
        )
    }
}

extension KeyDirectory {
    /// The certificates that receipts are signed with: leaf, intermediate and root.
    func chain() throws(OperatorError) -> [Certificate] {
        guard let text = try read(signingChain) else { return [] }
        do {
            return try PEMDocument.parseMultiple(pemString: String(decoding: text, as: UTF8.self))
                .map { try Certificate(pemDocument: $0) }
        } catch {
            throw OperatorError(.failed, "\(signingChain.path) is not a file of certificates.")
        }
    }

    /// An authority with its key; `nil` if the key is elsewhere.
    func authority(
        _ name: AuthorityName,
        _ certificate: Certificate
    ) throws(OperatorError) -> CertificateIssue.Authority? {
        let file = name == .root ? rootKey : intermediateKey
        guard let text = try read(file) else { return nil }
        do {
            return CertificateIssue.Authority(
                certificate: certificate,
                key: try P256.Signing.PrivateKey(
                    pemRepresentation: String(decoding: text, as: UTF8.self)
                )
            )
        } catch {
            throw OperatorError(.failed, "\(file.path) is not a P-256 private key in PEM.")
        }
    }

    /// The register of an authority's certificates; empty if there is no file yet.
    func readRegister(of name: AuthorityName) throws(OperatorError) -> CertificateIndexFile {
        let file = register(of: name)
        let text = String(decoding: try read(file) ?? Data(), as: UTF8.self)
        guard let register = CertificateIndexFile(text) else {
            throw OperatorError(.failed, "\(file.path) has a line that is not in OpenSSL's format.")
        }
        return register
    }

    /// Writes the register of an authority's certificates.
    func write(
        _ register: CertificateIndexFile,
        of name: AuthorityName
    ) throws(OperatorError) {
        try replace(self.register(of: name), Data(register.text.utf8), isPrivate: false)
    }
}
