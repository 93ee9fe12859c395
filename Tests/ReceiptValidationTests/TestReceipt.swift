import Crypto
import Foundation
@_spi(CMS) import X509

@testable import ReceiptValidation

/// An app receipt written by hand, so that a test can write a wrong one.
struct TestReceipt {
    /// Attributes of the receipt, without its purchases.
    var attributes: [(type: Int, value: [UInt8])]
    /// Attributes of each purchase.
    var purchases: [[(type: Int, value: [UInt8])]]

    static let deviceID: [UInt8] = Array("device".utf8)

    /// A receipt as it has to be.
    init(purchases count: Int = 2) {
        let bundleID = DER.text(TestAuthority.bundleID)
        attributes = [
            (0, DER.text("ProductionSandbox")), (2, bundleID), (3, DER.text("1.2")),
            (4, [1, 2, 3, 4]),
            (5, Array(Insecure.SHA1.hash(data: Self.deviceID + [1, 2, 3, 4] + bundleID))),
            (12, DER.date("2026-11-21T02:00:00Z")), (19, DER.text("1.0")),
        ]
        purchases = (0..<count).map { index in
            [
                (1701, DER.integer(index + 1)), (1702, DER.text("coins.\(index)")),
                (1703, DER.text("\(1_000_000 + index)")),
                (1704, DER.date("2026-11-20T02:00:00Z")),
                (1705, DER.text("\(1_000_000 + index)")),
                (1706, DER.date("2026-11-20T02:00:00Z")),
            ]
        }
    }

    /// The bytes that are signed.
    var content: [UInt8] {
        let all = attributes + purchases.map { (17, DER.attributes($0)) }
        return DER.attributes(all)
    }

    /// The PKCS#7.
    func signed(by signer: TestSigner) throws -> [UInt8] {
        try Self.signed(content, by: signer)
    }

    /// The PKCS#7 around any content, as swift-certificates writes it.
    static func signed(
        _ content: [UInt8],
        by signer: TestSigner,
        certificates: [Certificate]? = nil,
        at signingTime: Date? = nil
    ) throws -> [UInt8] {
        try CMS.sign(
            content,
            signatureAlgorithm: .ecdsaWithSHA256,
            additionalIntermediateCertificates: certificates ?? Array(signer.certificates[1...]),
            certificate: signer.certificates[0],
            privateKey: .init(signer.key),
            signingTime: signingTime,
            detached: false
        )
    }
}

/// Writes DER for tests, and knows nothing of what reads it.
enum DER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(digits.count)] + digits
    }

    static func integer(_ value: Int) -> [UInt8] {
        var digits: [UInt8] = []
        var rest = value
        repeat {
            digits.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        } while rest > 0
        if digits[0] >= 0x80 { digits.insert(0, at: 0) }
        return element(2, digits)
    }

    static func text(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

    static func date(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }

    static func attributes(_ attributes: [(type: Int, value: [UInt8])]) -> [UInt8] {
        element(
            0x31,
            attributes.flatMap { attribute in
                element(0x30, integer(attribute.type) + integer(1) + element(4, attribute.value))
            }
        )
    }
}
