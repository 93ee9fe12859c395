import HTTPTypes
import Testing

@testable import Console

@Suite struct SenderCheckTests {
    private let check = SenderCheck(origin: .usual)

    private func head(
        _ method: HTTPRequest.Method,
        host: String = "127.0.0.1:8086",
        _ fields: [String: String] = [:]
    ) throws -> HTTPRequest {
        var headers = HTTPFields()
        for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
        return HTTPRequest(
            method: method,
            scheme: "http",
            authority: host,
            path: "/",
            headerFields: headers
        )
    }

    @Test func theOwnPagesMayAct() throws {
        try check.check(try head(.post, ["Origin": "http://127.0.0.1:8086"]))
        // Browsers hide the origin where the policy is to send no referrer.
        try check.check(try head(.post, ["Origin": "null", "Sec-Fetch-Site": "same-origin"]))
        try check.check(try head(.get))
    }

    @Test(arguments: [
        [:], ["Origin": "null"], ["Origin": "http://evil.example"],
        ["Origin": "http://127.0.0.1:8085"], ["Origin": "https://127.0.0.1:8086"],
        ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
        ["Sec-Fetch-Site": "none"],
        ["Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"],
        ["Authorization": "Bearer x", "Cookie": "__Host-console=1"],
    ])
    func otherPagesMayNot(_ fields: [String: String]) throws {
        let head = try head(.post, fields)
        #expect(throws: ConsoleProblem.self) { try check.check(head) }
    }

    @Test func aCommandMaySendItsToken() throws {
        try check.check(try head(.post, ["Authorization": "Bearer x"]))
    }

    @Test(arguments: ["evil.example", "127.0.0.1", "localhost:8086", "127.0.0.1:8085"])
    func anotherNameThatLeadsHereIsRefused(_ host: String) throws {
        let head = try head(.get, host: host)
        #expect(throws: ConsoleProblem.self) { try check.check(head) }
    }

    @Test(arguments: [
        "", "x", "ftp://a", "http://", "http://a/b", "http://u@a", "http://a?b", "http://a#b",
    ])
    func whatIsNoOriginIsRefused(_ text: String) {
        #expect(ConsoleOrigin(text) == nil)
    }

    @Test func anOriginIsReadAsBrowsersWriteIt() {
        #expect(
            ConsoleOrigin("https://Console.Example.com/")?.text == "https://console.example.com"
        )
        #expect(ConsoleOrigin("http://127.0.0.1:8086") == .usual)
    }
}
