import Testing

/// End-to-end tests judge a store by what its users and operators see; SQL is for breaking it.
@Suite struct DatabaseAccessTests {
    /// The files of `Tests/EndToEndTests` that open a service's database, and what they break there.
    private static let allowed = [
        "BrokenBooks": "breaks books, for reconcile to name what is wrong",
        "Damage": "breaks a book of each kind, for reconcile to name it",
        "Operator+Story": "breaks books, for reconcile to say what to do",
        "ProcessorReports": "writes movements that nobody posts, and charges more than was asked",
        "BrokerReplays": "deletes places, and writes events of a newer version",
        "Replays": "deletes places, and cuts a log",
        "Retention": "makes a log old, and edits one",
        "Verification": "alters rows and events, and holds the lock of a proof",
        "Outages": "holds a database transaction open",
        "RestoredStores": "puts an older backup in the place of a database",
        "UnknownOutcomes": "kills the backend of a commit",
        "CardNumbers": "reads every event, which no answer shows",
        "DatabaseInTrouble": "makes a table refuse rows as a full disk does",
        "Backups": "looks for an id in every app transaction that was ever made",
        "Deployment": "sets up the databases themselves, before any service is there",
        "StartUp": "leaves a database of a newer version, and tries what roles may not do",
    ]

    /// Those of them that read by SQL as well, and why nothing else can tell.
    private static let mayRead = [
        "Outages": "waits until the relay has looked, which rightly does nothing",
        "UnknownOutcomes": "finds the backend to kill, and waits until PostgreSQL answers",
        "Backups": "ids of app transactions stand in signed answers to one account alone",
        "CardNumbers": "a number must not be in any event, shown or not",
        "Deployment": "a set-up script has made databases, and there is no service to ask",
        "StartUp": "a refused start changes no row, and a role may not even read",
    ]

    private static let folder = "Tests/EndToEndTests/"
    private static var access: Regex<Substring> {
        /withDatabase\(|withOwnerClient\(|asSuperuser|PostgresClient\(|withSession\(|withTestDatabase/
    }
    /// Words of which every access has one.
    private static let accessWords = [
        "withDatabase(", "withOwnerClient(", "asSuperuser", "PostgresClient(", "withSession(",
        "withTestDatabase",
    ]
    private static var question: Regex<Substring> { /\.query\(/ }

    private static func name(_ file: SourceFile) -> String {
        String(file.name.dropLast(".swift".count))
    }

    private static var files: [SourceFile] {
        Repository.swiftFiles.filter { $0.path.hasPrefix(folder) }
    }

    @Test func noOtherFileOpensAServicesDatabase() {
        var findings = Findings()
        for file in Self.files where Self.allowed[Self.name(file)] == nil {
            for (line, text) in file.code
            where text.holdsAny(of: Self.accessWords) && text.contains(Self.access) {
                findings.add(
                    file,
                    line,
                    "judge by reconcile(), `counterfoil why --json` or HTTP, not by SQL"
                )
            }
        }
        findings.report()
    }

    @Test func aFileThatBreaksRowsDoesNotJudgeByThem() {
        var findings = Findings()
        for file in Self.files where Self.mayRead[Self.name(file)] == nil {
            for (line, text) in file.code where text.contains(".query(") {
                findings.add(file, line, "SQL only breaks things; ask reconcile()")
            }
        }
        findings.report()
    }

    @Test func everyExceptionIsStillOne() throws {
        for name in Self.allowed.keys {
            let code = try #require(Self.files.first { Self.name($0) == name }, "\(name)").codeText
            #expect(code.contains(Self.access), "\(name)")
        }
        for name in Self.mayRead.keys {
            let code = try #require(Self.files.first { Self.name($0) == name }, "\(name)").codeText
            #expect(code.contains(Self.question), "\(name)")
        }
    }

    @Test func theAuditAsksTheOperatorsProgram() throws {
        var findings = Findings()
        let paths = ["Audit/Auditor", "Audit/AuditReport", "StoreHarness+Reconcile"]
        for path in paths {
            let file = try Repository.file("Tools/StoreHarness/\(path).swift")
            for (line, text) in file.code where text.contains(/withDatabase|\.query\(|Postgres/) {
                findings.add(file, line, "the audit has no access of its own")
            }
        }
        findings.report()
    }
}
