import EventTypes

/// The values of a file whose form is right; `nil` where it is not.
extension LocatedValue {
    /// A whole number.
    var whole: Int? { text.flatMap { Int($0) } }
    /// A flag.
    var flag: Bool? { text.flatMap { Bool($0) } }
    /// A service.
    var service: ServiceName? { text.flatMap(ServiceName.init(rawValue:)) }
    /// An amount.
    var money: Money? { text.flatMap { Money(scenario: $0) } }
    /// The length of a subscription's period.
    var period: SubscriptionPeriod? { text.flatMap { SubscriptionPeriod(scenario: $0) } }
}
