package import EventTypes

/// A request to extend all subscribers of a product, and how far the store has come.
package struct ListedMassExtension: Hashable, Sendable {
    /// The request, with its counts so far.
    package let request: MassExtension
    /// The act of the administrator who asked; `nil` if a merchant's server did.
    package let act: Act?
    /// The part of the subscriptions that were looked at, in whole percent.
    package let share: Int

    /// Makes a listed request.
    package init(request: MassExtension, act: Act?, share: Int) {
        self.request = request
        self.act = act
        self.share = share
    }

    /// The part of a range of ids that lies before one of them, in whole percent.
    ///
    /// Ids have gaps, so this is about right, and never 100 before the end.
    static func share(of id: Int64, from first: Int64, to last: Int64) -> Int {
        guard id > first, last > first else { return 0 }
        return min(99, Int(Double(id - first) / Double(last - first) * 100))
    }
}
