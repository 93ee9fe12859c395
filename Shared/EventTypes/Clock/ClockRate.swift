/// The speed of the store's clock compared with the machines' clock.
///
/// It is never slower than the machines' clock: a store that falls behind its processor would charge
/// on one day and sign receipts for another.
public struct ClockRate: Hashable, Sendable {
    /// The speed of the machines' clock.
    public static let one = ClockRate(numerator: 1, denominator: 1)
    /// The largest rate: about a year of the store in a second.
    public static let max: Int64 = 31_622_400

    /// The milliseconds that pass in the store while ``denominator`` pass on the machines.
    private let numerator: Int64
    /// The milliseconds that pass on the machines; it has no common divisor with ``numerator``.
    private let denominator: Int64

    private init(numerator: Int64, denominator: Int64) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// Makes a rate: so much time passes in the store while so much passes on the machines.
    ///
    /// It is `nil` if the rate is less than 1 or more than ``max``, or a time longer than ``ClockSpan/max``.
    ///
    /// - Parameters:
    ///   - store: The time that passes in the store, such as a day.
    ///   - machine: The time that passes on the machines meanwhile, such as an hour.
    public init?(_ store: Duration, each machine: Duration) {
        guard store <= ClockSpan.max, machine <= ClockSpan.max else { return nil }
        let (numerator, denominator) = (store.milliseconds, machine.milliseconds)
        guard denominator > 0, numerator >= denominator else { return nil }
        let divisor = Self.divisor(numerator, denominator)
        self.init(numerator: numerator / divisor, denominator: denominator / divisor)
        let (largest, overflows) = self.denominator.multipliedReportingOverflow(by: Self.max)
        guard overflows || self.numerator <= largest else { return nil }
    }

    /// Returns the time that passes in the store while a time passes on the machines.
    ///
    /// - Parameter elapsed: The time on the machines, at least zero.
    /// - Returns: The time, rounded down to the millisecond; `nil` if it is too large a number.
    func passed(in elapsed: Duration) -> Int64? {
        let product = elapsed.milliseconds.multipliedFullWidth(by: numerator)
        // The quotient has to fit into 63 bits, or the division would trap.
        guard product.high * 2 + Int64(product.low >> 63) < denominator else { return nil }
        return denominator.dividingFullWidth(product).quotient
    }

    /// The rate as two spans, of which the machines' is a multiple of the denominator; `nil` if a span
    /// would be too long.
    func text(scaledBy scale: Int64) -> String? {
        func span(_ number: Int64) -> ClockSpan? {
            let (milliseconds, overflows) = number.multipliedReportingOverflow(by: scale)
            return overflows ? nil : ClockSpan(.milliseconds(milliseconds))
        }
        guard let machine = span(denominator), let store = span(numerator) else { return nil }
        return "\(machine)=\(store)"
    }

    private static func divisor(_ first: Int64, _ second: Int64) -> Int64 {
        var (larger, smaller) = (first, second)
        while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
        return larger
    }
}
