import EventTypes
import StoreAPI

/// Reads the names of a subscription group that an administrator sent, and collects all their
/// problems.
///
/// Pure: it depends neither on the stored groups nor on the time.
struct GroupDraftReader {
    private(set) var problems: [ProductProblem] = []
    private let groupID: String

    /// Reads one group.
    ///
    /// - Returns: The group, or all its problems if there are any.
    static func read(
        _ json: JSONValue,
        id: String
    ) -> (
        group: (id: SubscriptionGroupID, draft: SubscriptionGroupDraft)?, problems: [ProductProblem]
    ) {
        var reader = GroupDraftReader(groupID: id)
        let groupID = SubscriptionGroupID(rawValue: id)
        if groupID == nil { reader.note("", "is not \(SubscriptionGroupID.form)") }
        let localizations = reader.localizations(json)
        guard reader.problems.isEmpty, let groupID else { return (nil, reader.problems) }
        return ((groupID, SubscriptionGroupDraft(localizations: localizations)), [])
    }

    private init(groupID: String) { self.groupID = groupID }

    private mutating func note(_ field: String, _ problem: String) {
        problems.append(GroupRules.problem(of: groupID, field, problem))
    }

    private mutating func localizations(_ json: JSONValue) -> [LanguageTag: SubscriptionGroupText] {
        guard let members = object(json, "", of: "localizations"),
            let value = members["localizations"]
        else { return [:] }
        guard case .object(let languages) = value else {
            note("localizations", "is \(value.kind), not an object")
            return [:]
        }
        if languages.isEmpty { note("localizations", "must hold at least one language") }
        if languages.count > ProductRules.languageCountMax {
            note("localizations", "must hold at most \(ProductRules.languageCountMax) languages")
        }
        var texts: [LanguageTag: SubscriptionGroupText] = [:]
        var seen: Set<String> = []
        for (name, value) in languages.sorted(by: { $0.key < $1.key }) {
            let field = "localizations." + ProductProblem.shortened(name)
            let tag = LanguageTag(rawValue: name)
            if tag == nil { note(field, "is not \(LanguageTag.form)") }
            if !seen.insert(name.lowercased()).inserted {
                note(field, "is given twice; languages differ by more than the case of letters")
            }
            guard let text = text(value, field), let tag else { continue }
            texts[tag] = text
        }
        return texts
    }

    private mutating func text(_ json: JSONValue, _ field: String) -> SubscriptionGroupText? {
        guard let value = object(json, field, of: "name")?["name"] else { return nil }
        guard case .string(let name) = value else {
            note(field + ".name", "is \(value.kind), not a text")
            return nil
        }
        if let problem = ProductRules.problem(ofTitle: name) { note(field + ".name", problem) }
        return SubscriptionGroupText(name: name)
    }

    /// Returns the members of an object that has one member, and adds a problem for each other and
    /// if that one is missing.
    private mutating func object(
        _ json: JSONValue,
        _ field: String,
        of member: String
    ) -> [String: JSONValue]? {
        guard case .object(let members) = json else {
            note(field, "is \(json.kind), not an object")
            return nil
        }
        let prefix = field.isEmpty ? "" : field + "."
        for name in members.keys.sorted() where name != member {
            note(prefix + ProductProblem.shortened(name), "is not a field of the catalog")
        }
        if members[member] == nil { note(prefix + member, "is missing") }
        return members
    }
}
