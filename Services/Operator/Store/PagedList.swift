/// The beginning of a list that a service answers in pages.
struct PagedList<Element> {
    /// The first elements.
    let elements: [Element]
    /// Whether the list has more of them.
    let isCut: Bool

    /// Reads pages until the list ends, or there are as many elements as wanted.
    ///
    /// - Parameters:
    ///   - limit: The most elements.
    ///   - read: Reads the page at a place; `nil` is the first page.
    /// - Throws: What reading a page throws.
    init<Place>(
        upTo limit: Int,
        _ read: (Place?) async throws -> (elements: [Element], next: Place?)
    ) async throws {
        var listed: [Element] = []
        var next: Place?
        repeat {
            let page = try await read(next)
            listed += page.elements
            next = page.next
        } while next != nil && listed.count < limit
        elements = Array(listed.prefix(limit))
        isCut = next != nil || listed.count > limit
    }
}
