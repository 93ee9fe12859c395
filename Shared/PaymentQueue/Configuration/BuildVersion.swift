/// The format that StoreKit requires of an app's build version, `CFBundleVersion`.
enum BuildVersion {
    /// Whether a version consists of one to three integers separated by periods, such as `7` or
    /// `2.1.0`.
    static func isWellFormed(_ version: String) -> Bool {
        let parts = version.utf8.split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        )
        return (1...3).contains(parts.count)
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { (0x30...0x39).contains($0) }
            }
    }
}
