import EventTypes

/// Converts a signed payload to its stored form and back.
///
/// More than half of a payload is the same in all of them: the names of its members, and texts such
/// as `PURCHASED`. In the stored form each of these is one byte (`TextPacking`).
///
/// Pure.
enum PackedPayload {
    private static let packing = TextPacking([
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
    ])

    /// Returns the stored form of a payload.
    static func packed(_ payload: [UInt8]) -> [UInt8] { packing.packed(payload) }

    /// Returns the payload as it was signed.
    ///
    /// - Throws: `UnknownTextCode`.
    static func unpacked(_ packed: [UInt8]) throws(UnknownTextCode) -> [UInt8] {
        try packing.unpacked(packed)
    }
}
