import EventTypes
import Foundation
import Testing

/// The tables of ARCHITECTURE.md and of the services' READMEs name what the code has.
@Suite struct TableTests {
    @Test func theTableOfTopicsNamesEveryEvent() throws {
        let text = try Repository.file("ARCHITECTURE.md")
        var named: Set<String> = []
        for line in text.lines {
            guard let row = line.wholeMatch(of: /\| `[a-z.]+`[^|]*\|[^|]*\|[^|]*\|([^|]*)\|[^|]*\|/)
            else { continue }
            // `transaction.deferred.v1` `.approved` stands for two events.
            var subject: Substring = ""
            for match in row.1.matches(of: /`([a-z-]*)\.([a-z-]+)(\.v1)?`/) {
                if !match.1.isEmpty { subject = match.1 }
                named.insert("\(subject).\(match.2).v1")
            }
        }
        let events = EventType.all.map(\.rawValue)
        #expect(named.isSuperset(of: events), "missing: \(Set(events).subtracting(named).sorted())")
    }

    /// The comment of a path names the service that answers it first.
    @Test func theServicesReadmesNameEveryPath() throws {
        let routes = try Repository.file("Shared/StoreAPI/Routes.swift")
        var service: Substring?
        var count = 0
        var findings = Findings()
        for (number, line) in zip(1..., routes.lines) {
            if let match = line.firstMatch(of: /^ +\/\/\/ `([a-z]+)`/), service == nil {
                service = match.1
            } else if let match = line.firstMatch(of: /static let [a-zA-Z]+ = "(\/[^"]+)"/) {
                let name = service?.capitalized ?? "?"
                let readme = try Repository.file("Services/\(name)/README.md")
                count += 1
                if !readme.text.contains(match.1) {
                    findings.add(routes, number, "\(readme.path) does not name \(match.1)")
                }
                service = nil
            } else if !line.contains("///") {
                service = nil
            }
        }
        #expect(count > 15, "the pattern of this test no longer finds paths")
        findings.report()
    }
}
