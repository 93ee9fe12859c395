/// The tests, suites and `make` targets that documents name.
struct TestReferences {
    private let makefile: SourceFile

    init() throws { makefile = try Repository.file("Makefile") }

    /// The problem with a name that a document gives for a proof; `nil` if it exists.
    ///
    /// A name is that of a test (`toldOnce`), of a suite or a test with its target or suite
    /// (`EndToEndTests.EndToEnd/Refunds`, `RefundWebhookTests/toldOnce`), or a command (`make chaos`).
    func problem(with name: String) -> String? {
        if name.hasPrefix("make ") {
            let target = name.dropFirst(5).prefix { $0 != " " }
            let isThere = makefile.lines.contains { $0.hasPrefix(target + ":") }
            return isThere ? nil : "there is no make \(target)"
        }
        guard name.wholeMatch(of: /[A-Za-z0-9]+([.\/][A-Za-z0-9]+)*/) != nil else {
            return "\(name) is no name of a test"
        }
        guard name.contains("/") || name.contains(".") else {
            return Repository.testNames.contains(name) ? nil : "there is no test \(name)"
        }
        var rest = name[...]
        var files = Repository.swiftFiles.filter { $0.path.hasPrefix("Tests/") }
        if let dot = name.firstIndex(of: ".") {
            files = files.filter { $0.path.hasPrefix("Tests/\(name[..<dot])/") }
            rest = name[name.index(after: dot)...]
        }
        // A suite and what is in it stand in one file.
        let parts = rest.split(separator: "/").map(String.init)
        let isThere = files.contains { file in parts.allSatisfy(file.declares) }
        return isThere ? nil : "there is no test or suite \(name)"
    }
}

extension SourceFile {
    /// Whether the file declares or extends a suite, or declares a test, of a name.
    fileprivate func declares(_ name: String) -> Bool {
        code.contains { _, line in
            line.contains(name)
                && line.matches(of: /\b(?:struct|class|enum|extension|func) ([A-Za-z0-9]+)/)
                    .contains { $0.1 == name }
        }
    }
}
