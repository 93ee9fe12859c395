import EventTypes
import StoreAPI

/// Decides what a visitor may see and do.
///
/// The services decide again, by the visitor's own token.
struct VisitRules: Sendable {
    /// Whether nobody may act here.
    let isReadOnly: Bool

    /// Requires that a visitor may see a part of the store.
    func require(_ sight: Sight, for visitor: Visitor) throws(ConsoleProblem) {
        guard visitor.maySee(sight) else {
            let names = sight.scopes.sorted().map { "the scope \($0.rawValue)" }
            throw ConsoleProblem(
                403,
                "You may not see this",
                "Your key lacks \(names.joined(separator: ", and "))."
            )
        }
    }

    /// Requires that a visitor may act, and that a page of the visitor's session sent the form.
    func requireAct(
        by visitor: Visitor,
        as scope: AdministratorScope,
        form: FormFields
    ) throws(ConsoleProblem) {
        try requireOwnForm(form, of: visitor)
        guard !isReadOnly else {
            throw ConsoleProblem(
                403,
                "This console is read-only",
                "Whoever runs it has set CONSOLE_READ_ONLY. The command line can act."
            )
        }
        guard visitor.mayAct(as: scope) else {
            throw ConsoleProblem(
                403,
                "You may not do this",
                "Your key lacks the scope \(scope.rawValue)."
            )
        }
    }

    /// Requires that a page of the visitor's session sent the form.
    func requireOwnForm(_ form: FormFields, of visitor: Visitor) throws(ConsoleProblem) {
        guard let sent = form["csrf"], RandomSecret.areEqual(sent, visitor.session.csrf) else {
            throw ConsoleProblem(
                403,
                "This form is not of your session",
                "You may have signed in again since. Open the page again and repeat it; nothing was done."
            )
        }
    }
}
