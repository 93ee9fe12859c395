public import EventTypes

/// The routes of tests, which only a sandbox has.
extension Routes {
    /// `payments`, administrators: what tests have a sandbox do; only a sandbox has it.
    public static let adminTest = "/v1/admin/test"

    /// `payments`, administrators: what a test has the sandbox do with an account.
    ///
    /// `GET ?bundleID=com.example.app`, `PUT`, `DELETE ?bundleID=`.
    public static func testSettings(_ id: AccountID) -> String {
        "\(adminTest)/accounts/\(percentEncoded(id.rawValue))"
    }
    /// `payments`, administrators: have a buyer's bank dispute a purchase, or end the dispute.
    ///
    /// `POST`.
    public static func testDispute(_ id: TransactionID) -> String {
        "\(adminTest)/transactions/\(id)/dispute"
    }
    /// `payments`, administrators: end the running period now, and begin the next one.
    ///
    /// `POST`.
    public static func testRenewal(_ id: TransactionID) -> String {
        "\(adminTest)/subscriptions/\(id)/renewal"
    }
    /// `payments`, administrators: end a subscription now.
    ///
    /// `POST`.
    public static func testExpiry(_ id: TransactionID) -> String {
        "\(adminTest)/subscriptions/\(id)/expiry"
    }
    /// `payments`, administrators: charge for an unpaid period now, by a method that succeeds.
    ///
    /// `POST`.
    public static func testResolution(_ id: TransactionID) -> String {
        "\(adminTest)/subscriptions/\(id)/resolution"
    }

    /// `payments`, administrators: ask a subscriber about a higher price now, or answer for them.
    ///
    /// `POST`, `PUT`.
    public static func testPriceIncrease(_ id: TransactionID) -> String {
        "\(adminTest)/subscriptions/\(id)/price-increase"
    }
}
