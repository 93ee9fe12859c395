import Foundation

/// A JSON object of a document, with any members.
struct JSONObject {
    private var members: [String: Any]

    init(_ objects: [String: JSONObject] = [:]) { members = objects.mapValues(\.members) }

    private init(members: [String: Any]) { self.members = members }

    /// Parses a file.
    init(parsing bytes: [UInt8]) throws(ContractError) {
        do {
            guard
                let members = try JSONSerialization.jsonObject(with: Data(bytes))
                    as? [String: Any]
            else { throw ContractError("A file of the contracts holds no object.") }
            self.members = members
        } catch {
            throw ContractError("A file of the contracts is no JSON: \(error)")
        }
    }

    /// The member with a name, if it is an object.
    subscript(name: String) -> JSONObject? {
        get { (members[name] as? [String: Any]).map(JSONObject.init(members:)) }
        set { members[name] = newValue?.members }
    }

    /// The members that are objects.
    var objects: [String: JSONObject] {
        members.compactMapValues { ($0 as? [String: Any]).map(JSONObject.init(members:)) }
    }

    /// The member with a name, if it is a text.
    func text(_ name: String) -> String? { members[name] as? String }

    /// The texts of an array; empty if the member is not an array of texts.
    func texts(_ name: String) -> [String] { members[name] as? [String] ?? [] }

    /// Whether there is a member with a name.
    func has(_ name: String) -> Bool { members[name] != nil }

    /// The objects of an array; empty if the member is not an array of objects.
    func list(_ name: String) -> [JSONObject] {
        (members[name] as? [[String: Any]] ?? []).map(JSONObject.init(members:))
    }

    /// Removes an array of texts and returns it.
    mutating func removeTexts(_ name: String) -> [String] {
        defer { members[name] = nil }
        return texts(name)
    }

    /// Sets an array of texts.
    mutating func set(_ name: String, to texts: [String]) { members[name] = texts }

    /// Merges another object into this one, object by object.
    ///
    /// - Throws: ``ContractError`` if both have a member of one name that is not an object in both.
    mutating func merge(_ other: JSONObject) throws(ContractError) {
        for (name, value) in other.members {
            guard members[name] != nil else {
                members[name] = value
                continue
            }
            guard var mine = self[name], let its = other[name] else {
                throw ContractError("Two files of the contracts say what “\(name)” is.")
            }
            try mine.merge(its)
            self[name] = mine
        }
    }

    /// Visits this object and every object inside it, beginning with this one.
    func visit(_ see: (JSONObject) -> Void) {
        see(self)
        for value in members.values { Self.visit(value, see) }
    }

    /// Changes this object and every object inside it, beginning with the innermost.
    mutating func change(_ edit: (inout JSONObject) -> Void) {
        members = members.mapValues { Self.changed($0, edit) }
        edit(&self)
    }

    /// The targets of all references.
    var references: Set<String> {
        var references: Set<String> = []
        visit { if let reference = $0.text("$ref") { references.insert(reference) } }
        return references
    }

    /// The document as JSON.
    ///
    /// Equal documents give equal bytes.
    func json() throws -> [UInt8] {
        Array(
            try JSONSerialization.data(
                withJSONObject: members,
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
        )
    }

    private static func visit(_ value: Any, _ see: (JSONObject) -> Void) {
        if let members = value as? [String: Any] {
            JSONObject(members: members).visit(see)
        } else if let elements = value as? [Any] {
            for element in elements { visit(element, see) }
        }
    }

    private static func changed(_ value: Any, _ edit: (inout JSONObject) -> Void) -> Any {
        if let members = value as? [String: Any] {
            var object = JSONObject(members: members)
            object.change(edit)
            return object.members
        }
        if let elements = value as? [Any] { return elements.map { changed($0, edit) } }
        return value
    }
}
