import Foundation

/// An answer before it is sent.
struct StandInAnswer: Hashable, Sendable {
    var status: Int
    var body: String
    var shouldRetry: Bool?
    /// Whether the answer is that of an earlier request under the same key.
    var isReplayed = false

    init(status: Int = 200, _ body: StandInJSON) {
        self.status = status
        self.body = Self.text(body)
    }

    init(_ error: StandInError) {
        self.init(status: error.status, error.body)
        shouldRetry = error.shouldRetry
    }

    static func text(_ json: StandInJSON) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A tree of texts and numbers can always be encoded.
        return (try? encoder.encode(json)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
