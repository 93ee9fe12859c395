/// The JSON schema of scenario files, for editors.
///
/// It is made of the forms that the reader checks files with, so the two agree.
public enum ScenarioSchema {
    /// The schema as JSON text with a line break at its end.
    public static let text: String = {
        var members: [(String, JSONText)] = [
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("A Counterfoil scenario")),
        ]
        members += Self.members(of: ScenarioForms.document)
        let step = JSONText.object([("oneOf", .array(ScenarioForms.steps.map(schema(of:))))])
        members.append(("$defs", .object([("step", step)])))
        return JSONText.object(members).lines(indent: "") + "\n"
    }()

    private static func schema(of form: ScenarioForm) -> JSONText { .object(members(of: form)) }

    private static func members(of form: ScenarioForm) -> [(String, JSONText)] {
        switch form {
        case .text: [("type", .string("string"))]
        case .name: pattern("^[A-Za-z0-9_-]{1,64}$")
        case .money: pattern("^-?[0-9]+([.][0-9]+)? [A-Z]{3}$")
        case .span: pattern("^([0-9]+(w|d|h|m|s|ms))+$")
        case .period: pattern("^(P[1-9][0-9]*[DWMY]|[1-9][0-9]* (day|week|month|year)s?)$")
        case .clock: pattern("^(frozen|real|([0-9]+(w|d|h|m|s|ms))+=([0-9]+(w|d|h|m|s|ms))+)$")
        case .storefront: pattern("^[A-Z]{3}$")
        case .flag: [("type", .string("boolean"))]
        case .whole(let range):
            [
                ("type", .string("integer")), ("minimum", .number(range.lowerBound)),
                ("maximum", .number(range.upperBound)),
            ]
        case .choice(let words): [("enum", .array(words.map(JSONText.string)))]
        case .list(let form): [("type", .string("array")), ("items", schema(of: form))]
        case .named(let form):
            [
                ("type", .string("object")),
                ("propertyNames", .object(pattern("^[A-Za-z0-9_-]{1,64}$"))),
                ("additionalProperties", schema(of: form)),
            ]
        case .fields(let fields): object(fields)
        case .oneOf(let alternatives): [("oneOf", .array(alternatives.map(schema(of:))))]
        case .steps:
            [
                ("type", .string("array")),
                ("items", .object([("$ref", .string("#/$defs/step"))])),
            ]
        }
    }

    private static func schema(of alternative: ScenarioForm.Alternative) -> JSONText {
        .object(object([alternative.verb] + alternative.others))
    }

    private static func object(_ fields: [ScenarioForm.Field]) -> [(String, JSONText)] {
        let properties = fields.map { field in
            (
                field.name,
                JSONText.object([("description", .string(field.help))] + members(of: field.form))
            )
        }
        let required = fields.filter(\.isRequired).map { JSONText.string($0.name) }
        return [("type", .string("object")), ("properties", .object(properties))]
            + (required.isEmpty ? [] : [("required", .array(required))])
            + [("additionalProperties", .bool(false))]
    }

    private static func pattern(_ text: String) -> [(String, JSONText)] {
        [("type", .string("string")), ("pattern", .string(text))]
    }
}

/// JSON whose members are written in a given order.
private indirect enum JSONText {
    case string(String)
    case number(Int)
    case bool(Bool)
    case array([JSONText])
    case object([(String, JSONText)])

    /// The text, with a line for each member of an object.
    func lines(indent: String) -> String {
        let inner = indent + "  "
        switch self {
        case .string(let text): return Self.quoted(text)
        case .number(let number): return "\(number)"
        case .bool(let flag): return "\(flag)"
        case .array(let elements):
            let isShort = elements.allSatisfy(\.isScalar)
            let texts = elements.map { $0.lines(indent: inner) }
            return isShort
                ? "[" + texts.joined(separator: ", ") + "]"
                : "[\n" + texts.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            let texts = members.map { "\(inner)\"\($0)\": \($1.lines(indent: inner))" }
            return members.isEmpty ? "{}" : "{\n" + texts.joined(separator: ",\n") + "\n\(indent)}"
        }
    }

    private var isScalar: Bool {
        switch self {
        case .string, .number, .bool: true
        case .array, .object: false
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
