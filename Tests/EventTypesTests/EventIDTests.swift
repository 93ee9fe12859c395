import ClockAndIDs
import EventTypes
import Foundation
import Testing

@Suite struct EventIDTests {
    /// Random bits that are known.
    private struct FixedBits: RandomNumberGenerator {
        var bits: UInt64
        mutating func next() -> UInt64 { bits }
    }

    @Test func isAUUIDOfVersion7ThatBeginsWithItsTime() {
        // The example of RFC 9562, appendix A.6.
        var bits = FixedBits(bits: 0x18C4_DC0C_0C07_398F)
        let id = EventID(time: StoreTime(millisecondsSinceEpoch: 0x017F_22E2_79B0), using: &bits)
        #expect(id.description == "017f22e2-79b0-798f-98c4-dc0c0c07398f")
    }

    @Test(arguments: [UInt64.min, UInt64.max])
    func versionAndVariantStandWhateverTheRandomBits(random: UInt64) {
        var bits = FixedBits(bits: random)
        let id = EventID(time: StoreTime(millisecondsSinceEpoch: 1_795_237_175_000), using: &bits)
        #expect(id.bytes[6] >> 4 == 7)
        #expect(id.bytes[8] >> 6 == 2)
    }

    @Test func readsBackFromItsText() throws {
        let id = EventID(time: .wallClock())
        #expect(EventID(id.description) == id)
        #expect(EventID(id.description.uppercased()) == id)
        let json = try JSONEncoder().encode([id])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(id)\"]")
        #expect(try JSONDecoder().decode([EventID].self, from: json) == [id])
    }

    @Test(arguments: [
        "", "017f22e2", "017f22e279b0798f98c4dc0c0c07398f",
        "017f22e2-79b0-798f-98c4-dc0c0c07398", "017f22e2-79b0-798f-98c4-dc0c0c07398f0",
        "017f22e2-79b0-798f-98c4-dc0c0c07398g", "017f22e2_79b0_798f_98c4_dc0c0c07398f",
        "{17f22e2-79b0-798f-98c4-dc0c0c07398}", "017f22e2-79b0-798f-98c4-dc0c0c0739é",
    ])
    func whatIsNoUUIDIsRefused(text: String) {
        #expect(EventID(text) == nil)
    }

    @Test func laterIDsSortBehindEarlierOnes() {
        let times: [Int64] = [
            0, 1, 255, 256, 1_795_237_175_000, 1_795_237_175_001, 253_402_300_799_999,
        ]
        let texts = times.map { EventID(time: StoreTime(millisecondsSinceEpoch: $0)).description }
        #expect(texts == texts.sorted())
    }

    @Test func noTwoAreTheSame() {
        let time = StoreTime.wallClock()
        #expect(Set((0..<10_000).map { _ in EventID(time: time) }).count == 10_000)
    }
}
