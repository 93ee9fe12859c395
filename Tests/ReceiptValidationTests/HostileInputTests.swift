import Foundation
import Testing

@testable import ReceiptValidation

/// Bytes from anybody: bounded work, a reason, and never a crash (traps 54 to 57).
@Suite(.timeLimit(.minutes(10))) struct HostileInputTests {
    private func rule(
        _ body: () throws -> Void
    ) -> ReceiptRefusal.Rule? {
        do {
            try body()
            return nil
        } catch {
            return (error as? ReceiptRefusal)?.rule
        }
    }

    @Test func noCharacterOfAJWSCanBeChanged() throws {
        let signer = try TestSigner()
        let jws = Array(try signer.jws().utf8)
        let knowing = try signer.validator()
        _ = try knowing.verify(String(decoding: jws, as: UTF8.self), as: JWSTransaction.self)
        var accepted: [Int] = []
        for index in jws.indices {
            for (way, character) in [jws[index] ^ 0x01, 0x41, 0x2E, 0xFF].enumerated() {
                var changed = jws
                changed[index] = character
                if changed == jws { continue }
                let text = String(decoding: changed, as: UTF8.self)
                // One that knows the chain, and one that has to verify it.
                for validator in way == 0 ? [knowing, try signer.validator()] : [knowing] {
                    if rule({ _ = try validator.verify(text, as: JWSTransaction.self) }) == nil {
                        accepted.append(index)
                    }
                }
            }
        }
        #expect(accepted == [])
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b", "a.b.c.d", ".b.c", "a..c", "a.b.", "a.b.c",
        "\u{0}.\u{0}.\u{0}",
        "=.=.=", "é.é.é", "e30.e30.e30",
    ])
    func whatIsNoJWSIsRefused(_ text: String) throws {
        let validator = try TestSigner().validator()
        #expect(rule { _ = try validator.verify(text, as: JWSTransaction.self) } != nil)
    }

    @Test func aJWSIsRefusedForItsSizeBeforeItIsRead() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        let huge = String(repeating: "A", count: 64 << 20)
        let duration = ContinuousClock().measure {
            #expect(rule { _ = try validator.verify(huge, as: JWSTransaction.self) } == .size)
        }
        #expect(duration < .seconds(60))
        let padding = String(repeating: "x", count: ReceiptValidator.jwsLengthMax)
        let long = try signer.jws(transactionJSON(["padding": "\"\(padding)\""]))
        #expect(rule { _ = try validator.verify(long, as: JWSTransaction.self) } == .size)
    }

    @Test func aCertificateIsRefusedForItsSize() throws {
        let signer = try TestSigner()
        var x5c = try signer.der()
        x5c[0] = DER.element(0x30, [UInt8](repeating: 0, count: 100_000))
        let jws = try signer.jws(x5c: x5c)
        #expect(
            rule { _ = try signer.validator().verify(jws, as: JWSTransaction.self) } == .size
        )
    }

    @Test func deeplyNestedJSONIsRefused() throws {
        let signer = try TestSigner()
        let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
        let validator = try signer.validator()
        let payload = try signer.jws(transactionJSON(["deep": deep]))
        #expect(rule { _ = try validator.verify(payload, as: JWSTransaction.self) } == .payload)
        let header = try signer.jws(header: "{\"alg\":\"ES256\",\"x5c\":\(deep)}")
        #expect(rule { _ = try validator.verify(header, as: JWSTransaction.self) } == .header)
    }

    /// Documents that make careless readers work, in DER.
    private static func bombs() -> [[UInt8]] {
        // Thousands of levels, with lengths that are right, and that are none.
        var nested: [UInt8] = []
        for _ in 0..<5_000 { nested = DER.element(0x30, nested) }
        let indefinite = [UInt8](repeating: 0x30, count: 1) + [0x80]
        var bombs: [[UInt8]] = [nested]
        bombs.append(Array([[UInt8]](repeating: indefinite, count: 200_000).joined()))
        bombs.append([UInt8](repeating: 0x30, count: 400_000))
        // A length far beyond the end, in every number of bytes.
        for count in 1...126 {
            bombs.append(
                [0x30, 0x80 | UInt8(count)] + [UInt8](repeating: 0xFF, count: count) + [2, 1, 0]
            )
        }
        // A crowd of elements of nothing, in the places where a list may stand.
        let crowd = Array([[UInt8]](repeating: [0x30, 0], count: 200_000).joined())
        bombs.append(DER.element(0x31, crowd))
        bombs.append(DER.element(0x30, crowd))
        bombs.append([UInt8](repeating: 0x1F, count: 1000))
        bombs.append([0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF])
        bombs.append([0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8))
        return bombs
    }

    @Test func bombsGoOffNowhere() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        for bomb in Self.bombs() {
            var purchase = TestReceipt()
            purchase.attributes.append((17, bomb))
            var attribute = TestReceipt()
            attribute.attributes[1].value = bomb
            let genuine = try TestReceipt().signed(by: signer)
            // As the document, its content, a purchase, a value, and between its parts.
            let places = [
                bomb, try TestReceipt.signed(bomb, by: signer), try purchase.signed(by: signer),
                try attribute.signed(by: signer), Array(genuine[..<40]) + bomb,
            ]
            for document in places where document.count <= ReceiptValidator.appReceiptLengthMax {
                let duration = ContinuousClock().measure {
                    #expect(rule { _ = try validator.appReceipt(document) } != nil)
                }
                #expect(duration < .seconds(60), "\(bomb.count) bytes")
            }
        }
    }

    @Test func aReceiptIsRefusedForItsSize() throws {
        let signer = try TestSigner()
        let validator = try signer.validator()
        let huge = [UInt8](repeating: 0x30, count: ReceiptValidator.appReceiptLengthMax + 1)
        #expect(rule { _ = try validator.appReceipt(huge) } == .size)
        var crowd = TestReceipt(purchases: 1)
        crowd.purchases = Array(repeating: crowd.purchases[0], count: 10_001)
        #expect(rule { _ = try validator.appReceipt(try crowd.signed(by: signer)) } == .size)
    }
}

/// Goes on for as long as it is told to, and so has no limit of time.
@Suite struct MutationTests {
    /// Seeded mutations for `FUZZ_SECONDS` (20): `make fuzz SECONDS=600 SEED=7` goes on for longer.
    ///
    /// What was changed after it was signed is never believed. What was changed before is read or
    /// refused, but never crashes and never takes long.
    @Test func mutationsAreNeverBelieved() throws {
        let environment = ProcessInfo.processInfo.environment
        let seconds = environment["FUZZ_SECONDS"].flatMap(Int.init) ?? 20
        let seed = environment["FUZZ_SEED"].flatMap(UInt64.init) ?? 1
        let run = try MutationRun(seed: seed)
        let end = ContinuousClock.now + .seconds(seconds)
        // A machine that is slow, or stands still, gets as far as any other.
        while ContinuousClock.now < end || run.steps <= 100 {
            if let finding = try run.step() {
                Issue.record("seed \(seed), step \(run.steps): \(finding)")
                return
            }
        }
    }
}
