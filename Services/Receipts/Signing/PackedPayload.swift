/// Converts a signed payload to its stored form and back.
///
/// More than half of a payload is the same in all of them: the names of its members, and texts such
/// as `PURCHASED`. In the stored form each of these is one byte that is in no JSON. Everything else
/// stays as it is, so any JSON can be packed, and the result unpacks to the same bytes.
///
/// Pure.
enum PackedPayload {
    /// The texts, by the byte that stands for each: the first is 0x01.
    ///
    /// Stored receipts depend on this list. A text may be added at its end, up to 0x1F, and none may
    /// be changed or removed.
    private static let texts: [StaticString] = [
        "{\"appAccountToken\":\"",
        "\",\"appTransactionId\":\"",
        "{\"appTransactionId\":\"",
        "\",\"bundleId\":\"",
        "\",\"currency\":\"",
        "\",\"environment\":\"Sandbox\",\"inAppOwnershipType\":\"PURCHASED\",\"originalPurchaseDate\":",
        "\",\"environment\":\"Production\",\"inAppOwnershipType\":\"PURCHASED\",\"originalPurchaseDate\":",
        ",\"originalTransactionId\":\"",
        "\",\"price\":",
        ",\"productId\":\"",
        "\",\"purchaseDate\":",
        ",\"quantity\":",
        ",\"revocationDate\":",
        ",\"revocationPercentage\":",
        ",\"revocationReason\":",
        ",\"revocationType\":\"",
        "\",\"signedDate\":",
        ",\"signedDate\":",
        ",\"storefront\":\"",
        "\",\"storefrontId\":\"",
        "\",\"transactionId\":\"",
        "\",\"transactionReason\":\"PURCHASE\",\"type\":\"",
    ]

    /// Returns the stored form of a payload.
    static func packed(_ payload: [UInt8]) -> [UInt8] {
        var packed: [UInt8] = []
        packed.reserveCapacity(payload.count / 2)
        payload.withUnsafeBufferPointer { bytes in
            var position = 0
            while position < bytes.count {
                if let index = text(at: position, in: bytes) {
                    packed.append(UInt8(index + 1))
                    position += texts[index].utf8CodeUnitCount
                } else {
                    packed.append(bytes[position])
                    position += 1
                }
            }
        }
        return packed
    }

    /// Returns the payload as it was signed.
    static func unpacked(_ packed: [UInt8]) -> [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(packed.count * 4)
        for byte in packed {
            let index = Int(byte) - 1
            guard texts.indices.contains(index) else {
                payload.append(byte)
                continue
            }
            let text = texts[index]
            payload.append(
                contentsOf: UnsafeBufferPointer(
                    start: text.utf8Start,
                    count: text.utf8CodeUnitCount
                )
            )
        }
        return payload
    }

    /// Returns the index of the text at a position, if there is one.
    private static func text(
        at position: Int,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        // Every text begins with one of these.
        switch bytes[position] {
        case UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: "\""): break
        default: return nil
        }
        return texts.indices.first { index in
            let text = texts[index]
            let count = text.utf8CodeUnitCount
            guard position + count <= bytes.count else { return false }
            for offset in 0..<count where bytes[position + offset] != text.utf8Start[offset] {
                return false
            }
            return true
        }
    }
}
