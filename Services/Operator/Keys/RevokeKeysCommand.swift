import ArgumentParser
import Foundation
import OperatorCore
import ReceiptValidation

/// `counterfoil keys revoke`.
struct RevokeKeysCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes a certificate, so that it is no longer trusted.",
        discussion: """
            Marks a certificate as revoked: the current leaf, or the one with the given serial \
            number. receipts reports this within a second, and verifiers that check online then \
            reject everything that the leaf has signed. A revocation cannot be undone. If \
            receipts must still be signed, rotate first.

            Examples:
              counterfoil keys rotate --directory KEYS        (prints the old serial)
              counterfoil keys revoke --directory KEYS --serial SERIAL \\
                --reason keyCompromise
            """
    )

    @Option(help: "The directory of keys.")
    var directory: String

    @Option(help: "The serial number, in hexadecimal (default: that of the current leaf).")
    var serial: String?

    @Option(
        help: """
            The reason: \(CertificateIndexLine.Reason.ofLeaf.map(\.rawValue).joined(separator: ", ")).
            """,
        transform: { text in
            let reason = CertificateIndexLine.Reason.ofLeaf.first { $0.rawValue == text }
            guard let reason else {
                throw ValidationError("'\(text)' is not a reason.")
            }
            return reason
        }
    )
    var reason: CertificateIndexLine.Reason = .unspecified

    func perform() async throws {
        let keys = KeyDirectory(path: directory)
        guard let leaf = try keys.chain().first else {
            throw OperatorError(
                .failed,
                "There is no certificate chain yet: run 'counterfoil keys create'."
            )
        }
        let current = CertificateIndexFile.serial(of: leaf)
        let wanted = (serial ?? current).replacing(":", with: "").uppercased()
        for name in AuthorityName.allCases {
            var register = try keys.readRegister(of: name)
            switch register.revoke(serial: wanted, at: Date(), for: reason) {
            case .unknown: continue
            case .wasRevoked:
                Console.say("\(wanted) was already revoked.")
                return
            case .revoked:
                try keys.write(register, of: name)
                Console.say("\(wanted) is revoked.")
                if wanted == current {
                    Console.say("Receipts are still signed with it: run 'counterfoil keys rotate'.")
                }
                return
            }
        }
        throw OperatorError(.failed, "No certificate of this store has the serial \(wanted).")
    }
}
