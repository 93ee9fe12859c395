import Foundation
import Testing

/// The bodies of the HTTP interface as files.
enum HTTPFixture {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures/http")

    private static func canonical(_ json: Data) throws -> String {
        let document = try JSONSerialization.jsonObject(with: json)
        let data = try JSONSerialization.data(
            withJSONObject: document,
            options: [.sortedKeys, .withoutEscapingSlashes]
        )
        return String(decoding: data, as: UTF8.self)
    }

    /// Decodes a body, and expects that it is written as it was read.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - name: The name of its file.
    /// - Returns: The body.
    /// - Throws: An error if the file is not such a body.
    static func roundTrip<Body: Codable & Equatable>(
        _ type: Body.Type,
        _ name: String
    ) throws -> Body {
        let json = try Data(contentsOf: Self.folder.appending(path: name + ".json"))
        let body = try JSONDecoder().decode(type, from: json)
        #expect(try canonical(JSONEncoder().encode(body)) == canonical(json))
        // A field that this version does not know is no reason to refuse an answer.
        var extended = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
        extended["addedLater"] = ["anything"]
        let decoded = try JSONDecoder().decode(
            type,
            from: JSONSerialization.data(withJSONObject: extended)
        )
        #expect(decoded == body)
        return body
    }
}
