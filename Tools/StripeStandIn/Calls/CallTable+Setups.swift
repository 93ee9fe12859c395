extension CallTable {
    /// Carries out a call about setup intents.
    ///
    /// - Throws: ``StandInError``
    mutating func setup(
        _ call: StandInCall,
        _ form: StandInForm
    ) throws(StandInError) -> StandInJSON {
        let parts = call.parts
        switch (call.method, parts.count, parts.last) {
        case ("POST", 1, _): return try createSetup(form)
        case ("GET", 2, _): return try plain(books.setups, "setup_intent", parts[1])
        case ("POST", 3, "confirm"):
            try form.check(["payment_method", "return_url"])
            _ = try plain(books.setups, "setup_intent", parts[1])
            return try confirmSetup(parts[1], try form.required("payment_method"))
        default: throw .invalid("Unrecognized request URL (\(call.path)).", status: 404)
        }
    }

    private mutating func createSetup(_ form: StandInForm) throws(StandInError) -> StandInJSON {
        try form.check([
            "customer", "usage", "allowed_payment_method_types", "metadata", "payment_method",
            "confirm", "return_url",
        ])
        try checkCustomer(form)
        let id = books.id("seti")
        let json = StandInJSON.object([
            "id": .text(id), "object": .text("setup_intent"), "created": .number(time),
            "status": .text("requires_payment_method"), "payment_method": .null,
            "customer": .maybe(form["customer"]), "usage": .text(form["usage"] ?? "off_session"),
            "metadata": .texts(form.members("metadata")), "livemode": .bool(false),
            "client_secret": .text("\(id)_secret_standin"),
        ])
        books.setups.append(StandInBooks.Plain(id: id, created: time, json: json))
        guard form.flag("confirm"), let name = form["payment_method"] else { return json }
        return try confirmSetup(id, name)
    }

    /// Confirms at once, also with a card whose bank asks: the buyer is present and agrees.
    private mutating func confirmSetup(
        _ id: String,
        _ name: String
    ) throws(StandInError) -> StandInJSON {
        guard let index = books.setups.firstIndex(where: { $0.id == id }) else {
            throw .missing("setup_intent", id)
        }
        let customer = books.setups[index].json[text: "customer"]
        let method = try save(name, to: customer, isSetUp: true)
        let json = books.setups[index].json.adding([
            "status": .text("succeeded"), "payment_method": .text(method.id),
        ])
        books.setups[index].json = json
        books.tell("setup_intent.succeeded", of: json, at: time)
        return json
    }
}
