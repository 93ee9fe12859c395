public import Foundation
import NIOSSL

/// Certificates of authorities, for a store whose own certificate comes from no public one.
///
/// They are trusted beside the system's, and only for requests to this store.
public struct TrustedRoots: Hashable, Sendable {
    let certificates: [NIOSSLCertificate]

    /// Reads certificates.
    ///
    /// - Parameter pem: One certificate or several, PEM.
    /// - Throws: ``SKError`` with ``SKError/Code/clientInvalid`` when there is none, or one of them
    ///   cannot be read.
    public init(pem: Data) throws {
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(Array(pem))
        } catch {
            throw SKError(.clientInvalid, detail: "this is no certificate in PEM: \(error)")
        }
        guard !certificates.isEmpty else {
            throw SKError(.clientInvalid, detail: "there is no certificate in this PEM")
        }
    }

    /// Reads the certificates of a file.
    ///
    /// - Parameter url: The file, PEM.
    /// - Throws: ``SKError`` as ``init(pem:)`` does, or an error of the file system.
    public init(contentsOf url: URL) throws { try self.init(pem: try Data(contentsOf: url)) }

    /// What requests are made with.
    var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.certificates(certificates)]
        return tls
    }
}
