extension StandInBooks {
    /// The fee of a dispute, as an example of one.
    static let disputeFee: Int64 = 1500

    /// The balance in a currency.
    func balance(in currency: String) -> Int64 {
        movements.filter { $0.json[text: "currency"] == currency }
            .reduce(0) { $0 + ($1.json[number: "net"] ?? 0) }
    }

    /// The whole balance: what was charged is pending, and everything else is available.
    var balance: StandInJSON {
        func parts(_ isPart: (StandInJSON) -> Bool) -> StandInJSON {
            var sums: [String: Int64] = ["usd": 0]
            for movement in movements where isPart(movement.json) {
                sums[movement.json[text: "currency"] ?? "", default: 0] +=
                    movement.json[number: "net"] ?? 0
            }
            return .list(
                sums.sorted { $0.key < $1.key }.map {
                    .object(["amount": .number($0.value), "currency": .text($0.key)])
                }
            )
        }
        return .object([
            "object": .text("balance"), "livemode": .bool(false),
            "available": parts { $0[text: "type"] != "charge" },
            "pending": parts { $0[text: "type"] == "charge" },
        ])
    }

    /// Pays the balance in a currency out to the bank.
    ///
    /// - Throws: ``StandInError`` if there is nothing to pay out.
    mutating func payOut(_ currency: String, at time: Int64) throws(StandInError) {
        let amount = balance(in: currency)
        guard amount > 0 else { throw .invalid("The balance is too low.", "amount") }
        let id = id("po")
        let json = StandInJSON.object([
            "id": .text(id), "object": .text("payout"), "amount": .number(amount),
            "currency": .text(currency), "created": .number(time), "status": .text("paid"),
            "arrival_date": .number(time), "livemode": .bool(false),
        ])
        payouts.append(Plain(id: id, created: time, json: json))
        move("payout", -amount, currency, source: id, at: time)
        tell("payout.paid", of: json, at: time)
    }

    /// The object that caused a movement.
    func source(_ id: String) -> StandInJSON? {
        place(of: id).flatMap { payments[$0].charge?.json }
            ?? place(ofRefund: id).map { refunds[$0].json }
            ?? (disputes + payouts).first { $0.id == id }?.json
    }

    private func expanded(_ movement: StandInJSON) -> StandInJSON {
        guard let id = movement[text: "source"], let source = source(id) else { return movement }
        return movement.adding(["source": source])
    }

    /// The movements as a list shows them, with their sources if these are expanded.
    func movements(expandsSources: Bool) -> [StandInPage.Element] {
        movements.map { movement in
            StandInPage.Element(
                movement.id,
                movement.created,
                expandsSources ? expanded(movement.json) : movement.json
            )
        }
    }
}

extension StandInJSON {
    /// The number of a member.
    subscript(number name: String) -> Int64? {
        guard case .object(let members) = self, case .number(let number)? = members[name] else {
            return nil
        }
        return number
    }
}
