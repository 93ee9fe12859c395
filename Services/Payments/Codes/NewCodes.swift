import EventTypes

/// Makes one-time codes that nobody can guess.
enum NewCodes {
    /// Letters and digits that are hard to confuse: no I and O, no 0 and 1.
    private static let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    /// 18 characters of 32 have 90 random bits.
    static let length = 18

    /// Different codes, in random order.
    static func make(_ count: Int) -> [String] {
        var generator = SystemRandomNumberGenerator()
        var codes: Set<String> = []
        while codes.count < count {
            codes.insert(
                String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "A" })
            )
        }
        return Array(codes)
    }
}
