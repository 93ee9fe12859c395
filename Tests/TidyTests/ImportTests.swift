import Testing

/// Who may import what.
///
/// The manifest holds the layers; these are the finer rules.
@Suite struct ImportTests {
    /// The only places of a module, and why.
    private static let homes: [String: (places: [String], advice: String)] = [
        "CLibrdkafka": (
            ["Shared/Kafka/RDKafka/"], "librdkafka's C stays in Shared/Kafka/RDKafka; use Kafka"
        ),
        "CLibpq": (["Shared/Postgres/PQ/"], "libpq's C stays in Shared/Postgres/PQ; use Postgres"),
    ]

    /// Files whose names promise that they decide by values alone.
    private static let pureNames = ["StateMachine", "Rules", "Plan", "RetryPolicy"]

    /// The modules that a pure file may import.
    private static let pureModules: Set = [
        "EventTypes", "StoreAPI", "StoreTracing", "Ledger", "Subscriptions", "Foundation",
    ]

    /// Files of a service that may hold a database connection.
    private static let databaseNames = [
        "Store", "Handler", "Composition", "Follower", "Reader", "Runner", "Queue", "Error",
        "Settlement", "Context", "Migrations", "Writer", "Publisher", "OutgoingNotifications",
    ]

    private static func isPure(_ file: SourceFile) -> Bool {
        file.path.hasPrefix("Shared/EventTypes/")
            || (file.isProduct && file.isNamed(pureNames) && !file.path.contains("/Composition"))
    }

    @Test func cStaysBehindItsBorder() {
        var findings = Findings()
        for file in Repository.swiftFiles {
            for (line, module) in file.imports {
                guard let home = Self.homes[module] else { continue }
                if !home.places.contains(where: file.path.hasPrefix) {
                    findings.add(file, line, home.advice)
                }
            }
        }
        findings.report()
    }

