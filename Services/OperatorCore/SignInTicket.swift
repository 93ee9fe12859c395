/// The answer of the console to an administrator's token.
package struct SignInTicket: Codable, Hashable, Sendable {
    /// The address for a browser, with the ticket in its fragment.
    package let url: String
    /// The seconds for which it is good.
    package let secondsLeft: Int

    /// Makes a ticket.
    package init(url: String, secondsLeft: Int) {
        self.url = url
        self.secondsLeft = secondsLeft
    }
}
