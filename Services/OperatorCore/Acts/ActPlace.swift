/// The place of an act in a list of acts that no log has, newest last.
package struct ActPlace: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The time of the decision, or of its effect, in microseconds since 1970.
    package let micros: Int64
    /// The order among acts of one moment: of services, or of decisions about one thing.
    package let rank: Int64
    /// The number of what was decided about.
    package let id: Int64

    /// The place after all others.
    package static let end = ActPlace(micros: .max, rank: .max, id: .max)

    package init(micros: Int64, rank: Int64, id: Int64) {
        self.micros = micros
        self.rank = rank
        self.id = id
    }

    /// Reads `micros:rank:id`.
    package init?(_ text: String) {
        let numbers = text.split(separator: ":").compactMap { Int64($0) }
        guard numbers.count == 3 else { return nil }
        self.init(micros: numbers[0], rank: numbers[1], id: numbers[2])
    }

    /// The moment of the place, as a number that is exact in SQL: from 1970 to the year 2255.
    var moment: Int64 { min(max(0, micros), 9_000_000_000_000_000) }

    /// The number below which the acts of a rank come before the place, among those of its moment.
    func bound(of rank: Int64) -> Int64 {
        rank < self.rank ? Int64.max : rank == self.rank ? id : Int64.min
    }

    package var description: String { "\(micros):\(rank):\(id)" }

    package static func < (one: ActPlace, other: ActPlace) -> Bool {
        (one.micros, one.rank, one.id) < (other.micros, other.rank, other.id)
    }

    /// The rank of a service among those that have dead letters.
    static func rank(of service: OperatedService) -> Int64 {
        Int64(OperatedService.consumers.firstIndex(of: service) ?? 0)
    }
}
