/// The conditional headers of HTTP (RFC 9110, section 13).
///
/// Pure: no I/O, no clock, no id.
enum Preconditions {
    /// The entity tag of a product's version.
    static func tag(ofVersion version: Int) -> String { "\"\(version)\"" }

    /// What `If-Match` and `If-None-Match` ask of a change.
    ///
    /// - Returns: `nil` if a header is not understood; a condition that is not understood must not
    ///   be taken for one that holds.
    static func ofChange(ifMatch: String?, ifNoneMatch: String?) -> ProductRules.Precondition? {
        switch (ifMatch, ifNoneMatch) {
        case (nil, nil): return ProductRules.Precondition.none
        case (nil, "*"?): return .isNew
        case ("*"?, nil): return .exists
        case (let tags?, nil):
            guard let tags = entityTags(tags), !tags.isEmpty else { return nil }
            // A tag that is no version of ours is one that no product has.
            return .isAt(versions: Set(tags.compactMap { Int($0) }))
        default: return nil
        }
    }

    /// Whether `If-None-Match` names the tag, so that the client has the answer already.
    static func isFresh(ifNoneMatch: String?, tag: String) -> Bool {
        guard let ifNoneMatch else { return false }
        if ifNoneMatch == "*" { return true }
        return entityTags(ifNoneMatch, allowingWeak: true)?.contains { "\"\($0)\"" == tag } ?? false
    }

    /// The tags of a list, without their quotes; `nil` if it is none.
    private static func entityTags(_ list: String, allowingWeak: Bool = false) -> [Substring]? {
        var tags: [Substring] = []
        for entry in list.split(separator: ",") {
            var tag = entry.drop { $0 == " " }
            while tag.last == " " { tag = tag.dropLast() }
            if allowingWeak, tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            guard tag.count >= 2, tag.first == "\"", tag.last == "\"" else { return nil }
            tags.append(tag.dropFirst().dropLast())
        }
        return tags
    }
}
