import EventTypes
import NIOHTTP1
import StoreAPI
import StoreHarness

/// Hosted content for one product of the sample catalog, so that there is something to download.
enum SampleContent {
    /// The product.
    static let product = ProductID(unchecked: "com.example.levels.winter")
    /// The version of the content.
    static let version = "1.0"

    /// Twelve levels of a game as text, six megabytes, the same on every run.
    static var bytes: [UInt8] {
        var number: UInt32 = 2026
        var field: [UInt8] = []
        for _ in 0..<64 {
            for _ in 0..<63 {
                number = number &* 1_664_525 &+ 1_013_904_223
                field.append(number >> 30 == 0 ? UInt8(ascii: "*") : UInt8(ascii: " "))
            }
            field.append(UInt8(ascii: "\n"))
        }
        var bytes: [UInt8] = []
        for level in 1...12 {
            bytes += Array("Level \(level)\n".utf8)
            for _ in 0..<128 { bytes += field }
        }
        return bytes
    }

    /// Uploads the content.
    ///
    /// A store that has it already keeps it.
    ///
    /// - Parameter store: The store.
    /// - Throws: ``HarnessError`` if the store refuses it.
    static func upload(to store: StoreHarness) async throws {
        let response = try await store.administrator.raw(
            .PUT,
            store.urls.fulfillment + Routes.adminContent(product) + "?version=\(version)",
            body: bytes
        )
        guard response.status == 200 || response.status == 201 else {
            throw HarnessError("The content of \(product) was refused: \(response.status).")
        }
    }
}
