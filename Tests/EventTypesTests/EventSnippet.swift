import EventTypes

/// The Swift code of `EventTypes.md`, compiled; `SnippetTests` in TidyTests compares the two.
private struct EventSnippet {
    let product: Product

    func encodeAndDecode() throws {
        let event = ProductChanged(product: product, changedBy: "anna")
        let data = try EventCoding.encode(event)  // equal events are equal bytes
        let again = try EventCoding.decode(ProductChanged.self, from: data)
        _ = again
    }
}
