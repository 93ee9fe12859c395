public import Foundation
import NIOSSL

/// Root certificates for a store whose own certificate was not issued by a public authority.
///
/// They are trusted in addition to the system's roots, and only for requests to this store.
public struct TrustedRoots: Hashable, Sendable {
    let certificates: [NIOSSLCertificate]

    /// Reads certificates.
    ///
    /// - Parameter pem: One or more certificates in PEM.
    /// - Throws: ``SKError`` with ``SKError/Code/clientInvalid`` if there is no certificate, or if
    ///   one of them cannot be read.
    public init(pem: Data) throws {
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(Array(pem))
        } catch {
            throw SKError(.clientInvalid, detail: "this is not a certificate in PEM: \(error)")
        }
        guard !certificates.isEmpty else {
            throw SKError(.clientInvalid, detail: "there is no certificate in this PEM")
        }
    }

    /// Reads certificates from a file.
    ///
    /// - Parameter url: The file in PEM.
    /// - Throws: ``SKError`` as ``init(pem:)`` does, or an error of the file system.
    public init(contentsOf url: URL) throws { try self.init(pem: try Data(contentsOf: url)) }

    /// The TLS configuration for requests to the store.
    var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.certificates(certificates)]
        return tls
    }
}
