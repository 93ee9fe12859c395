extension CallTable {
    /// Carries out a call about payments.
    ///
    /// - Throws: ``StandInError``
    mutating func payment(
        _ call: StandInCall,
        _ form: StandInForm
    ) throws(StandInError) -> StandInJSON {
        let parts = call.parts
        let expands = form.expands("latest_charge")
        switch (call.method, parts.count, parts.last) {
        case ("POST", 1, _):
            let place = try create(form)
            return books.payments[place].json(expandsCharge: expands, pages: books.pages)
        case ("GET", 1, _):
            let customer = form["customer"]
            let pages = books.pages
            let list = books.payments.filter { customer == nil || $0.customer == customer }.map {
                StandInPage.Element(
                    $0.id,
                    $0.created,
                    $0.json(expandsCharge: expands, pages: pages)
                )
            }
            return try StandInPage(form, known: ["customer"]).json(list, of: "payment_intents")
        case ("GET", 2, _):
            let place = try books.place(ofPayment: parts[1])
            return books.payments[place].json(expandsCharge: expands, pages: books.pages)
        case ("POST", 2, _):
            try form.check(["metadata"])
            let place = try books.place(ofPayment: parts[1])
            books.payments[place].metadata.merge(form.members("metadata")) { _, new in new }
        case ("POST", 3, "confirm"): try confirm(parts[1], form)
        case ("POST", 3, "cancel"):
            try form.check(["cancellation_reason"])
            try books.cancel(try books.place(ofPayment: parts[1]), at: time)
        default: throw .invalid("Unrecognized request URL (\(call.path)).", status: 404)
        }
        let place = try books.place(ofPayment: parts[1])
        return books.payments[place].json(expandsCharge: expands, pages: books.pages)
    }

    private mutating func create(_ form: StandInForm) throws(StandInError) -> Int {
        try form.check([
            "amount", "currency", "customer", "payment_method", "allowed_payment_method_types",
            "confirm", "off_session", "error_on_requires_action", "return_url", "metadata",
            "description", "statement_descriptor_suffix", "automatic_payment_methods",
        ])
        guard let amount = try form.number("amount") else {
            throw .invalid("Missing required param: amount.", code: "parameter_missing", "amount")
        }
        let currency = try form.required("currency").lowercased()
        let amountMax: Int64 = currency == "idr" ? 999_999_999_999 : 99_999_999
        guard amount > 0, amount <= amountMax else {
            throw .invalid("Invalid amount: \(amount)", code: "parameter_invalid_integer", "amount")
        }
        guard currency != "usd" || amount >= 50 else {
            throw .invalid("The least is 50 cents.", code: "amount_too_small", "amount")
        }
        guard currency.count == 3 else {
            throw .invalid("Invalid currency: \(currency)", code: "parameter_invalid", "currency")
        }
        try checkCustomer(form)
        // A payment method that is refused leaves no payment behind.
        if let name = form["payment_method"] { _ = try books.method(name, of: form["customer"]) }
        guard !form.flag("off_session") || form.flag("confirm") else {
            throw .invalid("off_session needs confirm.", code: "parameter_missing", "confirm")
        }
        let payment = StandInPayment(
            id: books.id("pi"),
            created: time,
            status: form["payment_method"] == nil ? .requiresPaymentMethod : .requiresConfirmation,
            amount: amount,
            currency: currency,
            customer: form["customer"],
            paymentMethod: form["payment_method"],
            metadata: form.members("metadata"),
            returnURL: form["return_url"]
        )
        books.add(payment)
        books.tell("payment_intent.created", ofPayment: payment, at: time)
        let place = books.payments.count - 1
        if form.flag("confirm") {
            try books.confirm(
                place,
                isAway: form.flag("off_session"),
                mayNotAct: form.flag("error_on_requires_action"),
                at: time
            )
        }
        return place
    }

    private mutating func confirm(_ id: String, _ form: StandInForm) throws(StandInError) {
        try form.check([
            "payment_method", "off_session", "return_url", "error_on_requires_action",
        ])
        let place = try books.place(ofPayment: id)
        let status = books.payments[place].status
        guard status == .requiresConfirmation || status == .requiresPaymentMethod else {
            throw books.unexpected(place, "confirmed")
        }
        if let name = form["payment_method"] {
            _ = try books.method(name, of: books.payments[place].customer)
            books.payments[place].paymentMethod = name
        }
        try books.confirm(
            place,
            isAway: form.flag("off_session"),
            mayNotAct: form.flag("error_on_requires_action"),
            at: time
        )
    }
}
