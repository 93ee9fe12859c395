import Crypto
import Foundation
import OperatorCore
import SwiftASN1
import X509

/// Replaces the leaf certificate that receipts are signed with.
///
/// The old leaf stays registered as good, so everything it signed stays valid; its key is gone. The
/// authorities stay, and so does the root that verifiers have pinned. An intermediate certificate
/// that names no status URL, or another one, is issued again for the same key.
struct ChainRotation {
    let directory: KeyDirectory
    let time: Date
    /// The new URL for the status of certificates; `nil` to keep the current one.
    let ocspURL: String?

    /// The result of a rotation.
    struct Result: Equatable {
        /// The serial number of the old leaf.
        var retired: String
        /// The serial number of the new leaf, which signs once receipts has restarted.
        var current: String
        /// Whether the intermediate certificate was issued again.
        var reissuedIntermediate: Bool
        /// The end of the new leaf, if it has to end earlier because the intermediate does.
        var shortenedTo: Date?
    }

    /// Rotates the leaf.
    ///
    /// - Throws: ``OperatorError`` if the intermediate has ended or its key is missing, or if the
    ///   root's is needed and missing. Then nothing has been changed.
    func rotate() throws(OperatorError) -> Result {
        let chain = try directory.chain()
        guard chain.count == 3 else {
            throw OperatorError(
                .failed,
                "There is no certificate chain yet: run 'counterfoil keys create'."
            )
        }
        let address = if let ocspURL { ocspURL } else { try address(in: chain) }
        let intermediate = try intermediate(in: chain, statusToldAt: address)
        guard time < intermediate.certificate.notValidAfter else {
            throw OperatorError(
                .failed,
                "The intermediate certificate has expired, so nothing it issues is valid."
            )
        }
        let key = P256.Signing.PrivateKey()
        let responderKey = P256.Signing.PrivateKey()
        let (leaf, responder) = try certifying {
            (
                try CertificateIssue.leaf(
                    key: key.publicKey,
                    from: intermediate,
                    statusToldAt: address,
                    years: Self.years(of: chain[0]),
                    at: time
                ),
                try CertificateIssue.responder(
                    key: responderKey.publicKey,
                    of: .intermediate,
                    from: intermediate,
                    at: time
                )
            )
        }
        let isReissued = intermediate.certificate != chain[1]
        try register([leaf, responder], of: .intermediate)
        if isReissued { try register([intermediate.certificate], of: .root) }
        try retire(chain)

        try replace(directory.responderKey(of: .intermediate), responderKey.pemRepresentation)
        try directory.replace(
            directory.responder(of: .intermediate),
            Data(try pem([responder]).utf8),
            isPrivate: false
        )
        // A service that starts between these two writes refuses the pair, and has to be restarted.
        try replace(directory.signingKey, key.pemRepresentation)
        try directory.replace(
            directory.signingChain,
            Data(try pem([leaf, intermediate.certificate, chain[2]]).utf8),
            isPrivate: false
        )
        return Result(
            retired: CertificateIndexFile.serial(of: chain[0]),
            current: CertificateIndexFile.serial(of: leaf),
            reissuedIntermediate: isReissued,
            shortenedTo: leaf.notValidAfter == intermediate.certificate.notValidAfter
                ? leaf.notValidAfter : nil
        )
    }

    /// For how many years the old leaf was issued.
    ///
    /// The new one is issued for as many: a sandbox whose clock is set far ahead still needs them.
    private static func years(of leaf: Certificate) -> Int {
        let seconds = leaf.notValidAfter.timeIntervalSince(leaf.notValidBefore)
        return min(max(1, Int(seconds / (365 * 86_400))), 9)
    }

    private func address(in chain: [Certificate]) throws(OperatorError) -> String {
        guard let address = CertificateIssue.statusAddress(of: chain[1]) else {
            throw OperatorError(
                .failed,
                "The certificates do not say where their status can be checked: give --ocsp-url."
            )
        }
        return address
    }

    private func intermediate(
        in chain: [Certificate],
        statusToldAt address: String
    ) throws(OperatorError) -> CertificateIssue.Authority {
        guard let intermediate = try directory.authority(.intermediate, chain[1]) else {
            throw OperatorError(
                .failed,
                "A new leaf needs \(directory.intermediateKey.path), which does not exist."
            )
        }
        if CertificateIssue.statusAddress(of: chain[1]) == address { return intermediate }
        guard let root = try directory.authority(.root, chain[2]) else {
            throw OperatorError(
                .failed,
                """
                The intermediate certificate names another status URL and has to be issued again \
                with \(directory.rootKey.path), which does not exist.
                """
            )
        }
        let certificate = try certifying {
            try CertificateIssue.intermediate(
                key: intermediate.key,
                from: root,
                statusToldAt: address,
                at: time
            )
        }
        return CertificateIssue.Authority(certificate: certificate, key: intermediate.key)
    }

    private func register(
        _ certificates: [Certificate],
        of name: AuthorityName
    ) throws(OperatorError) {
        var register = try directory.readRegister(of: name)
        for certificate in certificates { register.add(certificate) }
        try directory.write(register, of: name)
    }

    /// Keeps the old certificates, but not the old key.
    private func retire(_ chain: [Certificate]) throws(OperatorError) {
        let file = directory.retiredChain(serial: CertificateIndexFile.serial(of: chain[0]))
        // The file exists already if an earlier rotation was interrupted.
        guard try directory.read(file) == nil else { return }
        try directory.create(file, Data(try pem(chain).utf8), isPrivate: false)
    }

    private func replace(_ file: URL, _ privateKey: String) throws(OperatorError) {
        try directory.replace(file, Data((privateKey + "\n").utf8), isPrivate: true)
    }

    private func pem(_ certificates: [Certificate]) throws(OperatorError) -> String {
        try certifying {
            try certificates.map { try $0.serializeAsPEM().pemString + "\n" }.joined()
        }
    }

    private func certifying<Value>(_ body: () throws -> Value) throws(OperatorError) -> Value {
        do {
            return try body()
        } catch {
            throw OperatorError(.failed, "The receipts' certificates cannot be made: \(error)")
        }
    }
}
