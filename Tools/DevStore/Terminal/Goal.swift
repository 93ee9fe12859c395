import Foundation

/// A number that a measurement must not exceed, or must reach.
struct Goal: Sendable {
    let name: String
    let measured: Double
    let limit: Double
    private let digits: Int
    /// Whether the measurement must reach the limit, and not stay below it.
    let isFloor: Bool

    /// Compares whole numbers.
    init(_ name: String, _ measured: Double, _ limit: Int) {
        (self.name, self.measured, self.limit, digits) = (name, measured, Double(limit), 0)
        isFloor = false
    }

    /// Compares numbers with two significant decimals, such as ratios.
    init(_ name: String, _ measured: Double, _ limit: Double) {
        (self.name, self.measured, self.limit, digits) = (name, measured, limit, 2)
        isFloor = false
    }

    /// Compares a ratio with the one it must reach.
    init(_ name: String, _ measured: Double, atLeast limit: Double) {
        (self.name, self.measured, self.limit, digits) = (name, measured, limit, 2)
        isFloor = true
    }

    /// Whether the goal is met.
    var isMet: Bool { isFloor ? measured >= limit : measured <= limit }

    fileprivate var cells: [String] {
        let numbers = [measured, limit].map { String(format: "%.\(digits)f", $0) }
        return ["\(isMet ? "✓" : "✗") \(name)", numbers[0], (isFloor ? "≥ " : "≤ ") + numbers[1]]
    }
}

extension Terminal {
    /// Shows goals.
    ///
    /// - Returns: Whether all goals are met.
    func judge(_ goals: [Goal]) -> Bool {
        heading("Goals")
        table([["", "measured", "goal"]] + goals.map(\.cells), rightAligned: [1, 2])
        return goals.allSatisfy(\.isMet)
    }
}
