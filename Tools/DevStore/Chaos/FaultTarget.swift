/// The targets of faults.
enum FaultTarget: Hashable, Sendable, CustomStringConvertible {
    /// A process of a service, by its name.
    case process(String)
    /// A node of the broker. The development broker has one node, which loses its whole log when
    /// killed.
    case broker(Int)
    /// PostgreSQL with its main process and all backends.
    case postgres
    /// The connection between a service's process and PostgreSQL.
    case databaseLine(String)
    /// The connections between all services and the broker.
    case brokerLine
    /// The file system of PostgreSQL's data and write-ahead log.
    case disk
    /// The stand-in for Stripe.
    case processor

    /// The parts of which only one fault at a time may strike each.
    ///
    /// Only one of several brokers is struck at a time: without a majority nothing would be left to
    /// test. PostgreSQL and its disk count as one part.
    enum Part: Hashable, Sendable {
        case process(String)
        case brokers
        case postgres
        case line(String)
        case processor
    }

    /// The part that the target belongs to.
    var part: Part {
        switch self {
        case .process(let name): .process(name)
        case .broker: .brokers
        case .postgres, .disk: .postgres
        case .databaseLine(let name): .line(name)
        case .brokerLine: .line("")
        case .processor: .processor
        }
    }

    var description: String {
        switch self {
        case .process(let name): name
        case .broker(let node): "broker \(node)"
        case .postgres: "postgresql"
        case .databaseLine(let name): "\(name) to postgresql"
        case .brokerLine: "services to broker"
        case .disk: "postgresql's disk"
        case .processor: "stripe"
        }
    }
}
