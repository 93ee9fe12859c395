import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import Console

@Suite struct ConsoleSettingsTests {
    private func read(_ environment: [String: String]) -> (ConsoleSettings, [String]) {
        var reader = SettingsReader(environment: environment)
        let settings = ConsoleSettings(&reader)
        return (settings, reader.problems.map(\.key))
    }

    @Test func nobodyActsUnlessTheSettingSaysSo() {
        #expect(read(["ADMIN_KEYS_DIRECTORY": "x"]).0.isReadOnly)
        let open = ["ADMIN_KEYS_DIRECTORY": "x", "CONSOLE_READ_ONLY": "false"]
        #expect(!read(open).0.isReadOnly)
        #expect(read(open.merging(["CONSOLE_READ_ONLY": "no"]) { $1 }).1 == ["CONSOLE_READ_ONLY"])
    }

    @Test func anAddressThatIsNoOriginIsRefused() {
        let (_, problems) = read(["ADMIN_KEYS_DIRECTORY": "x", "CONSOLE_ORIGIN": "http://a/b"])
        #expect(problems == ["CONSOLE_ORIGIN"])
    }

    @Test(arguments: [
        ("http://10.0.0.1:8086", false), ("http://console.example.com", false),
        ("http://localhost:8086", true), ("http://[::1]:8086", true),
        ("https://console.example.com", true),
    ])
    func plainHTTPIsForThisMachineAlone(origin: String, isRight: Bool) {
        let (_, problems) = read(["ADMIN_KEYS_DIRECTORY": "x", "CONSOLE_ORIGIN": origin])
        #expect(problems == (isRight ? [] : ["CONSOLE_ORIGIN"]))
    }

    @Test func theUsualPortIsNoOtherOrigin() throws {
        let origin = try #require(ConsoleOrigin("https://Console.example.com:443"))
        #expect(origin.text == "https://console.example.com")
        #expect(origin.isNamed(by: "console.example.com"))
        #expect(origin.isNamed(by: "console.example.com:443"))
        #expect(!origin.isNamed(by: "console.example.com:80"))
        let other = try #require(ConsoleOrigin("https://console.example.com:8443"))
        #expect(other.text == "https://console.example.com:8443")
        #expect(!other.isNamed(by: "console.example.com"))
        #expect(!other.isNamed(by: "console.example.com:8443:443"))
    }

    @Test func theExampleNamesEverySettingAndNoOther() throws {
        var reader = SettingsReader(environment: [:], isDescribing: true)
        _ = ConsoleSettings(&reader)
        var known = Set(reader.documented.map(\.key)).union(["LOG_LEVEL", "LOG_FORMAT"])
        for key in known where key.hasSuffix("_DATABASE_URL") || key == "KAFKA_PROPERTIES" {
            known.insert(key + "_FILE")
        }
        let path = SourceTree.path("deploy/env/console.env.example")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let named = text.matches(of: /(?m)^#?([A-Z][A-Z0-9_]*)=/).map { String($0.1) }
        #expect(Set(named) == known)
    }
}
