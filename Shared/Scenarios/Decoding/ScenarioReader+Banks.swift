import StoreAPI

/// The steps at the buyer's bank.
extension ScenarioReader {
    /// Decodes a step whose form is right; `nil` if it is another one, or a name in it is wrong.
    static func decodeBank(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        let refused = value["refused"]?.text
        if let payment = value["confirm"] {
            let isDeclined = value["decision"]?.text == "decline"
            return names.payment(payment).map {
                .confirm(isDeclined ? .refuse : .complete, payment: $0, refused: refused)
            }
        }
        guard let payment = value["dispute"] else { return nil }
        let step = value["step"]?.text.flatMap { TestDisputeRequest.Step(rawValue: $0) } ?? .open
        return names.payment(payment).map { .dispute(step, payment: $0, refused: refused) }
    }
}
