/// The calls of the API that the stand-in knows.
struct CallTable: Sendable {
    var books: StandInBooks
    let time: Int64

    /// Carries a call out.
    ///
    /// - Returns: The object of the answer.
    /// - Throws: ``StandInError``
    mutating func perform(_ call: StandInCall) throws(StandInError) -> StandInJSON {
        let form = call.form
        let parts = call.parts
        switch (call.method, parts.first ?? "", parts.count) {
        case ("POST", "customers", 1): return try createCustomer(form)
        case ("GET", "customers", 2): return try plain(books.customers, "customer", parts[1])
        case ("POST", "payment_methods", 3) where parts[2] == "attach":
            return try attach(parts[1], form)
        case ("POST", "payment_methods", 3) where parts[2] == "detach":
            return try detach(parts[1], form)
        case ("GET", "payment_methods", 2): return try paymentMethod(parts[1])
        case (_, "setup_intents", _): return try setup(call, form)
        case (_, "payment_intents", _): return try payment(call, form)
        case ("POST", "refunds", 1): return try createRefund(form)
        case ("GET", "refunds", 1): return try listRefunds(form)
        case ("GET", "refunds", 2):
            guard let place = books.place(ofRefund: parts[1]) else {
                throw .missing("refund", parts[1])
            }
            return books.refunds[place].json
        case ("GET", "disputes", 1):
            let list = books.disputes.map { StandInPage.Element($0.id, $0.created, $0.json) }
            return try StandInPage(form, known: ["payment_intent"]).json(list, of: "disputes")
        case ("GET", "disputes", 2): return try dispute(parts[1], form)
        case ("GET", "events", 1):
            let types = Set(form.members("types").values).union([form["type"]].compactMap(\.self))
            let list = books.events.filter { types.isEmpty || types.contains($0.type) }
                .map { StandInPage.Element($0.id, $0.created, $0.json) }
            return try StandInPage(form, known: ["type", "types"]).json(list, of: "events")
        case ("GET", "events", 2):
            guard let event = books.events.first(where: { $0.id == parts[1] }) else {
                throw .missing("event", parts[1])
            }
            return event.json
        case ("GET", "balance", 1):
            try form.check([])
            return books.balance
        case ("GET", "balance_transactions", 1):
            let list = books.movements(expandsSources: form.expands("source"))
            return try StandInPage(form, known: []).json(list, of: "balance_transactions")
        default:
            throw .invalid("Unrecognized request URL (\(call.method): \(call.path)).", status: 404)
        }
    }

    private mutating func createCustomer(_ form: StandInForm) throws(StandInError) -> StandInJSON {
        try form.check(["metadata", "email", "name", "description"])
        let id = books.id("cus")
        let json = StandInJSON.object([
            "id": .text(id), "object": .text("customer"), "created": .number(time),
            "metadata": .texts(form.members("metadata")), "livemode": .bool(false),
            "email": .maybe(form["email"]), "name": .maybe(form["name"]),
        ])
        books.customers.append(StandInBooks.Plain(id: id, created: time, json: json))
        books.tell("customer.created", of: json, at: time)
        return json
    }

    /// Refuses the name of a customer that is not there.
    func checkCustomer(_ form: StandInForm) throws(StandInError) {
        guard let id = form["customer"], !books.customers.contains(where: { $0.id == id }) else {
            return
        }
        throw .invalid("No such customer: '\(id)'", code: "resource_missing", "customer")
    }

    func plain(
        _ list: [StandInBooks.Plain],
        _ kind: String,
        _ id: String
    ) throws(StandInError) -> StandInJSON {
        guard let one = list.first(where: { $0.id == id }) else { throw .missing(kind, id) }
        return one.json
    }

    /// Saves a test card to a customer: a payment method of its own, with the card's behaviour.
    private mutating func attach(
        _ name: String,
        _ form: StandInForm
    ) throws(StandInError) -> StandInJSON {
        try form.check(["customer"])
        let customer = try form.required("customer")
        _ = try plain(books.customers, "customer", customer)
        let method = try save(name, to: customer, isSetUp: false)
        return try paymentMethod(method.id)
    }

    private mutating func detach(
        _ id: String,
        _ form: StandInForm
    ) throws(StandInError) -> StandInJSON {
        try form.check([])
        guard let method = books.methods[id] else { throw .missing("PaymentMethod", id) }
        guard method.customer != nil else {
            throw .invalid("The payment method is not attached to a customer.", "payment_method")
        }
        books.methods[id]?.customer = nil
        let json = try paymentMethod(id)
        books.tell("payment_method.detached", of: json, at: time)
        return json
    }

    /// A saved payment method, whose card always looks the same.
    func paymentMethod(_ id: String) throws(StandInError) -> StandInJSON {
        guard let method = books.methods[id] else { throw .missing("PaymentMethod", id) }
        return .object([
            "id": .text(method.id), "object": .text("payment_method"), "type": .text("card"),
            "customer": .maybe(method.customer), "created": .number(time),
            "livemode": .bool(false),
            "card": .object([
                "brand": .text("visa"), "last4": .text(method.lastFour), "exp_month": .number(12),
                "exp_year": .number(2040),
            ]),
        ])
    }

    mutating func save(
        _ name: String,
        to customer: String?,
        isSetUp: Bool
    ) throws(StandInError) -> StandInBooks.Method {
        if var method = books.methods[name] {
            method.customer = customer
            method.isSetUp = method.isSetUp || isSetUp
            books.methods[name] = method
            return method
        }
        guard let card = TestCard(name: name) else { throw .missing("PaymentMethod", name) }
        let method = StandInBooks.Method(
            id: books.id("pm"),
            card: card,
            customer: customer,
            isSetUp: isSetUp
        )
        books.methods[method.id] = method
        return method
    }

    private mutating func createRefund(_ form: StandInForm) throws(StandInError) -> StandInJSON {
        try form.check(["payment_intent", "amount", "metadata", "reason"])
        let id = try form.required("payment_intent")
        let place = try books.place(ofPayment: id)
        let name = books.payments[place].paymentMethod ?? ""
        return try books.refund(
            id,
            try form.number("amount"),
            metadata: form.members("metadata"),
            card: books.methods[name]?.card ?? TestCard(name: name) ?? .succeeds,
            at: time
        ).json
    }

    private func dispute(_ id: String, _ form: StandInForm) throws(StandInError) -> StandInJSON {
        try form.check([])
        let json = try plain(books.disputes, "dispute", id)
        guard form.expands("payment_intent"), let payment = json[text: "payment_intent"] else {
            return json
        }
        let place = try books.place(ofPayment: payment)
        return json.adding([
            "payment_intent": books.payments[place].json(
                expandsCharge: false,
                pages: books.pages
            )
        ])
    }

    private func listRefunds(_ form: StandInForm) throws(StandInError) -> StandInJSON {
        let payment = form["payment_intent"]
        let list = books.refunds.filter { payment == nil || $0.payment == payment }
            .map { StandInPage.Element($0.id, $0.created, $0.json) }
        return try StandInPage(form, known: ["payment_intent"]).json(list, of: "refunds")
    }
}
