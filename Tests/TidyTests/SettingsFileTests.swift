import Testing

/// `deploy/env` lists every setting that a service reads, and none that it does not.
@Suite struct SettingsFileTests {
    /// The keys that the code under a folder asks its reader for, and where.
    private func keysRead(in folder: String) -> [String: String] {
        let call =
            /\.(string|secret|secretList|integer|milliseconds|choice|list|file)\(\s*"([A-Z][A-Z0-9_]+)"/
        var keys: [String: String] = [:]
        for file in Repository.swiftFiles where file.path.hasPrefix(folder) {
            let text = file.codeText
            for match in text.matches(of: call) {
                let line = text[..<match.range.lowerBound].count { $0 == "\n" } + 1
                keys[String(match.2)] = "\(file.path):\(line)"
                // A secret may stand in a file.
                if match.1.hasPrefix("secret") {
                    keys["\(match.2)_FILE"] = "\(file.path):\(line)"
                }
            }
        }
        return keys
    }

    @Test(arguments: Repository.services)
    func settingsFilesAndCodeNameTheSameKeys(service: String) throws {
        var shared = keysRead(in: "Shared/")
        #expect(shared["HTTP_PORT"] != nil, "the pattern of this test no longer finds settings")
        let answersMerchants = Repository.swiftFiles.contains {
            $0.path.hasPrefix("Services/\(service)/")
                && $0.text.contains("ServerAPISettings(&reader")
        }
        if !answersMerchants {
            for key in keysRead(in: "Shared/ServiceKit/MerchantAPI/").keys { shared[key] = nil }
        }
        let read = keysRead(in: "Services/\(service)/").merging(shared) { own, _ in own }
        let example = try Repository.file("deploy/env/\(service.lowercased()).env.example")
        var listed: [String: Int] = [:]
        for (line, text) in zip(1..., example.lines) {
            guard let match = text.firstMatch(of: /^#?([A-Z][A-Z0-9_]*)=/) else { continue }
            let key = String(match.1)
            #expect(listed[key] == nil, "\(example.path):\(line): \(key) is listed twice")
            listed[key] = line
        }
        var findings = Findings()
        for (key, place) in read.sorted(by: { $0.key < $1.key }) where listed[key] == nil {
            findings.add(place, "reads \(key); list it in \(example.path) with a comment")
        }
        for (key, line) in listed.sorted(by: { $0.value < $1.value }) where read[key] == nil {
            findings.add(example, line, "nothing reads \(key); remove it")
        }
        findings.report()
    }

    @Test(arguments: Repository.services)
    func everySettingHasAComment(service: String) throws {
        let example = try Repository.file("deploy/env/\(service.lowercased()).env.example")
        var isExplained = false
        var findings = Findings()
        for (line, text) in zip(1..., example.lines) {
            if text.contains(/^#?[A-Z][A-Z0-9_]*=/) {
                if !isExplained { findings.add(example, line, "explain it in a comment above") }
            } else {
                isExplained = text.hasPrefix("# ")
            }
        }
        findings.report()
    }
}
