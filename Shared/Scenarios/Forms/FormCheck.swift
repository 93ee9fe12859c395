import EventTypes

/// Compares a value with a form and collects all differences.
struct FormCheck {
    private(set) var problems: [ScenarioProblem] = []

    /// Checks a value.
    mutating func check(_ value: LocatedValue, _ form: ScenarioForm) {
        switch form {
        case .text: expectText(value, "text") { _ in true }
        case .name: expectText(value, "a name of letters, digits, '-' and '_'", Self.isName)
        case .money:
            expectText(value, "an amount such as 0.99 USD") { Money(scenario: $0) != nil }
        case .span: expectText(value, "a span such as 31d or 1h30m") { ClockSpan($0) != nil }
        case .period:
            expectText(value, "a period such as 1 month or P1M") {
                SubscriptionPeriod(scenario: $0) != nil
            }
        case .clock:
            expectText(value, "'frozen', 'real' or a rate such as 1h=1d") {
                ScenarioClock($0) != nil
            }
        case .storefront:
            expectText(value, Storefront.form) { Storefront(rawValue: $0) != nil }
        case .flag: expectPlain(value, "true or false") { $0 == "true" || $0 == "false" }
        case .whole(let range):
            expectPlain(value, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
                Int($0).map(range.contains) ?? false
            }
        case .choice(let words): expectChoice(value, words)
        case .list(let form):
            guard case .list(let elements) = value.content else {
                return add(value, "this must be a list, and is \(value.kind)")
            }
            for element in elements { check(element, form) }
        case .named(let form):
            guard expectMembers(value) else { return }
            for member in value.members {
                if !Self.isName(member.name) {
                    add(member, "'\(member.name)' is no name of letters, digits, '-' and '_'")
                }
                check(member.value, form)
            }
        case .fields(let fields):
            guard expectMembers(value) else { return }
            check(value, fields, known: fields.map(\.name))
        case .oneOf(let alternatives): expectOne(value, of: alternatives)
        case .steps: check(value, .list(.oneOf(ScenarioForms.steps)))
        }
    }

    private mutating func expectOne(
        _ value: LocatedValue,
        of alternatives: [ScenarioForm.Alternative]
    ) {
        guard expectMembers(value) else { return }
        let verbs = alternatives.map(\.verb.name)
        let found = alternatives.filter { value[$0.verb.name] != nil }
        guard let alternative = found.first else {
            let name = value.members.first?.name ?? ""
            return add(
                value,
                "there is no step '\(name)'; \(Spelling.advice(for: name, among: verbs))"
            )
        }
        guard found.count == 1 else {
            let names = found.map { "'\($0.verb.name)'" }.joined(separator: " and ")
            return add(value, "\(names) are two steps; write each as a step of its own")
        }
        let fields = [alternative.verb] + alternative.others
        check(value, fields, known: fields.map(\.name))
    }

    private mutating func check(
        _ value: LocatedValue,
        _ fields: [ScenarioForm.Field],
        known: [String]
    ) {
        for member in value.members {
            if let field = fields.first(where: { $0.name == member.name }) {
                check(member.value, field.form)
            } else {
                let advice = Spelling.advice(for: member.name, among: known)
                add(member, "'\(member.name)' is not known here; \(advice)")
            }
        }
        for field in fields where field.isRequired && value[field.name] == nil {
            add(value, "'\(field.name)' is missing")
        }
    }

    private mutating func expectMembers(_ value: LocatedValue) -> Bool {
        if case .members = value.content { return true }
        add(value, "names and values must stand here, and there is \(value.kind)")
        return false
    }

    private mutating func expectText(
        _ value: LocatedValue,
        _ what: String,
        _ isRight: (String) -> Bool
    ) {
        if let text = value.text, isRight(text) { return }
        add(value, "this must be \(what), and is \(value.kind)")
    }

    /// Expects text without quotation marks, so that the number 1 and the text "1" differ as they do
    /// in JSON.
    private mutating func expectPlain(
        _ value: LocatedValue,
        _ what: String,
        _ isRight: (String) -> Bool
    ) {
        if case .text(let text, isQuoted: false) = value.content, isRight(text) { return }
        add(value, "this must be \(what), and is \(value.kind)")
    }

    private mutating func expectChoice(_ value: LocatedValue, _ words: [String]) {
        guard let text = value.text else {
            return add(value, "this must be one word, and is \(value.kind)")
        }
        guard !words.contains(text) else { return }
        add(value, "'\(text)' is not known here; \(Spelling.advice(for: text, among: words))")
    }

    private mutating func add(_ value: LocatedValue, _ message: String) {
        problems.append(ScenarioProblem(value, message))
    }

    private mutating func add(_ member: LocatedValue.Member, _ message: String) {
        problems.append(
            ScenarioProblem(line: member.nameLine, column: member.nameColumn, message)
        )
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                let character = Character(UnicodeScalar(byte))
                return character.isASCII
                    && (character.isLetter || character.isNumber || "-_".contains(character))
            }
    }
}
