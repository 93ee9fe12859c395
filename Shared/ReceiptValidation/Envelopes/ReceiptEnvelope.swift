/// The PKCS#7 SignedData (RFC 5652) around an app receipt, before verification.
///
/// It must have exactly the form that the store writes: SHA-256 and ECDSA, embedded content, three
/// certificates, one signer, and no signed attributes. Forbidding signed attributes is also a
/// security rule. If both forms were accepted, signed attributes could be presented as content.
struct ReceiptEnvelope {
    private typealias Tag = DERReader.Tag

    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    private static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
    private static let ecdsaWithSHA256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]

    /// The signed content: the set of the receipt's attributes.
    let content: ArraySlice<UInt8>
    /// The concatenated bytes of the three certificates.
    let certificates: ArraySlice<UInt8>
    /// The signature, in DER.
    let signature: ArraySlice<UInt8>
    /// The encoded issuer and serial number of the signer's certificate.
    private let signer: (issuer: ArraySlice<UInt8>, serial: ArraySlice<UInt8>)

    /// Reads the parts.
    ///
    /// - Throws: ``ReceiptRefusal`` if the bytes differ from this form in any way.
    init(_ bytes: [UInt8]) throws(ReceiptRefusal) {
        guard let contentInfo = DERReader.only(Tag.sequence, in: bytes[...]) else {
            throw Self.malformed("it is not one DER sequence")
        }
        var info = DERReader(contentInfo)
        guard info.next(Tag.objectIdentifier)?.elementsEqual(Self.signedData) == true,
            let explicit = info.next(Tag.contextZero), info.isAtEnd,
            let signedData = DERReader.only(Tag.sequence, in: explicit)
        else { throw Self.malformed("it is no SignedData") }

        var fields = DERReader(signedData)
        guard fields.nextInteger() == 1, let digests = fields.next(Tag.set) else {
            throw Self.malformed("it is no SignedData of version 1")
        }
        guard Self.isAlgorithm(Self.sha256, in: digests) else {
            throw ReceiptRefusal(.algorithm, "the digest has to be SHA-256, and nothing else")
        }
        guard let encapsulated = fields.next(Tag.sequence) else {
            throw Self.malformed("it holds no content")
        }
        content = try Self.content(of: encapsulated)
        guard let certificates = fields.next(Tag.contextZero) else {
            throw ReceiptRefusal(.chainLength, "it holds no certificates")
        }
        self.certificates = certificates
        guard let signers = fields.next(Tag.set), fields.isAtEnd,
            let signer = DERReader.only(Tag.sequence, in: signers)
        else { throw Self.malformed("it does not have one signer") }
        (self.signer, signature) = try Self.signer(signer)
    }

    /// Returns the leaf, intermediate and root among the certificates.
    ///
    /// - Throws: ``ReceiptRefusal`` if there are not three certificates, or if the signer's or a
    ///   root is missing.
    func chain(roots: [[UInt8]]) throws(ReceiptRefusal) -> [[UInt8]] {
        var reader = DERReader(certificates)
        var found: [ArraySlice<UInt8>] = []
        while !reader.isAtEnd {
            guard let element = reader.next(), element.tag == Tag.sequence else {
                throw ReceiptRefusal(.certificate, "a certificate is not DER")
            }
            found.append(element.whole)
            guard found.count <= CertificateChain.length else { break }
        }
        guard found.count == CertificateChain.length else {
            throw ReceiptRefusal(
                .chainLength,
                "there are not \(CertificateChain.length) certificates"
            )
        }
        guard let leaf = found.firstIndex(where: isSigner) else {
            throw ReceiptRefusal(.issuer, "the signer's certificate is not there")
        }
        let above = found.indices.filter { $0 != leaf }
        guard let root = above.last(where: { index in roots.contains { $0[...] == found[index] } }),
            let intermediate = above.first(where: { $0 != root })
        else {
            throw ReceiptRefusal(.root, "none of the certificates is a pinned root")
        }
        return [leaf, intermediate, root].map { Array(found[$0]) }
    }

    /// Checks that the named signer is the leaf of the verified chain.
    ///
    /// The chain cache uses only the certificates as its key, and the signer's name is outside of
    /// them.
    func requireSigner(_ chain: VerifiedChain) throws(ReceiptRefusal) {
        guard isSigner(chain.leaf[...]) else {
            throw ReceiptRefusal(.issuer, "the signer is not the leaf of the chain")
        }
    }

    /// Whether a certificate has the signer's issuer and serial number.
    private func isSigner(_ certificate: ArraySlice<UInt8>) -> Bool {
        guard let fields = DERReader.only(Tag.sequence, in: certificate) else { return false }
        var reader = DERReader(fields)
        guard let toBeSigned = reader.next(Tag.sequence) else { return false }
        reader = DERReader(toBeSigned)
        // Read the version, serial number, algorithm and issuer.
        guard reader.next(Tag.contextZero) != nil, let serial = reader.next(Tag.integer),
            reader.next(Tag.sequence) != nil, let issuer = reader.next(Tag.sequence)
        else { return false }
        return serial == signer.serial && issuer == signer.issuer
    }

    private static func content(
        of encapsulated: ArraySlice<UInt8>
    ) throws(ReceiptRefusal) -> ArraySlice<UInt8> {
        var fields = DERReader(encapsulated)
        guard fields.next(Tag.objectIdentifier)?.elementsEqual(data) == true,
            let explicit = fields.next(Tag.contextZero), fields.isAtEnd,
            let content = DERReader.only(Tag.octetString, in: explicit)
        else { throw malformed("it holds no content") }
        return content
    }

    private static func signer(
        _ bytes: ArraySlice<UInt8>
    ) throws(ReceiptRefusal) -> (
        (issuer: ArraySlice<UInt8>, serial: ArraySlice<UInt8>), ArraySlice<UInt8>
    ) {
        var fields = DERReader(bytes)
        guard fields.nextInteger() == 1, let name = fields.next(Tag.sequence) else {
            throw malformed("its signer is not named by issuer and serial number")
        }
        var names = DERReader(name)
        guard let issuer = names.next(Tag.sequence), let serial = names.next(Tag.integer),
            names.isAtEnd
        else { throw malformed("its signer is not named by issuer and serial number") }
        guard let digest = fields.next(), isAlgorithm(sha256, in: digest.whole) else {
            throw ReceiptRefusal(.algorithm, "the digest has to be SHA-256, and nothing else")
        }
        guard fields.nextTag != Tag.contextZero else {
            throw malformed("it has signed attributes; the store signs the content itself")
        }
        guard let algorithm = fields.next(), isAlgorithm(ecdsaWithSHA256, in: algorithm.whole)
        else {
            throw ReceiptRefusal(.algorithm, "the signature has to be ECDSA with SHA-256")
        }
        guard let signature = fields.next(Tag.octetString), fields.isAtEnd else {
            throw malformed("its signer has more than a signature")
        }
        return ((issuer, serial), signature)
    }

    /// Whether the bytes are a single AlgorithmIdentifier, without parameters or with NULL.
    private static func isAlgorithm(_ identifier: [UInt8], in bytes: ArraySlice<UInt8>) -> Bool {
        guard let fields = DERReader.only(Tag.sequence, in: bytes) else { return false }
        var reader = DERReader(fields)
        guard reader.next(Tag.objectIdentifier)?.elementsEqual(identifier) == true else {
            return false
        }
        if reader.isAtEnd { return true }
        return reader.next(Tag.null)?.isEmpty == true && reader.isAtEnd
    }

    private static func malformed(_ detail: String) -> ReceiptRefusal {
        ReceiptRefusal(.form, detail)
    }
}
