import Crypto
import EventTypes
import Foundation
import ReceiptValidation

/// Signs app receipts: PKCS#7 SignedData (RFC 5652) that contains the content and the three
/// certificates.
///
/// It uses SHA-256 and ECDSA, and has one signer and no signed attributes.
///
/// swift-certificates could write the same, but twenty times slower, because it copies the content
/// at every level. A test verifies the result with openssl.
struct AppReceiptSigner: Sendable {
    private static let sha256 = algorithm([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])
    private static let ecdsaWithSHA256 = algorithm([
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02,
    ])
    private static let data: DERBytes = .der(
        DERTag.objectIdentifier,
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    )
    private static let signedData: DERBytes = .der(
        DERTag.objectIdentifier,
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    )
    private static let versionOne: DERBytes = [DERTag.integer, 1, 1]

    /// The chain whose key signs.
    let chain: SigningChain
    private let machineNow: @Sendable () -> MachineTime
    /// The three certificates, encoded for SignedData.
    private let certificates: DERBytes
    /// The leaf's issuer and serial number, which identify the signer.
    private let signer: DERBytes

    /// Creates a signer.
    ///
    /// - Throws: ``ReceiptsError`` if the chain's certificates cannot be read back. That would be a
    ///   bug, because they were readable when the chain was made.
    init(
        chain: SigningChain,
        machineNow: @escaping @Sendable () -> MachineTime
    ) throws(ReceiptsError) {
        self.chain = chain
        self.machineNow = machineNow
        guard let certificates = Self.certificates(of: chain),
            let signer = Self.issuerAndSerialNumber(of: certificates[0])
        else {
            throw ReceiptsError(
                code: .storedReceiptMalformed,
                detail: "The header of the signing chain \(chain.id) does not hold three "
                    + "certificates."
            )
        }
        self.certificates = .derSet(DERTag.contextZero, of: certificates)
        self.signer = signer
    }

    /// Signs the content of a receipt.
    ///
    /// - Returns: The PKCS#7 in DER.
    /// - Throws: ``ReceiptsError`` if the certificates are not valid at present.
    func sign(_ content: DERBytes) throws -> DERBytes {
        let now = machineNow()
        guard chain.isValid(at: now) else {
            throw ReceiptsError(
                code: .chainNotValid,
                detail: "The signing chain is valid from \(chain.validFrom) to "
                    + "\(chain.validUntil), not at \(now)."
            )
        }
        let signature = try chain.privateKey.signature(for: content).derRepresentation
        let signerInfo: DERBytes = .der(
            DERTag.sequence,
            Self.versionOne,
            signer,
            Self.sha256,
            Self.ecdsaWithSHA256,
            .der(DERTag.octetString, Array(signature))
        )
        let encapsulated: DERBytes = .der(
            DERTag.sequence,
            Self.data,
            .der(DERTag.contextZero, .der(DERTag.octetString, content))
        )
        let body: DERBytes = .der(
            DERTag.sequence,
            Self.versionOne,
            .derSet(of: [Self.sha256]),
            encapsulated,
            certificates,
            .derSet(of: [signerInfo])
        )
        return .der(DERTag.sequence, Self.signedData, .der(DERTag.contextZero, body))
    }

    private static func algorithm(_ identifier: [UInt8]) -> DERBytes {
        .der(DERTag.sequence, .der(DERTag.objectIdentifier, identifier))
    }

    /// Returns the certificates of a chain, as in the header of its receipts.
    private static func certificates(of chain: SigningChain) -> [DERBytes]? {
        struct Header: Decodable { var x5c: [Data] }
        // The caller names the chain whose header cannot be read.
        guard let json = StrictBase64.decode(chain.header),
            let header = try? JSONDecoder().decode(Header.self, from: Data(json)),
            header.x5c.count == 3
        else { return nil }
        return header.x5c.map(Array.init)
    }

    /// Returns `SEQUENCE { issuer, serialNumber }` of a certificate, byte for byte.
    private static func issuerAndSerialNumber(of certificate: DERBytes) -> DERBytes? {
        guard let fields = DERReader.only(DERTag.sequence, in: certificate[...]) else { return nil }
        var reader = DERReader(fields)
        guard let toBeSigned = reader.next(DERTag.sequence) else { return nil }
        reader = DERReader(toBeSigned)
        // The fields are version, serial number, algorithm, issuer.
        guard reader.next(DERTag.contextZero) != nil, let serial = reader.next(),
            reader.next() != nil, let issuer = reader.next()
        else { return nil }
        return .der(DERTag.sequence, Array(issuer.whole), Array(serial.whole))
    }
}
