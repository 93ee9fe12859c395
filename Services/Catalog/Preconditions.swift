/// The conditional headers of HTTP (RFC 9110, section 13).
///
/// Pure: no I/O, no clock, no id.
enum Preconditions {
    /// The entity tag of a product's version.
    static func tag(ofVersion version: Int) -> String { "\"\(version)\"" }

    /// Reads the precondition of a change from `If-Match` and `If-None-Match`.
    ///
    /// - Returns: `nil` if a header is malformed; a malformed condition must not count as one that
    ///   holds.
    static func ofChange(ifMatch: String?, ifNoneMatch: String?) -> ProductRules.Precondition? {
        switch (ifMatch, ifNoneMatch) {
        case (nil, nil): return ProductRules.Precondition.none
        case (nil, "*"?): return .isNew
        case ("*"?, nil): return .exists
        case (let tags?, nil):
            guard let tags = entityTags(tags), !tags.isEmpty else { return nil }
            // No product has a tag that is not a version number.
            return .isAt(versions: Set(tags.compactMap { Int($0) }))
        default: return nil
        }
    }

    /// Whether `If-None-Match` names the tag, so that the client already has the answer.
    static func isFresh(ifNoneMatch: String?, tag: String) -> Bool {
        guard let ifNoneMatch else { return false }
        if ifNoneMatch == "*" { return true }
        return entityTags(ifNoneMatch, allowingWeak: true)?.contains { "\"\($0)\"" == tag } ?? false
    }

    /// The tags of a list, without their quotes; `nil` if the list is malformed.
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
