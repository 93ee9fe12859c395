import Crypto
import Foundation
import SwiftASN1
import X509

/// The requirements that Apple's verifier has for three certificates.
///
/// Spec section 2.4 lists the rules, as measured. Pure: certificates and a date in, sentences out.
struct SigningChainCheck {
    /// The problems found, as sentences that continue "The chain …".
    private(set) var problems: [String] = []
    private let certificates: [Certificate]

    /// The extension that marks the leaf of Apple's receipt signing.
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// The extension that marks the intermediate that may issue such leaves.
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

    private static let names = ["leaf", "intermediate", "root"]

    /// Creates a check of a leaf, an intermediate and a root.
    ///
    /// It ignores any other number of certificates.
    init(_ certificates: [Certificate]) { self.certificates = certificates }

    /// Collects every problem.
    mutating func run(at date: Date, privateKey: P256.Signing.PrivateKey?) {
        guard certificates.count == 3 else { return }
        checkKey(privateKey)
        checkSignatures()
        checkValidity(at: date)
        checkMarker(Self.leafMarker, of: 0)
        checkMarker(Self.intermediateMarker, of: 1)
        checkExtensions()
    }

    private mutating func checkKey(_ privateKey: P256.Signing.PrivateKey?) {
        guard let leafKey = P256.Signing.PublicKey(certificates[0].publicKey) else {
            problems.append("has a leaf whose key is not on the curve P-256, which ES256 needs")
            return
        }
        if let privateKey, privateKey.publicKey.rawRepresentation != leafKey.rawRepresentation {
            problems.append(
                "has a leaf of another key than SIGNING_KEY_FILE; put the leaf of that key first"
            )
        }
    }

    private mutating func checkSignatures() {
        for (index, issuer) in [(0, 1), (1, 2), (2, 2)] {
            let certificate = certificates[index]
            let isIssued =
                certificate.issuer == certificates[issuer].subject
                && certificates[issuer].publicKey.isValidSignature(
                    certificate.signature,
                    for: certificate
                )
            if !isIssued {
                problems.append(
                    "has a \(Self.names[index]) that was not issued by its \(Self.names[issuer]); "
                        + "the order has to be leaf, intermediate, root"
                )
            }
        }
    }

    private mutating func checkValidity(at date: Date) {
        for (certificate, name) in zip(certificates, Self.names) {
            if date < certificate.notValidBefore {
                problems.append(
                    "has a \(name) that is not valid before \(certificate.notValidBefore)"
                )
            }
            if date > certificate.notValidAfter {
                problems.append(
                    "has a \(name) that expired at \(certificate.notValidAfter); issue a new one"
                )
            }
        }
    }

    private mutating func checkMarker(_ marker: ASN1ObjectIdentifier, of index: Int) {
        guard let extensionFound = certificates[index].extensions[oid: marker] else {
            problems.append("has no extension \(marker) in its \(Self.names[index])")
            return
        }
        if extensionFound.critical {
            problems.append("marks the extension \(marker) of its \(Self.names[index]) critical")
        }
    }

    private mutating func checkExtensions() {
        // An unreadable extension counts as missing, because the verifier refuses both.
        for index in 0...1 where (try? certificates[index].extensions.authorityKeyIdentifier) == nil
        {
            problems.append("has no authority key identifier in its \(Self.names[index])")
        }
        for index in 1...2 {
            let extensions = certificates[index].extensions
            if (try? extensions.subjectKeyIdentifier) == nil {
                problems.append("has no subject key identifier in its \(Self.names[index])")
            }
            switch try? extensions.basicConstraints {
            case .isCertificateAuthority: break
            default:
                problems.append("has basic constraints without CA in its \(Self.names[index])")
            }
            if (try? extensions.keyUsage)?.keyCertSign != true {
                problems.append("has no key usage keyCertSign in its \(Self.names[index])")
            }
        }
        if case .isCertificateAuthority? = try? certificates[0].extensions.basicConstraints {
            problems.append("has a leaf that is a certificate authority")
        }
    }
}
