/// Everything that the stand-in knows: its account, its buyers, what they paid and what was told.
///
/// Pure: times are arguments, and ids are counted.
struct StandInBooks: Sendable {
    /// A saved or a named payment method.
    struct Method: Sendable {
        let id: String
        var card: TestCard
        var customer: String?
        var lastFour = "4242"
        /// Whether it was saved with the buyer's confirmation.
        var isSetUp = false
    }

    /// Anything else that only has an id and members.
    struct Plain: Sendable {
        let id: String
        let created: Int64
        var json: StandInJSON
    }

    /// An event, as it is listed and sent.
    struct Event: Sendable {
        let id: String
        let created: Int64
        let type: String
        let json: StandInJSON
    }

    /// The version of the API that events name.
    static let version = "2026-10-28.endive"

    var customers: [Plain] = []
    var methods: [String: Method] = [:]
    var setups: [Plain] = []
    var payments: [StandInPayment] = []
    var refunds: [StandInRefund] = []
    var disputes: [Plain] = []
    var payouts: [Plain] = []
    private(set) var events: [Event] = []
    private(set) var movements: [Plain] = []
    /// The address of the stand-in's own pages.
    var pages = ""
    private var counter = 0

    /// Returns a new id.
    mutating func id(_ prefix: String) -> String {
        counter += 1
        let digits = String(counter)
        return
            "\(prefix)_standin\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits)"
    }

    /// Tells of a change.
    mutating func tell(_ type: String, of object: StandInJSON, at time: Int64) {
        let id = id("evt")
        let json = StandInJSON.object([
            "id": .text(id), "object": .text("event"), "type": .text(type),
            "created": .number(time), "livemode": .bool(false), "pending_webhooks": .number(1),
            "api_version": .text(Self.version), "data": .object(["object": object]),
        ])
        events.append(Event(id: id, created: time, type: type, json: json))
    }

    /// Tells that money of the balance can be paid out; a balance has no id.
    mutating func tellBalance(at time: Int64) {
        let json = StandInJSON.object(["object": .text("balance"), "livemode": .bool(false)])
        tell("balance.available", of: json, at: time)
    }

    /// Moves the balance.
    ///
    /// The fee of a charge is 2.9 % and 30 units, as an example of one.
    @discardableResult
    mutating func move(
        _ type: String,
        _ amount: Int64,
        _ currency: String,
        fee: Int64? = nil,
        source: String,
        at time: Int64
    ) -> StandInJSON {
        let fee = fee ?? (type == "charge" ? amount * 29 / 1000 + 30 : 0)
        let id = id("txn")
        let json = StandInJSON.object([
            "id": .text(id), "object": .text("balance_transaction"), "type": .text(type),
            "amount": .number(amount), "fee": .number(fee), "net": .number(amount - fee),
            "currency": .text(currency), "created": .number(time), "source": .text(source),
            "status": .text("pending"),
        ])
        movements.append(Plain(id: id, created: time, json: json))
        return json
    }

    /// Tells of a payment as it is now.
    mutating func tell(_ type: String, ofPayment payment: StandInPayment, at time: Int64) {
        tell(type, of: payment.json(expandsCharge: false, pages: pages), at: time)
    }
}
