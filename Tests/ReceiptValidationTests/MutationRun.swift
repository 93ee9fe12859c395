import Foundation

@testable import ReceiptValidation

/// A run of mutations over a JWS and an app receipt, the same for the same seed.
final class MutationRun {
    /// The number of mutations that were tried.
    private(set) var steps = 0

    private var random: SplitMix64
    private let signer: TestSigner
    private let validator: ReceiptValidator
    private let jws: [UInt8]
    private let receipt: [UInt8]
    private let content: [UInt8]
    private let payload: [UInt8]

    init(seed: UInt64) throws {
        random = SplitMix64(state: seed)
        signer = try TestSigner()
        validator = try signer.validator()
        payload = Array(transactionJSON().utf8)
        jws = Array(try signer.jws().utf8)
        content = TestReceipt(purchases: 3).content
        receipt = try TestReceipt.signed(content, by: signer)
        // Known from now on, so that half of the mutations find the chain remembered.
        _ = try validator.appReceipt(receipt)
    }

    /// Tries one mutation of each kind.
    ///
    /// - Returns: What must not be, if it was.
    func step() throws -> String? {
        steps += 1
        let validator = steps.isMultiple(of: 2) ? validator : try signer.validator()
        let start = ContinuousClock.now
        let changedReceipt = mutated(receipt)
        if changedReceipt != receipt, believes(changedReceipt, validator) {
            return "believed a receipt that was changed: \(hex(changedReceipt))"
        }
        let changedJWS = mutated(jws)
        // Compared as text: bytes that are no UTF-8 are replaced on the way.
        let text = String(decoding: changedJWS, as: UTF8.self)
        if Array(text.utf8) != jws, (try? validator.verify(text, as: JWSTransaction.self)) != nil {
            return "believed a JWS that was changed: \(text)"
        }
        // Signed after it was changed, so that what reads the content is reached.
        let resigned = try TestReceipt.signed(mutated(content), by: signer)
        _ = believes(resigned, validator)
        _ = AppReceipt.claimedEnvironment(of: changedReceipt)
        let payload = String(decoding: mutated(payload), as: UTF8.self)
        _ = try? validator.verify(try signer.jws(payload), as: JWSTransaction.self)
        let duration = start.duration(to: .now)
        return duration > .seconds(60) ? "took \(duration): \(hex(resigned))" : nil
    }

    private func believes(_ receipt: [UInt8], _ validator: ReceiptValidator) -> Bool {
        (try? validator.appReceipt(receipt)) != nil
    }

    /// The bytes, changed in one to four places.
    private func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...3, using: &random) {
            change(&bytes)
        }
        return bytes
    }

    private func change(_ bytes: inout [UInt8]) {
        guard let index = bytes.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<9, using: &random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        case 4: bytes.removeSubrange(index...)
        case 5:
            // Words that lengths, tags and texts are made of.
            let words: [UInt8] = [0, 0x7F, 0x80, 0x81, 0x84, 0xFF, 0x30, 0x31, 0xA0, 0x2E, 0x3D]
            bytes[index] = words.randomElement(using: &random) ?? 0
        case 6:
            let range = self.range(in: bytes, from: index)
            bytes.insert(contentsOf: Array(bytes[range]), at: index)
        case 7: bytes.removeSubrange(range(in: bytes, from: index))
        default:
            guard let other = bytes.indices.randomElement(using: &random) else { return }
            bytes.swapAt(index, other)
        }
    }

    private func range(in bytes: [UInt8], from index: Int) -> Range<Int> {
        let length = Int.random(in: 1...64, using: &random)
        return index..<min(bytes.count, index + length)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}

/// Numbers that are the same for the same seed (Steele, Lea and Flood, 2014).
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
