import ArgumentParser
import StoreAPI

extension AdministratorScope {
    /// Reads a scope from the command line, for `transform:` of options.
    ///
    /// - Throws: `ValidationError` with the names of all scopes.
    static func option(_ text: String) throws -> AdministratorScope {
        guard let scope = AdministratorScope(rawValue: text) else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(text)' is not a scope: the scopes are \(names).")
        }
        return scope
    }
}
