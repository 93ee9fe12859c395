import Crypto
import EventTypes
import Foundation
import SwiftASN1
import Testing
import X509

@testable import ReceiptValidation

/// Signed data that Apple's verifier was measured to accept and to refuse, and refusals beyond it.
@Suite(.timeLimit(.minutes(10))) struct JWSVerificationTests {
    private func refusal(
        of jws: String,
        by validator: ReceiptValidator
    ) -> ReceiptRefusal.Rule? {
        do throws(ReceiptRefusal) {
            _ = try validator.verify(jws, as: JWSTransaction.self)
            return nil
        } catch { return error.rule }
    }

    @Test func whatTheStoreSignedIsRead() throws {
        let signer = try TestSigner()
        let transaction = try signer.validator().verify(
            try signer.jws(),
            as: JWSTransaction.self
        )
        #expect(transaction.transactionId == "2000000000001")
        #expect(transaction.productId == "coins.100")
        #expect(transaction.price == 990)
        #expect(transaction.purchaseDate == TestAuthority.now.addingTimeInterval(-5))
        #expect(transaction.signedDate == TestAuthority.now)
    }

    /// One thing changed in a chain, and whether it is believed still.
    private struct Variation: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rule: ReceiptRefusal.Rule?
        var change: @Sendable (inout TestAuthority) throws -> Void

        init(
            _ name: String,
            _ rule: ReceiptRefusal.Rule?,
            _ change: @escaping @Sendable (inout TestAuthority) throws -> Void
        ) {
            testDescription = name
            self.rule = rule
            self.change = change
        }
    }

    private static let variations = [
        Variation("all on P-256", nil) { $0.rootKey = .init(P256.Signing.PrivateKey()) },
        Variation("intermediate on P-384", nil) {
            $0.intermediateKey = .init(P384.Signing.PrivateKey())
        },
        Variation("leaf without key usage", nil) { $0.leaf.usage = nil },
        Variation("leaf without subject key identifier", nil) {
            $0.leaf.hasSubjectKeyIdentifier = false
        },
        Variation("leaf with constraints that say it is none", nil) {
            $0.leaf.constraints = .notCertificateAuthority
        },
        Variation("no leaf marker", .marker) { $0.leaf.marker = nil },
        Variation("no intermediate marker", .marker) { $0.intermediate.marker = nil },
        Variation("markers swapped", .marker) {
            $0.leaf.marker = CertificateChain.intermediateMarker
            $0.intermediate.marker = CertificateChain.leafMarker
        },
        Variation("leaf marker critical", .marker) { $0.leaf.isMarkerCritical = true },
        Variation("intermediate marker critical", .marker) {
            $0.intermediate.isMarkerCritical = true
        },
        Variation("leaf without authority key identifier", .keyIdentifier) {
            $0.leaf.hasAuthorityKeyIdentifier = false
        },
        Variation("intermediate without authority key identifier", .keyIdentifier) {
            $0.intermediate.hasAuthorityKeyIdentifier = false
        },
        Variation("leaf that names another key", .keyIdentifier) {
            $0.leaf.namesAnotherKey = true
        },
        Variation("intermediate without subject key identifier", .keyIdentifier) {
            $0.intermediate.hasSubjectKeyIdentifier = false
        },
        Variation("root without subject key identifier", .keyIdentifier) {
            $0.root.hasSubjectKeyIdentifier = false
        },
        Variation("intermediate without key usage", .authority) { $0.intermediate.usage = nil },
        Variation("intermediate that may not sign certificates", .authority) {
            $0.intermediate.usage = KeyUsage(digitalSignature: true)
        },
        Variation("intermediate without constraints", .authority) {
            $0.intermediate.constraints = nil
        },
        Variation("intermediate that is no authority", .authority) {
            $0.intermediate.constraints = .notCertificateAuthority
        },
        Variation("root for chains without intermediates", .authority) {
            $0.root.constraints = .isCertificateAuthority(maxPathLength: 0)
        },
        Variation("leaf that is an authority", .authority) {
            $0.leaf.constraints = .isCertificateAuthority(maxPathLength: nil)
        },
        Variation("leaf that may not sign data", .authority) {
            $0.leaf.usage = KeyUsage(keyCertSign: true)
        },
        Variation("leaf with a critical extension", .criticalExtension) {
            $0.leaf.further = [.init(oid: [1, 2, 3, 4], critical: true, value: [5, 0])]
        },
        Variation("leaf on P-384", .key) { $0.otherLeafKey = .init(P384.Signing.PrivateKey()) },
        Variation("leaf of another intermediate", .issuer) {
            $0.leaf.signer = .init(P256.Signing.PrivateKey())
        },
        Variation("intermediate of another root", .issuer) {
            $0.intermediate.signer = .init(P384.Signing.PrivateKey())
        },
        Variation("leaf that names another issuer", .issuer) { $0.leaf.issuer = "Nobody" },
        Variation("leaf expired", .validity) { $0.leaf.until = TestAuthority.now - 1 },
        Variation("leaf not valid yet", .validity) { $0.leaf.from = TestAuthority.now + 1 },
        Variation("intermediate expired", .validity) {
            $0.intermediate.until = TestAuthority.now - 1
        },
        Variation("root expired", .validity) { $0.root.until = TestAuthority.now - 1 },
    ]

    @Test(arguments: variations)
    private func aChainIsBelievedOnlyAsItHasToBe(_ variation: Variation) throws {
        let signer = try TestSigner(variation.change)
        let validator = try signer.validator()
        let jws = try signer.jws()
        #expect(refusal(of: jws, by: validator) == variation.rule)
        #expect(refusal(of: jws, by: validator) == variation.rule, "The same again.")
    }

    @Test func anExpiredLeafStillVouchesForWhatItSignedBefore() throws {
        // Expired now; signed a second before, at, and a second after its last.
        let signer = try TestSigner { $0.leaf.until = TestAuthority.now - 3600 }
        let validator = try signer.validator()
        let last = Int64(TestAuthority.now.timeIntervalSince1970 - 3600) * 1000
        for (milliseconds, rule) in [
            (last - 1000, nil), (last, nil), (last + 999, nil),
            (last + 1000, ReceiptRefusal.Rule.validity),
        ] {
            let jws = try signer.jws(transactionJSON(["signedDate": "\(milliseconds)"]))
            #expect(refusal(of: jws, by: validator) == rule)
        }
    }

    @Test func onlyES256IsAnAlgorithm() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        for alg in ["none", "None", "HS256", "RS256", "ES384", "es256", ""] {
            #expect(refusal(of: try signer.jws(alg: alg), by: validator) == .algorithm)
        }
        // An HMAC with the leaf's public key as its secret, as libraries were once tricked.
        let parts = try signer.jws(alg: "HS256").split(separator: ".")
        let mac = HMAC<SHA256>.authenticationCode(
            for: Data("\(parts[0]).\(parts[1])".utf8),
            using: SymmetricKey(data: signer.key.publicKey.derRepresentation)
        )
        let forged = "\(parts[0]).\(parts[1]).\(StrictBase64.text(mac))"
        #expect(refusal(of: forged, by: validator) == .algorithm)
        let unsigned = try signer.jws(alg: "none").split(separator: ".")
        #expect(refusal(of: "\(unsigned[0]).\(unsigned[1]).", by: validator) == .form)
    }

    @Test func aHeaderThatAsksForMoreIsRefused() throws {
        let signer = try TestSigner()
        let x5c = try signer.der().map { "\"\(Data($0).base64EncodedString())\"" }
            .joined(separator: ",")
        let validator = try signer.validator()
        for (header, rule) in [
            ("{\"alg\":\"ES256\",\"x5c\":[\(x5c)],\"crit\":[\"b64\"],\"b64\":false}", .header),
            ("{\"alg\":\"ES256\"}", ReceiptRefusal.Rule.header),
            ("{\"alg\":\"ES256\",\"jwk\":{}}", .header),
            ("[]", .header), ("nonsense", .header),
            ("{\"alg\":\"ES256\",\"x5c\":[\"AAA\",\"AAA=\",\"AAAA\"]}", .certificate),
            ("{\"alg\":\"ES256\",\"x5c\":[\"AAAA\",\"AAAA\",\"AAAA\"]}", .root),
        ] {
            #expect(refusal(of: try signer.jws(header: header), by: validator) == rule)
        }
    }

    @Test func theChainHasThreeCertificatesInTheirOrder() throws {
        let signer = try TestSigner()
        let der = try signer.der()
        let (leaf, intermediate, root) = (der[0], der[1], der[2])
        let validator = try signer.validator()
        let cases: [([[UInt8]], ReceiptRefusal.Rule)] = [
            ([], .chainLength), ([leaf], .chainLength), ([leaf, root], .chainLength),
            ([leaf, intermediate, root, root], .chainLength),
            ([leaf, intermediate, intermediate, root], .chainLength),
            ([leaf, root, intermediate], .root), ([root, intermediate, leaf], .root),
            ([intermediate, leaf, root], .marker), ([leaf, leaf, root], .marker),
            ([intermediate, intermediate, root], .marker), ([root, root, root], .marker),
        ]
        for (x5c, rule) in cases {
            #expect(refusal(of: try signer.jws(x5c: x5c), by: validator) == rule)
        }
    }

    @Test func aLeafCannotIssueAnother() throws {
        let genuine = try TestSigner()
        // Signed by the genuine leaf's key, and the genuine leaf in the intermediate's place.
        let forger = try TestSigner {
            $0.intermediateKey = .init(genuine.key)
            $0.leaf.issuer = "Leaf"
        }
        let der = try genuine.der()
        let x5c = [try forger.der()[0], der[0], der[2]]
        let validator = try genuine.validator()
        #expect(refusal(of: try forger.jws(x5c: x5c), by: validator) == .marker)
    }

    @Test func aForeignRootIsNotBelieved() throws {
        let genuine = try TestSigner()
        let forger = try TestSigner()
        let validator = try genuine.validator()
        #expect(refusal(of: try forger.jws(), by: validator) == .root)
        var x5c = try forger.der()
        x5c[2] = try genuine.der()[2]
        #expect(refusal(of: try forger.jws(x5c: x5c), by: validator) == .keyIdentifier)
        #expect(refusal(of: try forger.jws(x5c: try genuine.der()), by: validator) == .signature)
        // And not either once the genuine chain is remembered.
        #expect(refusal(of: try genuine.jws(), by: validator) == nil)
        #expect(refusal(of: try forger.jws(x5c: try genuine.der()), by: validator) == .signature)
        #expect(refusal(of: try forger.jws(), by: validator) == .root)
    }

    @Test func dataOfAnotherAppOrEnvironmentIsRefused() throws {
        let signer = try TestSigner()
        let jws = try signer.jws()
        let other = try signer.validator(bundleID: "com.other.app")
        #expect(refusal(of: jws, by: other) == .bundleID)
        let production = try signer.validator(environment: .production)
        #expect(refusal(of: jws, by: production) == .environment)
        let sandbox = try signer.validator()
        for environment in ["Production", "Xcode", "LocalTesting", "sandbox", ""] {
            let jws = try signer.jws(transactionJSON(["environment": "\"\(environment)\""]))
            #expect(refusal(of: jws, by: sandbox) == .environment)
        }
    }

    @Test func whatNobodySignedIsRefusedWhateverItsEnvironment() throws {
        let signer = try TestSigner()
        for environment in ["Xcode", "LocalTesting"] {
            let payload = transactionJSON(["environment": "\"\(environment)\""])
            for jws in [
                try TestSigner().jws(payload),
                "\(StrictBase64.text("{\"alg\":\"none\"}".utf8)).\(StrictBase64.text(payload.utf8)).AAAA",
            ] {
                #expect(throws: ReceiptRefusal.self) {
                    try signer.validator().verify(jws, as: JWSTransaction.self)
                }
            }
        }
    }

    @Test func wordsAndFieldsThatAreNewerAreNoReasonToRefuse() throws {
        let signer = try TestSigner()
        let jws = try signer.jws(
            transactionJSON([
                "type": "\"Rental\"", "inAppOwnershipType": "\"LENT\"", "offerType": "9",
                "newField": "{\"a\":[1,2,{\"b\":null}]}", "price": nil, "storefrontId": nil,
            ])
        )
        let transaction = try signer.validator().verify(jws, as: JWSTransaction.self)
        #expect(transaction.type == "Rental")
        #expect(transaction.price == nil)
    }

    @Test(arguments: [
        "bundleId", "environment", "signedDate", "transactionId", "purchaseDate",
    ])
    func aPayloadWithoutWhatItHasToSayIsRefused(_ member: String) throws {
        let signer = try TestSigner()
        let jws = try signer.jws(transactionJSON([member: nil]))
        #expect(refusal(of: jws, by: try signer.validator()) == .payload)
    }

    @Test func theOtherPayloadsAreHeldAgainstTheSameTrust() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        let renewal = try validator.verify(
            try signer.jws(
                """
                {"originalTransactionId":"1","productId":"gold","autoRenewStatus":1,
                "signedDate":1795226400000,"environment":"Sandbox","renewalPrice":990}
                """
            ),
            as: JWSRenewalInfo.self
        )
        #expect(renewal.autoRenewStatus == 1)
        let download = try validator.verify(
            try signer.jws(
                """
                {"receiptType":"Sandbox","bundleId":"com.example.app",
                "receiptCreationDate":1795226400000,"appAppleId":7,"applicationVersion":"2"}
                """
            ),
            as: JWSAppTransaction.self
        )
        #expect(download.applicationVersion == "2")
        let notification = try validator.verify(
            try signer.jws(
                """
                {"notificationType":"REFUND","notificationUUID":"u","version":"2.0",
                "signedDate":1795226400000,"data":{"environment":"Sandbox",
                "bundleId":"com.example.app","signedTransactionInfo":"a.b.c"}}
                """
            ),
            as: JWSNotification.self
        )
        #expect(notification.data?.signedTransactionInfo == "a.b.c")
    }

    @Test func aNotificationOfAnotherAppOrAboutNothingIsRefused() throws {
        let signer = try TestSigner()
        let sandbox = try signer.validator()
        let production = try signer.validator(environment: .production, appAppleID: 7)
        func notification(_ about: String) throws -> String {
            try signer.jws(
                """
                {"notificationType":"TEST","notificationUUID":"u","signedDate":1795226400000\(about)}
                """
            )
        }
        func rule(_ about: String, _ validator: ReceiptValidator) throws -> ReceiptRefusal.Rule? {
            let jws = try notification(about)
            do throws(ReceiptRefusal) {
                _ = try validator.verify(jws, as: JWSNotification.self)
                return nil
            } catch { return error.rule }
        }
        let app = "\"bundleId\":\"com.example.app\""
        #expect(try rule("", sandbox) == .environment)
        for kind in ["data", "summary", "appData"] {
            let about = ",\"\(kind)\":{\"environment\":\"Sandbox\",\(app)}"
            #expect(try rule(about, sandbox) == nil)
            #expect(try rule(about, production) == .environment)
            let other = ",\"\(kind)\":{\"environment\":\"Sandbox\",\"bundleId\":\"com.other\"}"
            #expect(try rule(other, sandbox) == .bundleID)
            for (number, expected) in [(7, nil), (8, ReceiptRefusal.Rule.appAppleID)] {
                let about = """
                    ,"\(kind)":{"environment":"Production",\(app),"appAppleId":\(number)}
                    """
                #expect(try rule(about, production) == expected)
            }
        }
        let token = ",\"externalPurchaseToken\":{\"externalPurchaseId\":\"SANDBOX_1\",\(app)}"
        #expect(try rule(token, sandbox) == nil)
        #expect(try rule(token, production) == .environment)
    }
}
