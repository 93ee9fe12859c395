/// How fast a payment method answers.
enum ChargeLane: Hashable, Sendable, CaseIterable {
    case prompt
    case slow
}
