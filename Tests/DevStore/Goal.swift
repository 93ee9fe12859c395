import Foundation

/// A number that a measurement is not to exceed.
struct Goal: Sendable {
    private let name: String
    private let measured: Double
    private let limit: Double
    private let digits: Int

    /// Compares whole numbers.
    init(_ name: String, _ measured: Double, _ limit: Int) {
        (self.name, self.measured, self.limit, digits) = (name, measured, Double(limit), 0)
    }

    /// Compares numbers of which two digits behind the point say something, such as ratios.
    init(_ name: String, _ measured: Double, _ limit: Double) {
        (self.name, self.measured, self.limit, digits) = (name, measured, limit, 2)
    }

    /// Whether it is kept.
    var isMet: Bool { measured <= limit }

    fileprivate var cells: [String] {
        ["\(isMet ? "✓" : "✗") \(name)"]
            + [measured, limit].map { String(format: "%.\(digits)f", $0) }
    }
}

extension Terminal {
    /// Shows goals.
    ///
    /// - Returns: Whether all are met.
    func judge(_ goals: [Goal]) -> Bool {
        heading("Goals")
        table([["", "measured", "at most"]] + goals.map(\.cells), rightAligned: [1, 2])
        return goals.allSatisfy(\.isMet)
    }
}
