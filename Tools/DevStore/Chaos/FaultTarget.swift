/// What a fault can strike.
enum FaultTarget: Hashable, Sendable, CustomStringConvertible {
    /// A service's process, by its name.
    case process(String)
    /// A node of the broker; the development broker has one, which forgets its whole log when killed.
    case broker(Int)
    /// PostgreSQL, its first process and all its backends.
    case postgres
    /// What is between a service's process and PostgreSQL.
    case databaseLine(String)
    /// What is between all services and the broker.
    case brokerLine
    /// The file system of PostgreSQL's data and write-ahead log.
    case disk

    /// What only one fault at a time may strike.
    ///
    /// Of several brokers only one is struck at a time: without a majority there would be nothing left to
    /// test. PostgreSQL and its disk count as one.
    enum Part: Hashable, Sendable {
        case process(String)
        case brokers
        case postgres
        case line(String)
    }

    /// The part that it belongs to.
    var part: Part {
        switch self {
        case .process(let name): .process(name)
        case .broker: .brokers
        case .postgres, .disk: .postgres
        case .databaseLine(let name): .line(name)
        case .brokerLine: .line("")
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
        }
    }
}
