/// The speed of a payment method.
enum ChargeLane: Hashable, Sendable, CaseIterable {
    case prompt
    case slow
}
