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
    private(set) var refunds: [StandInRefund] = []
    var disputes: [Plain] = []
    var payouts: [Plain] = []
    private(set) var events: [Event] = []
    private(set) var movements: [Plain] = []
    /// The address of the stand-in's own pages.
    var pages = ""
    /// The number of calls that each key's card has troubled, by the key.
    private var troubles: [String: Int] = [:]
    /// The number of declines of a card since it last paid while its buyer was away.
    var declinesAway: [String: Int] = [:]
    /// The places of payments in their list, by their ids and by those of their charges.
    private var places: [String: Int] = [:]
    /// The places of refunds in their list.
    private var refundPlaces: [String: Int] = [:]
    /// The text in every id.
    var series = "standin"
    private var counter = 0

    /// Returns a new id.
    mutating func id(_ prefix: String) -> String {
        counter += 1
        let digits = String(counter)
        return
            "\(prefix)_\(series)\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits)"
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

    /// Adds a payment at the end of its list.
    mutating func add(_ payment: StandInPayment) {
        places[payment.id] = payments.count
        payments.append(payment)
    }

    /// Notes the newest charge of a payment.
    mutating func set(_ charge: StandInCharge, of place: Int) {
        places[charge.id] = place
        payments[place].charge = charge
    }

    /// Adds a refund at the end of its list.
    mutating func add(_ refund: StandInRefund) {
        refundPlaces[refund.id] = refunds.count
        refunds.append(refund)
    }

    /// Changes the state of a refund.
    mutating func set(_ status: String, ofRefund place: Int) { refunds[place].status = status }

    /// The place of a payment, by its id or by that of its charge.
    func place(of id: String) -> Int? { places[id] }

    /// The place of a refund.
    func place(ofRefund id: String) -> Int? { refundPlaces[id] }

    /// Returns the trouble that a card makes at a call under a key, and counts it.
    mutating func trouble(of card: String?, under key: String?) -> StandInFault.Kind? {
        guard let key, let card,
            case .troubled(let kind, let times)? = methods[card]?.card,
            troubles[key, default: 0] < times
        else { return nil }
        troubles[key, default: 0] += 1
        return kind
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
