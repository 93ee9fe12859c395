import EventTypes
import Foundation
import NIOCore

@testable import Fulfillment

/// Runs a test with a storage of contents.
func withContents(
    _ form: ContentForm,
    _ body: @Sendable @escaping (FulfillmentDatabase, StorageUnderTest) async throws -> Void
) async throws {
    try await withFulfillment { store in
        try await StorageUnderTest.with(form) { try await body(store, $0) }
    }
}

/// Returns bytes in pieces of three.
func pieces(of bytes: [UInt8]) -> AsyncStream<ByteBuffer> {
    AsyncStream { continuation in
        for start in stride(from: 0, to: bytes.count, by: 3) {
            continuation.yield(ByteBuffer(bytes: bytes[start...].prefix(3)))
        }
        continuation.finish()
    }
}

extension HostedContentHandler {
    /// Uploads bytes.
    func upload(
        _ bytes: [UInt8],
        version: String = "1.0",
        of product: String = "level.1",
        digest: ContentDigest? = nil
    ) async throws -> ContentUploadOutcome {
        try await upload(
            ContentUpload(
                productID: ProductID(unchecked: product),
                version: ContentVersion(unchecked: version),
                length: Int64(bytes.count),
                digest: digest
            ),
            from: pieces(of: bytes)
        )
    }
}

extension ContentUpload {
    /// An upload of `level.1`.
    static func sample(length: Int64) -> ContentUpload {
        ContentUpload(
            productID: ProductID(unchecked: "level.1"),
            version: ContentVersion(unchecked: "1.0"),
            length: length,
            digest: nil
        )
    }
}

extension ContentUploadOutcome {
    var isNew: Bool {
        if case .recorded(.new) = self { true } else { false }
    }
}
