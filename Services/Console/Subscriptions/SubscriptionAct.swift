/// An act of an administrator about a subscription.
enum SubscriptionAct: String, CaseIterable, Sendable {
    /// Turn its renewal off.
    case cancel
    /// Turn its renewal on again.
    case resume
    /// Charge now for the period that is owed, as if it were due.
    case charge
    /// Let the paid period end later, by days that nobody pays.
    case extend
    /// Charge now for what is owed, by a method that succeeds; a sandbox alone has it.
    case retry
    /// Charge now for the next period; a sandbox alone has it.
    case renew
}
