import Crypto
import Foundation
import Testing
import X509

@testable import ReceiptValidation

@Suite(.timeLimit(.minutes(10))) struct AppReceiptValidationTests {
    private func refusal(
        of receipt: [UInt8],
        by validator: ReceiptValidator,
        deviceID: [UInt8]? = nil
    ) -> ReceiptRefusal.Rule? {
        do throws(ReceiptRefusal) {
            _ = try validator.appReceipt(receipt, deviceID: deviceID)
            return nil
        } catch { return error.rule }
    }

    @Test func whatTheStoreSignedIsRead() throws {
        let signer = try TestSigner()
        var test = TestReceipt()
        test.attributes.append((21, DER.date("2026-11-22T02:00:00Z")))
        test.attributes.append((999, [1, 2, 3]))
        test.purchases[0] += [
            (1708, DER.date("2026-12-20T02:00:00Z")), (1711, DER.integer(77)),
            (1712, DER.date("")), (1719, DER.integer(1)), (1707, DER.integer(3)),
        ]
        test.purchases[1].append((1712, DER.date("2026-11-21T01:00:00Z")))
        let receipt = try signer.validator().appReceipt(
            try test.signed(by: signer),
            deviceID: TestReceipt.deviceID
        )
        #expect(receipt.environment == .sandbox)
        #expect(!receipt.isVolumePurchase)
        #expect(receipt.bundleID == TestAuthority.bundleID)
        #expect(receipt.applicationVersion == "1.2")
        #expect(receipt.originalApplicationVersion == "1.0")
        #expect(receipt.createdAt == TestAuthority.now)
        #expect(!receipt.isExpired(at: TestAuthority.now))
        #expect(receipt.isExpired(at: TestAuthority.now + 86_400))
        #expect(receipt.purchases.map(\.productID) == ["coins.0", "coins.1"])
        #expect(receipt.purchases.map(\.quantity) == [1, 2])
        #expect(receipt.purchases[0].productType == .autoRenewableSubscription)
        #expect(receipt.purchases[1].productType == .unknown(nil))
        #expect(receipt.purchases[0].webOrderLineItemID == 77)
        #expect(receipt.purchases[0].isInIntroOfferPeriod == true)
        #expect(receipt.purchases[0].cancelledAt == nil)
        #expect(receipt.purchases[0].expiresAt == TestAuthority.now + 29 * 86_400)
        #expect(receipt.purchases[1].cancelledAt == TestAuthority.now - 3600)
    }

    @Test func aTypeHasTheNumberThatItIsWrittenAs() {
        let types: [(String, AppReceipt.ProductType)] = [
            ("Non-Consumable", .nonConsumable), ("Consumable", .consumable),
            ("Non-Renewing Subscription", .nonRenewingSubscription),
            ("Auto-Renewable Subscription", .autoRenewableSubscription),
        ]
        for (word, type) in types {
            #expect(
                AppReceipt.ProductType(number: AppReceipt.ProductType.number(ofSigned: word))
                    == type
            )
        }
        #expect(AppReceipt.ProductType.number(ofSigned: "Rental") == nil)
        for number in [-1, 4, Int64.max] {
            #expect(AppReceipt.ProductType(number: number) == .unknown(number))
        }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func purchasesStandInTheOrderOfTimeWhateverTheirOrderInTheReceipt(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let signer = try TestSigner()
        var test = TestReceipt(purchases: 12)
        test.purchases.shuffle(using: &random)
        let receipt = try signer.validator().appReceipt(try test.signed(by: signer))
        #expect(receipt.purchases.map(\.quantity) == Array(1...12))
    }

    @Test func aChainIsHeldToTheSameRules() throws {
        let changes: [(ReceiptRefusal.Rule, (inout TestAuthority) -> Void)] = [
            (.marker, { $0.leaf.marker = nil }),
            (.marker, { $0.intermediate.isMarkerCritical = true }),
            (.keyIdentifier, { $0.leaf.hasAuthorityKeyIdentifier = false }),
            (.authority, { $0.intermediate.constraints = nil }),
            (.authority, { $0.leaf.constraints = .isCertificateAuthority(maxPathLength: nil) }),
            (.issuer, { $0.leaf.signer = .init(P256.Signing.PrivateKey()) }),
            (.validity, { $0.leaf.until = TestAuthority.now - 1 }),
        ]
        for (rule, change) in changes {
            let signer = try TestSigner(change)
            let receipt = try TestReceipt().signed(by: signer)
            #expect(refusal(of: receipt, by: try signer.validator()) == rule)
        }
    }

    @Test func aReceiptOfAnotherStoreAppEnvironmentOrDeviceIsRefused() throws {
        let signer = try TestSigner()
        let receipt = try TestReceipt().signed(by: signer)
        #expect(refusal(of: receipt, by: try TestSigner().validator()) == .root)
        #expect(refusal(of: receipt, by: try signer.validator(bundleID: "com.b")) == .bundleID)
        let production = try signer.validator(environment: .production)
        #expect(refusal(of: receipt, by: production) == .environment)
        let validator = try signer.validator()
        #expect(refusal(of: receipt, by: validator, deviceID: Array("other".utf8)) == .device)
        #expect(refusal(of: receipt, by: validator, deviceID: []) == .device)
        for type in ["Xcode", "LocalTesting", "Sandbox", ""] {
            var test = TestReceipt()
            test.attributes[0].value = DER.text(type)
            #expect(refusal(of: try test.signed(by: signer), by: validator) == .environment)
        }
    }

    @Test func theCertificatesAreThreeAndTheSignersAmongThem() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        let (leaf, intermediate, root) = (
            signer.certificates[0], signer.certificates[1], signer.certificates[2]
        )
        let content = TestReceipt().content
        for (further, rule) in [
            ([], ReceiptRefusal.Rule.chainLength), ([intermediate], .chainLength),
            ([root], .chainLength), ([intermediate, root, root], .chainLength),
            ([intermediate, intermediate], .root), ([root, root], .marker),
            ([leaf, root], .marker),
        ] {
            let receipt = try TestReceipt.signed(content, by: signer, certificates: further)
            #expect(refusal(of: receipt, by: validator) == rule)
        }
        let receipt = try TestReceipt.signed(
            content,
            by: signer,
            certificates: [root, intermediate]
        )
        #expect(refusal(of: receipt, by: validator) == nil, "A set has no order.")
    }

    @Test func signedAttributesAreRefused() throws {
        let signer = try TestSigner()
        let receipt = try TestReceipt.signed(
            TestReceipt().content,
            by: signer,
            at: TestAuthority.now
        )
        #expect(refusal(of: receipt, by: try signer.validator()) == .form)
    }

    @Test func noByteOfAReceiptCanBeChanged() throws {
        let signer = try TestSigner()
        let receipt = try TestReceipt().signed(by: signer)
        // One that knows the chain, and one that has to verify it each time.
        let knowing = try signer.validator()
        _ = try knowing.appReceipt(receipt)
        var accepted: [String] = []
        for index in receipt.indices {
            for bits: UInt8 in [0x01, 0x80] {
                var changed = receipt
                changed[index] ^= bits
                let fresh = try signer.validator()
                if refusal(of: changed, by: knowing) == nil
                    || refusal(of: changed, by: fresh) == nil
                {
                    let around = receipt[max(0, index - 8)..<min(receipt.count, index + 8)]
                    accepted.append("\(bits) in byte \(index) of \(receipt.count): \(around)")
                }
            }
        }
        #expect(accepted == [])
    }

    /// swift-certificates passes over the number of unused bits, and DER allows one where the last
    /// bit is zero.
    @Test func aCertificateThatSaysABitOfItsSignatureIsUnusedIsRefused() throws {
        for _ in 0..<100 {
            var certificates = try TestSigner().der()
            let der = certificates[1]
            // The signature stands last: tag, length, unused bits.
            let start = try #require(
                der.indices.last { index in
                    index + 2 < der.count && der[index] == 0x03
                        && index + 2 + Int(der[index + 1]) == der.count && der[index + 2] == 0
                }
            )
            // Half of all signatures end with a bit that is zero.
            guard der[der.count - 1] & 1 == 0 else { continue }
            _ = try CertificateChain.verify(certificates, roots: [certificates[2]])
            certificates[1][start + 2] = 1
            #expect(throws: ReceiptRefusal.self) {
                _ = try CertificateChain.verify(certificates, roots: [certificates[2]])
            }
            return
        }
        Issue.record("No signature ended with a zero bit.")
    }

    @Test func aReceiptCutShortOrGoneOnIsRefused() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        let receipt = try TestReceipt().signed(by: signer)
        for length in receipt.indices {
            #expect(refusal(of: Array(receipt[..<length]), by: validator) != nil)
        }
        #expect(refusal(of: receipt + [0], by: validator) == .form)
        #expect(refusal(of: receipt + receipt, by: validator) == .form)
    }

    @Test func anAttributeThatStandsTwiceOrIsMissingIsRefused() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        for index in TestReceipt().attributes.indices {
            var twice = TestReceipt()
            twice.attributes.append(twice.attributes[index])
            #expect(refusal(of: try twice.signed(by: signer), by: validator) == .payload)
            var without = TestReceipt()
            without.attributes.remove(at: index)
            #expect(refusal(of: try without.signed(by: signer), by: validator) == .payload)
        }
        for index in TestReceipt().purchases[0].indices {
            var twice = TestReceipt()
            twice.purchases[0].append(twice.purchases[0][index])
            #expect(refusal(of: try twice.signed(by: signer), by: validator) == .payload)
            var without = TestReceipt()
            without.purchases[0].remove(at: index)
            #expect(refusal(of: try without.signed(by: signer), by: validator) == .payload)
        }
    }

    @Test func aValueOfAnotherKindIsRefused() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        for (type, value) in [
            (2, DER.integer(7)), (2, Array("com.example.app".utf8)), (2, []),
            (2, DER.element(0x0C, [0xFF, 0xFE])), (12, DER.text("2026-11-21T02:00:00Z")),
            (12, DER.date("2026-13-21T02:00:00Z")), (12, DER.date("yesterday")),
            (2, DER.text("com.example.app") + [0]),
        ] {
            var test = TestReceipt()
            let index = try #require(test.attributes.firstIndex { $0.type == type })
            test.attributes[index].value = value
            #expect(refusal(of: try test.signed(by: signer), by: validator) == .payload)
        }
        for value in [
            DER.text("1"), DER.element(2, []), DER.element(2, [0xFF]), DER.element(2, [0, 1]),
            DER.element(2, [UInt8](repeating: 0x7F, count: 9)),
        ] {
            var test = TestReceipt()
            test.purchases[0][0].value = value
            #expect(refusal(of: try test.signed(by: signer), by: validator) == .payload)
        }
    }

    @Test func aKnownChainOfAnotherSignerIsNotTakenForThisOnes() throws {
        // The same certificates, but another of them named as the signer.
        let signer = try TestSigner()
        let validator = try signer.validator()
        let receipt = try TestReceipt().signed(by: signer)
        _ = try validator.appReceipt(receipt)
        let intermediate = try signer.der()[1]
        let leaf = try signer.der()[0]
        let names = try [leaf, intermediate].map { try Self.issuerAndSerialNumber(of: $0) }
        let place = try #require(receipt.lastRange(of: names[0]))
        var changed = receipt
        changed.replaceSubrange(place, with: names[1])
        #expect(refusal(of: changed, by: validator) != nil)
    }

    private static func issuerAndSerialNumber(of certificate: [UInt8]) throws -> [UInt8] {
        var reader = DERReader(certificate[...])
        for _ in 0..<2 {
            let fields = reader.next(0x30)
            reader = DERReader(try #require(fields))
        }
        // Version, serial number, algorithm, issuer.
        let elements = [reader.next(), reader.next(), reader.next(), reader.next()]
        return Array(try #require(elements[3]).whole + (try #require(elements[1]).whole))
    }
}

extension [UInt8] {
    /// The last place at which another array stands in this one.
    func lastRange(of other: [UInt8]) -> Range<Int>? {
        guard count >= other.count else { return nil }
        for start in (0...(count - other.count)).reversed()
        where self[start..<(start + other.count)].elementsEqual(other) {
            return start..<(start + other.count)
        }
        return nil
    }
}
