import EventTypes
import Logging
import ServiceKit
import X509

extension OCSPDirectory {
    /// Reads the responder's files, and reports problems as a wrong setting.
    ///
    /// - Throws: `ServiceKitError` that names `OCSP_DIRECTORY`.
    convenience init(
        setting path: String,
        chain: SigningChain,
        at now: MachineTime,
        _ reader: inout SettingsReader,
        _ logger: Logger
    ) throws {
        do {
            try self.init(path: path, chain: chain, at: now, logger: logger)
        } catch let error as ReceiptsError {
            reader.refuse("OCSP_DIRECTORY", "cannot be used: \(error.detail)")
            try reader.check()
            throw error
        }
    }

    /// Whether neither leaf nor intermediate is revoked.
    ///
    /// Verifiers that check online refuse everything that a revoked certificate has signed.
    func believes(_ chain: SigningChain, at now: MachineTime) -> Bool {
        let responder = responder(at: now)
        for (certificate, authority) in [(chain.certificates[0], 1), (chain.certificates[1], 0)] {
            let serial = Array(certificate.serialNumber.bytes)
            if case .revoked = responder.status(of: serial, issuedBy: authority) { return false }
        }
        return true
    }
}
