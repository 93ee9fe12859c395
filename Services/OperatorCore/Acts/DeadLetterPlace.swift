/// The place of a decided dead letter in the list of all services' acts, newest last.
struct DeadLetterPlace: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The time of the decision, or of its effect, in microseconds since 1970.
    let micros: Int64
    /// The rank of the service among the consumers.
    let rank: Int64
    /// The number in the service's table.
    let id: Int64

    /// The place after all others.
    static let end = DeadLetterPlace(micros: .max, rank: .max, id: .max)

    init(micros: Int64, rank: Int64, id: Int64) {
        self.micros = micros
        self.rank = rank
        self.id = id
    }

    /// Reads `micros:rank:id`.
    init?(_ text: String) {
        let numbers = text.split(separator: ":").compactMap { Int64($0) }
        guard numbers.count == 3 else { return nil }
        self.init(micros: numbers[0], rank: numbers[1], id: numbers[2])
    }

    var description: String { "\(micros):\(rank):\(id)" }

    static func < (one: DeadLetterPlace, other: DeadLetterPlace) -> Bool {
        (one.micros, one.rank, one.id) < (other.micros, other.rank, other.id)
    }

    /// The rank of a service.
    static func rank(of service: OperatedService) -> Int64 {
        Int64(OperatedService.consumers.firstIndex(of: service) ?? 0)
    }
}
