import Testing

/// A test that draws its input can be repeated: it draws from a seed, and its failure names the seed.
@Suite struct RandomnessTests {
    /// The files that draw numbers which decide nothing, and what for.
    private static let allowed = [
        "Tools/StoreHarness/Ground/SeededGenerator.swift": "draws the seed of a run",
        "Tools/DevStore/Chaos/ChaosCommand.swift": "draws the seed of a run",
        "Tools/StoreHarness/StoreHarness.swift": "names databases",
        "Tools/StoreHarness/Broker/BrokerCluster.swift": "names a cluster",
        "Tools/StoreHarness/Postgres/TemporaryClusters.swift": "names a folder",
        "Tools/DevStore/Bench/Load/BenchDriver.swift": "names idempotency keys",
        "Tools/DevStore/Bench/Ceiling/BrokerRelay.swift": "spreads the polls of a measured program",
    ]

    /// Places in a text where something is drawn from the system's generator.
    static func draws(in text: String) -> [Substring] {
        let words = [
            ".random", ".shuffle", "SystemRandomNumberGenerator", "drand48", "arc4random",
        ]
        guard text.holdsAny(of: words) else { return [] }
        let call = /\.(?:random|randomElement|shuffled?)\((?:[^()]|\([^()]*\))*\)/
        let drawn = text.matches(of: call).map(\.output).filter { !$0.contains("using:") }
        let generators = /SystemRandomNumberGenerator|drand48|arc4random/
        return drawn + text.matches(of: generators).map(\.output)
    }

    @Test func testsDrawFromASeed() {
        var findings = Findings()
        for file in Repository.swiftFiles
        where !file.isProduct && !file.path.hasPrefix("Tests/TidyTests/") {
            guard Self.allowed[file.path] == nil else { continue }
            let text = file.codeText
            for draw in Self.draws(in: text) {
                let line = text[..<draw.startIndex].count { $0 == "\n" } + 1
                findings.add(file, line, "draw with RandomSeed.ofThisRun, and name its seed")
            }
        }
        findings.report()
    }

    @Test func everyExceptionIsStillOne() throws {
        for path in Self.allowed.keys {
            #expect(!Self.draws(in: try Repository.file(path).codeText).isEmpty, "\(path)")
        }
    }

    @Test(arguments: [
        "list.shuffled()", "commands.randomElement() ?? .refund", "Int.random(in: 0..<5)",
        "for x in list.enumerated().shuffled().map { $0 }", "Bool.random()",
        "var random = SystemRandomNumberGenerator()", "list.shuffle()",
        "Int.random(\n    in: 0..<max(1, 5)\n)",
        "Task.sleep(for: .milliseconds(.random(in: 1...9)))",
    ])
    func whatHasNoSeedIsFound(_ text: String) {
        #expect(Self.draws(in: text).count == 1)
    }

    @Test(arguments: [
        "list.shuffled(using: &random)", "Int.random(in: 0..<max(1, 5), using: &random)",
        "Int.random(\n    in: 0..<5,\n    using: &random\n)", "Self.random(using: &generator)",
    ])
    func whatHasASeedIsNot(_ text: String) {
        #expect(Self.draws(in: text).isEmpty)
    }
}
