/// The tests, suites and `make` targets that documents name.
struct TestReferences {
    private let makefile: SourceFile
    private let tests: TestList

    init() throws { self.init(tests: Repository.tests, makefile: try Repository.file("Makefile")) }

    init(tests: TestList, makefile: SourceFile) {
        self.tests = tests
        self.makefile = makefile
    }

    /// The problem with a name that a document gives for a proof; `nil` if it means exactly one.
    ///
    /// A name is that of a test (`creditIsGrantedOnce`), of a suite or a test with its target or
    /// suite (`EndToEndTests.EndToEnd/Refunds`, `OutboxTests/creditIsGrantedOnce`), or a command
    /// (`make chaos`).
    /// If two tests had the name, one of them could go without anybody noticing.
    func problem(with name: String) -> String? {
        if name.hasPrefix("make ") {
            let target = name.dropFirst(5).prefix { $0 != " " }
            let isThere = makefile.lines.contains { $0.hasPrefix(target + ":") }
            return isThere ? nil : "there is no make \(target)"
        }
        guard name.wholeMatch(of: /[A-Za-z0-9]+([.\/][A-Za-z0-9]+)*/) != nil else {
            return "\(name) is no name of a test"
        }
        let found = tests.named(name)
        switch found.count {
        case 0: return "there is no test or suite \(name)"
        case 1: return nil
        default:
            return
                "\(name) means \(found.sorted().joined(separator: " and ")); name it with its suite"
        }
    }
}
