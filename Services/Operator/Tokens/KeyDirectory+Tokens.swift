import Foundation
import OperatorCore

extension KeyDirectory {
    /// The requested name, or the only existing one.
    static func only(
        _ asked: String?,
        in names: [String],
        of folder: URL,
        option: String
    ) throws(OperatorError) -> String {
        if let asked { return asked }
        guard let name = names.first else {
            throw OperatorError(
                .failed,
                "There is no private key in \(folder.path): "
                    + "create one with 'counterfoil keys create'."
            )
        }
        guard names.count == 1 else {
            throw OperatorError(
                .failed,
                "\(folder.path) holds \(names.joined(separator: ", ")): choose with \(option)."
            )
        }
        return name
    }

    /// Reads a private key from a file, to sign tokens with.
    func tokenSigner(_ file: URL, named name: String) throws(OperatorError) -> TokenSigner {
        guard let pem = try read(file) else {
            throw OperatorError(.failed, "There is no private key at \(file.path).")
        }
        do {
            return try TokenSigner(privateKeyPEM: String(decoding: pem, as: UTF8.self), keyID: name)
        } catch {
            throw OperatorError(.failed, "\(file.path) is not a P-256 private key in PEM.")
        }
    }
}
