import Testing

/// Folders are small, files hold what their names say, and dependencies between folders go one way.
@Suite struct RoomTests {
    private static let filesMax = 15

    /// Files whose names say something else than a declaration, by their ends, and why.
    private static let otherNames = [
        "/Composition.swift": "holds the function that composes a service",
        "/Exports.swift": "passes the store harness on to the tests",
    ]

    /// Types of one name, and why.
    private static let namesakes = [
        "Product": "Apple's name in the library for apps, and the store's own",
        "Transaction": "Apple's name in the library for apps, and the store's own",
    ]

    /// Folders that use each other's names, and why.
    private static let circles: [String: String] = [:]

    private static let files = Repository.swiftFiles.filter { $0.name != "Package.swift" }
    /// Every file, read once.
    private static let rooms = Rooms(files)

    @Test func aFolderHasAtMostFifteenFiles() {
        var findings = Findings()
        for (folder, count) in Rooms.crowded(Self.files, above: Self.filesMax) {
            findings.add(folder, "has \(count) Swift files; at most \(Self.filesMax) fit into one")
        }
        findings.report()
    }

    @Test func aCompositionHasFortyToNinetyLines() {
        var findings = Findings()
        for file in Self.files
        where file.path.hasPrefix("Services/") && file.name == "Composition.swift" {
            let count = file.lines.count
            if !(40...90).contains(count) {
                findings.add(file, 1, "has \(count) lines; make a type of what belongs together")
            }
        }
        findings.report()
    }

    @Test func aFileDeclaresWhatItIsNamedAfter() {
        var findings = Findings()
        for path in Self.rooms.unread { findings.add(path, "this test cannot read its brackets") }
        for (path, names) in Self.rooms.misnamed
        where !Self.otherNames.keys.contains(where: path.hasSuffix) {
            findings.add(path, "name it after what it holds: \(names.joined(separator: ", "))")
        }
        findings.report()
    }

    @Test func noTwoTypesOfTheProductHaveOneName() {
        let product = Self.rooms.filter(\.isProduct)
        var findings = Findings()
        for (name, places) in product.homonyms where Self.namesakes[name] == nil {
            findings.add(name, "is declared in \(places.joined(separator: " and "))")
        }
        findings.report()
    }

    @Test func dependenciesBetweenFoldersGoOneWay() {
        var findings = Findings()
        // The folders of a test target are what is tested, and share what they test with.
        let rooms = Self.rooms.filter { !$0.path.hasPrefix("Tests/") }
        for (pair, names) in rooms.circles where Self.circles[pair] == nil {
            findings.add(pair, "open the circle: \(names.joined(separator: "; "))")
        }
        findings.report()
    }

    @Test func everyExceptionIsStillOne() {
        let product = Self.rooms.filter(\.isProduct)
        for name in Self.namesakes.keys { #expect(product.homonyms[name] != nil, "\(name)") }
        for end in Self.otherNames.keys {
            #expect(Self.rooms.misnamed.keys.contains { $0.hasSuffix(end) }, "\(end)")
        }
        for pair in Self.circles.keys { #expect(Self.rooms.circles[pair] != nil, "\(pair)") }
    }

    @Test func aCrowdedFolderIsFound() {
        let files = (1...3).map { SourceFile(path: "Services/Shop/Desk/File\($0).swift", text: "") }
        #expect(Rooms.crowded(files, above: 2) == ["Services/Shop/Desk": 3])
        #expect(Rooms.crowded(files, above: 3).isEmpty)
    }

    @Test(arguments: [
        ("Coin.swift", "struct Purse {}", false), ("Coin.swift", "extension Coin {}", false),
        ("Coin.swift", "enum Purse { struct Coin {} }", false),
        ("Coin.swift", "// struct Coin {}\nlet text = \"struct Coin {}\"", false),
        ("Coin+Names.swift", "extension Purse {}", false),
        ("Coin.swift", "@frozen public indirect enum Coin<Metal> {}", true),
        ("IsFree.swift", "func isFree(port: Int) -> Bool { true }", true),
        ("Coin+Names.swift", "extension Bank.Coin: Named {}", true), ("main.swift", "run()", true),
    ])
    func aWrongNameIsFound(name: String, text: String, isRight: Bool) {
        let rooms = Rooms([SourceFile(path: "Services/Shop/\(name)", text: text)])
        #expect(rooms.misnamed.isEmpty == isRight)
        #expect(rooms.unread.isEmpty)
    }

    @Test(arguments: [
        ("Coins.swift", "extension Bank { @Suite struct Coins {} }", true),
        ("Coins.swift", "@Suite struct Coins {}", true),
        ("CoinTests.swift", "extension Bank { @Suite struct Coins {} }", false),
        ("Coins.swift", "@Suite struct Bank { struct Coins {} }", false),
        ("Coins.swift", "extension Bank { func coins() { struct Coins {} } }", false),
        ("Bank+Coins.swift", "extension Bank { @Test func coins() {} }", true),
    ])
    func aWrongNameOfTestsIsFound(name: String, text: String, isRight: Bool) {
        let rooms = Rooms([SourceFile(path: "Tests/BankTests/\(name)", text: text)])
        #expect(rooms.misnamed.isEmpty == isRight)
    }

    @Test func typesOfOneNameAreFound() {
        let rooms = Rooms([
            SourceFile(path: "Services/Shop/A.swift", text: "struct Coin {}; struct Purse {}"),
            SourceFile(path: "Shared/Bank/B.swift", text: "actor Coin {}; private enum Purse {}"),
            SourceFile(path: "Shared/Bank/C.swift", text: "enum Bank { struct Purse {} }"),
        ])
        #expect(rooms.homonyms == ["Coin": ["Services/Shop/A.swift", "Shared/Bank/B.swift"]])
    }

    @Test(arguments: [
        ("struct Till { let coin: Coin }", true), ("func pay() { mint(1) }", true),
        (#"let text = "one \(coinCount) of \#("more")""#, true),
        ("struct Till { let kind: Kind.Coin }", false), ("// Coin, mint", false),
        (#"let text = "Coin \\ mint /*""#, false), (#"let match = /"Coin\/(mint/"#, false),
        ("struct Till { func mint() {} }\nlet till = Till()", false),
        ("func pay(coinCount: Int) -> Int { coinCount }", false),
        ("struct Till { enum Coin {}; let coin: Coin }", false),
    ])
    func aCircleIsFound(below: String, isCircle: Bool) {
        let mint = "struct Coin { var till: Till? }; func mint() {}; let coinCount = 3"
        let rooms = Rooms([
            SourceFile(path: "Services/Shop/Mint/Coin.swift", text: mint),
            SourceFile(path: "Services/Shop/Till.swift", text: below + "\nprotocol Till {}"),
        ])
        #expect(
            rooms.circles.keys.sorted() == (isCircle ? ["Services/Shop ↔ Services/Shop/Mint"] : [])
        )
        #expect(rooms.unread.isEmpty)
    }
}
