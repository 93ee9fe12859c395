import EventTypes
import Testing

/// `deploy/front` sends every path of the store's interface to the service that answers it, and no
/// other path anywhere.
@Suite struct FrontRoutesTests {
    /// The rules of the table, in order: what fits a path first answers it.
    private func rules() throws -> [(pattern: Regex<AnyRegexOutput>, service: String)] {
        let file = try Repository.file("deploy/front/default.conf.template")
        let table = try #require(file.text.split(separator: "map $uri $service {").last)
        var rules: [(pattern: Regex<AnyRegexOutput>, service: String)] = []
        for line in table.split(separator: "\n") {
            if line == "}" { break }
            guard let match = line.firstMatch(of: /^\s*~(\S+)\s+([a-z]+);$/) else { continue }
            rules.append((try Regex(String(match.1)), String(match.2)))
        }
        try #require(rules.count > 10, "the form of the table is not what this test reads")
        return rules
    }

    private func service(
        of path: String,
        by rules: [(pattern: Regex<AnyRegexOutput>, service: String)]
    ) throws -> String? {
        try rules.first { try $0.pattern.firstMatch(in: path) != nil }?.service
    }

    /// `Routes.swift` names the service of a path first in its comment.
    @Test func everyPathOfTheInterfaceGoesToTheServiceThatItsCommentNames() throws {
        let rules = try rules()
        let file = try Repository.file("Shared/StoreAPI/Routes.swift")
        var owner = ""
        var constants: [String: String] = [:]
        var function = ""
        var findings = Findings()
        var count = 0
        for (number, text) in zip(1..., file.lines) {
            if let match = text.firstMatch(
                of: /^\s*\/\/\/ `(catalog|payments|receipts|fulfillment)`/
            ) {
                owner = String(match.1)
            }
            if let match = text.firstMatch(of: /public static func (\w+)/) {
                function = String(match.1)
            }
            var path: String?
            if let match = text.firstMatch(of: /public static let (\w+) = "([^"]+)"/) {
                path = expanded(String(match.2), constants)
                constants[String(match.1)] = path
            } else if let match = text.firstMatch(
                of: /^\s*(?:public static func .*\{ )?"(\\\(.*)"(?: \})?$/
            ) {
                path = expanded(String(match.1), constants)
                constants[function] = path
            }
            guard var path else { continue }
            // What a constant's users append to it.
            let parents = [
                "/v1/transactions", "/v1/introductory-offers", "/v1/admin/products",
                "/v1/admin/transactions",
                "/v1/admin/apps", "/v1/admin/accounts",
            ]
            if parents.contains(path) { path += "/x" }
            count += 1
            let found = try service(of: path, by: rules)
            if found != owner {
                findings.add(file, number, "\(path) goes to \(found ?? "nobody"), not to \(owner)")
            }
        }
        #expect(count > 30, "the form of Routes.swift is not what this test reads")
        findings.report()
    }

    @Test(arguments: [
        "/inApps/v1/transactions/1000000000000001", "/inApps/v1/notifications/test", "/ocsp",
        "/ocsp/MFYwVKADAgEA", "/v1/admin/transactions/1/consumption",
    ])
    func whatAppleNamesGoesToReceipts(path: String) throws {
        #expect(try service(of: path, by: rules()) == "receipts")
    }

    @Test(arguments: [
        "/metrics", "/health/ready", "/health/live", "/", "/v1", "/v1/unknown",
        "/v1/queue/../metrics",
    ])
    func whatIsNoneOfTheInterfaceGoesNowhere(path: String) throws {
        #expect(try service(of: path, by: rules()) == nil)
    }

    /// A path with `x` for everything that is interpolated.
    private func expanded(_ text: String, _ constants: [String: String]) -> String {
        text.replacing(/\\\((\w+)(?:\([^()]*\))?\)/) { match in constants[String(match.1)] ?? "x" }
    }
}
