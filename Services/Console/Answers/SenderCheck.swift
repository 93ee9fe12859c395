import HTTPTypes

/// Decides whether a request comes from a page of this console.
///
/// Pure.
struct SenderCheck: Sendable {
    let origin: ConsoleOrigin

    /// Checks what a request says about its sender.
    ///
    /// - Throws: ``ConsoleProblem`` 421 for another host, which leads here by a trick of its DNS
    ///   server; 403 for a request that another page sent.
    func check(_ head: HTTPRequest) throws(ConsoleProblem) {
        // A command sends a token and no cookie, and knows the console by any name. No page can make a
        // browser send a token that it has not got.
        if head.headerFields[.authorization] != nil, head.headerFields[.cookie] == nil { return }
        guard let host = head.authority, origin.isNamed(by: host) else {
            throw ConsoleProblem(
                421,
                "This is another server",
                "Open the console at \(origin.text)."
            )
        }
        guard head.method != .get, head.method != .head else { return }
        guard isFromOwnPage(head) else {
            throw ConsoleProblem(
                403,
                "Another page sent this",
                "Only the console’s own pages can act here. Nothing was done."
            )
        }
    }

    private func isFromOwnPage(_ head: HTTPRequest) -> Bool {
        if let sent = head.headerFields[.origin], sent != "null", sent != origin.text {
            return false
        }
        if let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ head.headerFields[$0] }) {
            return site == "same-origin"
        }
        return head.headerFields[.origin] == origin.text
    }
}
