/// The tests of this repository with the suites in which they stand.
struct TestList: Sendable {
    /// A test.
    struct Test: Sendable {
        /// The folder in `Tests`.
        let target: String
        /// The types around it, from the outside, and its own name.
        let path: [String]
        let file: String
        let line: Int
    }

    let tests: [Test]

    /// Reads the tests of some files.
    init(_ files: [SourceFile]) { tests = files.flatMap(Self.tests(of:)) }

    /// The tests and suites that a name means, as `swift test --filter` names them.
    ///
    /// - Parameter name: `test`, `Suite/test` or `Target.Suite/test`, and for a suite
    ///   `Target.Suite`. The outermost suites may be left out.
    /// - Returns: Their whole names.
    func named(_ name: String) -> Set<String> {
        let halves = name.split(separator: ".").map(String.init)
        let parts = (halves.last ?? "").split(separator: "/").map(String.init)
        var found: Set<String> = []
        for test in tests where halves.count == 1 || test.target == halves[0] {
            if test.path.suffix(parts.count) == parts[...] {
                found.insert("\(test.target).\(test.path.joined(separator: "/"))")
            }
            // A suite is named with its target, so that no test is taken for one.
            guard halves.count == 2 else { continue }
            for end in test.path.indices where test.path[..<end].suffix(parts.count) == parts[...] {
                found.insert("\(test.target).\(test.path[..<end].joined(separator: "/"))")
            }
        }
        return found
    }

    /// Reads a file, whose lines are indented as the formatter does it.
    private static func tests(of file: SourceFile) -> [Test] {
        var tests: [Test] = []
        var types: [(indent: Int, name: String)] = []
        var isTest = false
        let folders = file.path.split(separator: "/")
        let target = folders.count > 1 ? String(folders[1]) : ""
        for (number, line) in file.code {
            if line.contains("@Test") { isTest = true }
            let indent = line.prefix { $0 == " " }.count
            if line.contains("struct ") || line.contains("class ") || line.contains("enum ")
                || line.contains("actor ") || line.contains("extension "),
                let type = line.firstMatch(
                    of: /^[ \w@().,]*\b(?:struct|class|enum|actor|extension) ([\w.]+)/
                )
            {
                types.removeAll { $0.indent >= indent }
                types += type.1.split(separator: ".").map { (indent, String($0)) }
            } else if isTest, line.contains("func "),
                let function = line.firstMatch(of: /\bfunc ([A-Za-z0-9_]+)/)
            {
                isTest = false
                let path = types.filter { $0.indent < indent }.map(\.name) + [String(function.1)]
                tests.append(Test(target: target, path: path, file: file.path, line: number))
            }
        }
        return tests
    }
}