    /// The layer of each target: the rows of ARCHITECTURE.md.
    private static func layers() throws -> [String: Int] {
        var layers: [String: Int] = [:]
        for line in try Repository.file("ARCHITECTURE.md").lines {
            guard let row = line.firstMatch(of: /^\| (\d+) \| (`.+) \|$/),
                let number = Int(row.1)
            else { continue }
            for name in row.2.matches(of: /`(\w+)`/) { layers[String(name.1)] = number }
        }
        return layers
    }

    /// The manifest and ARCHITECTURE.md number the layers alike, and no target imports one of its
    /// own layer or of a higher one.
    @Test func aTargetImportsOnlyLowerLayers() throws {
        let layers = try Self.layers()
        let manifest = try Repository.file("Package.swift")
        var findings = Findings()
        var layer: Int?
        for (index, line) in manifest.lines.enumerated() {
            if let declared = line.firstMatch(of: /\/\/ Layer (\d+):/) { layer = Int(declared.1) }
            guard let layer, let name = line.firstMatch(of: /\bname: "(\w+)"/)?.1 else { continue }
            if line.contains("StoreHarness") { break }
            if layers[String(name)] != layer {
                findings.add(
                    manifest,
                    index + 1,
                    "ARCHITECTURE.md does not have \(name) in \(layer)"
                )
            }
        }
        for file in Repository.swiftFiles where file.isProduct {
            let target = String(file.path.split(separator: "/")[1])
            let own = try #require(layers[target], "ARCHITECTURE.md has no layer of \(target)")
            for (line, module) in file.imports where module != target {
                if let other = layers[module], other >= own {
                    findings.add(file, line, "\(module) is of layer \(other), \(target) of \(own)")
                }
            }
        }
        findings.report()
    }

    @Test func pureFilesImportNothingThatReachesTheWorld() {
        var findings = Findings()
        for file in Repository.swiftFiles where Self.isPure(file) {
            for (line, module) in file.imports where !Self.pureModules.contains(module) {
                findings.add(
                    file,
                    line,
                    "a pure file imports \(module); pass what it needs as an argument"
                )
            }
        }
        findings.report()
    }

    /// Postings are values that a state machine may make; what writes them is not.
    @Test func pureFilesNameOnlyTheLedgersValues() throws {
        var stores: [String] = []
        for file in Repository.swiftFiles
        where file.path.hasPrefix("Shared/Ledger/") && file.imports.contains(where: isPostgres) {
            stores += file.codeText.matches(of: /\b(?:struct|enum|class|actor|protocol)\s+(\w+)/)
                .map { String($0.1) }
        }
        try #require(stores.contains("LedgerStore"), "the rule no longer finds what it forbids")
        let names = try Regex("\\b(\(stores.joined(separator: "|")))\\b")
            .wordBoundaryKind(.simple)
        var findings = Findings()
        for file in Repository.swiftFiles where Self.isPure(file) {
            for (line, text) in file.code where text.contains(names) {
                findings.add(file, line, "a pure file makes postings; a store writes them")
            }
        }
        findings.report()
    }

    /// A pure file passes trace contexts on, without making any.
    ///
    /// The ids of a new trace are random, and a span has the time of a clock.
    @Test func pureFilesOnlyPassTracesOn() {
        let names =
            /\b(?:Span(?!ID)\w*|OpenSpan|StoreSpan|StoreTracer)\b|TraceContext\.begin|\.child\(\)/
            .wordBoundaryKind(.simple)
        var findings = Findings()
        for file in Repository.swiftFiles
        where Self.isPure(file) && file.imports.contains(where: { $0.module == "StoreTracing" }) {
            for (line, text) in file.code where text.contains(names) {
                findings.add(file, line, "a pure file gets its traces as arguments")
            }
        }
        findings.report()
    }

    private func isPostgres(_ found: (number: Int, module: String)) -> Bool {
        found.module == "Postgres"
    }

    /// Words of which every text has one that the pattern below finds.
    private static let readingWords = [
        "Date()", ".now", "wallClock", "UUID()", ".random(", "clock_gettime", "gettimeofday",
        "time(nil)", "timespec(", "Clock()", "SystemRandomNumberGenerator", ".randomElement()",
        ".shuffle", "arc4random", "drand48", "ID(time: ",
    ]

    /// Whether a text reads a clock, draws at random or makes an id, however it is called.
    static func readings(in text: String) -> Bool {
        guard text.holdsAny(of: readingWords) else { return false }
        return text.contains(
            /\bDate\(\)|\.now\b|wallClock|\bUUID\(\)|\.random\(|clock_gettime|gettimeofday|\btime\(nil\)|\btimespec\(|(?:Continuous|Suspending)Clock\(\)|SystemRandomNumberGenerator|\.(?:randomElement|shuffled?)\(\)|arc4random|drand48|\w*ID\(time: [^,()]+\)/
                .wordBoundaryKind(.simple)
        )
    }

    private static let pureWords = ["Pure.", "Pure:"]

    /// Whether the file's type is pure by its name, or says so in its comment.
    private static func mustBePure(_ file: SourceFile) -> Bool {
        isPure(file)
            || file.isProduct && file.text.holdsAny(of: pureWords)
                && file.lines.contains {
                    $0.holdsAny(of: pureWords) && $0.contains(/^\/\/\/ (?:.*\. )?Pure[.:]/)
                }
    }

    @Test func pureFilesReadNoClockAndMakeNoIDs() {
        var findings = Findings()
        for file in Repository.swiftFiles where Self.mustBePure(file) {
            for (line, text) in file.code where Self.readings(in: text) {
                findings.add(file, line, "a pure file gets its time and ids as arguments")
            }
        }
        findings.report()
    }

    /// Words of which every text has one that the pattern below finds.
    private static let effectWords = [
        "await", "async", "Task", "FileManager", "FileHandle", "ProcessInfo", "Logger",
        "URLSession", "HTTPClient", "PostgresClient", "PostgresConnection", "Kafka",
    ]

    /// Whether a text waits for something, or reaches a file, a database, a broker or a server.
    static func effects(in text: String) -> Bool {
        guard text.holdsAny(of: effectWords) else { return false }
        return text.contains(
            /\b(?:await|async|Task|FileManager|FileHandle|ProcessInfo|Logger|URLSession|HTTPClient|Postgres(?:Client|Connection)|Kafka(?:Producer|Consumer|Admin|Follower))\b/
                .wordBoundaryKind(.simple)
        )
    }

    @Test func pureFilesReachNothingAndWaitForNothing() {
        var findings = Findings()
        for file in Repository.swiftFiles where Self.mustBePure(file) {
            for (line, text) in file.code where Self.effects(in: text) {
                findings.add(file, line, "a pure file gets what it needs as values")
            }
        }
        findings.report()
    }

    @Test(arguments: [
        ("let names = try FileManager.default.contentsOfDirectory(atPath: path)", true),
        ("mutating func judge(_ rows: [Row], on connection: PostgresConnection)", true),
        ("for partition: KafkaTopicPartition in held.keys {", false),
        ("let awaited = rows.filter(\\.isTaskless)", false),
        ("func price() async -> Money {", true), ("let row: OutboxRow", false),
    ])
    func whatHasAnEffectIsFound(_ text: String, hasEffect: Bool) {
        #expect(Self.effects(in: text) == hasEffect)
    }

    @Test(arguments: [
        "let now = Date()", "clock_gettime(CLOCK_REALTIME, &time)", "StoreTime.wallClock()",
        "var bits = SystemRandomNumberGenerator()", "low = .random(in: 1 ... .max, using: &bits)",
        "let start = ContinuousClock().now", "id = UUID().uuidString", "list.shuffled()",
        "id: AttemptID(time: time),", "EventID(time: clock.time)", "let now = Foundation.Date()",
    ])
    func whatReadsAClockOrDrawsIsFound(_ text: String) {
        #expect(Self.readings(in: text))
    }

    @Test(arguments: [
        "public init(time: StoreTime, using randomBits: inout some RandomNumberGenerator) {",
        "let id = UUID(uuidString: text)", "Date(timeIntervalSince1970: seconds)",
        "var time: StoreTime", "randomBits.next()",
    ])
    func whatIsGivenItsTimeAndBitsIsNot(_ text: String) {
        #expect(!Self.readings(in: text))
    }

    @Test func theDatabaseIsHeldByFewKindsOfFile() {
        var findings = Findings()
        for file in Repository.swiftFiles
        where file.path.hasPrefix("Services/") && !file.isNamed(Self.databaseNames) {
            for (line, module) in file.imports where module == "Postgres" {
                let names = Self.databaseNames.map { "*\($0).swift" }.joined(separator: ", ")
                findings.add(file, line, "import Postgres only in \(names)")
            }
        }
        for file in Repository.swiftFiles
        where file.path.hasPrefix("Shared/Ledger/") && !file.isNamed(["Store", "Migrations"]) {
            for (line, module) in file.imports where module == "Postgres" {
                findings.add(file, line, "the ledger's rules are pure; SQL is LedgerStore's")
            }
        }
        findings.report()
    }

    @Test func librariesKnowNothingOfServices() {
        var findings = Findings()
        let services = Set(
            Repository.services + ["Operator", "devstore", "StoreHarness", "TestSupport"]
        )
        for file in Repository.swiftFiles where file.path.hasPrefix("Shared/") {
            for (line, module) in file.imports where services.contains(module) {
                findings.add(file, line, "a library imports \(module); turn the dependency round")
            }
        }
        for file in Repository.swiftFiles where file.path.hasPrefix("Services/") {
            for (line, module) in file.imports where services.contains(module) {
                findings.add(file, line, "services meet in topics and HTTP, not by import")
            }
        }
        findings.report()
    }

    @Test func nothingInServicesIsPublic() {
        var findings = Findings()
        for file in Repository.swiftFiles where file.path.hasPrefix("Services/") {
            for (line, text) in file.code
            where text.holdsAny(of: ["public", "open"])
                && text.contains(/^\s*(?:public|open)\s+(?!import)/)
            {
                findings.add(file, line, "an executable has no public interface; leave it away")
            }
        }
        findings.report()
    }
}
