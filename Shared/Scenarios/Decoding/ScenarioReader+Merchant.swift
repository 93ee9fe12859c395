import StoreAPI

/// The steps of merchants and families after a purchase.
extension ScenarioReader {
    /// Decodes a step whose form is right; `nil` if it is another one, or a name in it is wrong.
    static func decodeMerchant(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        let refused = value["refused"]?.text
        if let payment = value["extend"], let days = value["days"]?.whole {
            return names.subscription(payment).map {
                .extend(payment: $0, days: days, refused: refused)
            }
        }
        if let organizer = value["family"], let others = value["with"]?.elements {
            let named = others.compactMap { names.account($0) }
            guard let organizer = names.account(organizer), named.count == others.count else {
                return nil
            }
            return .family(organizer: organizer, others: named)
        }
        if let member = value["leave"] {
            return names.account(member).map { .leave(account: $0, refused: refused) }
        }
        if let payment = value["ask"] {
            let isDeclined = value["decision"]?.text == "decline"
            return names.payment(payment).map {
                .ask(payment: $0, isDeclined ? .decline : .approve, refused: refused)
            }
        }
        return nil
    }
}
