public import EventTypes
public import Postgres

extension PostgresClient {
    /// The time of the database's clock, which all instances of a service share.
    ///
    /// Instances use it for everything they compare with each other, such as leases and due times,
    /// so a machine with a wrong clock neither delays nor expires anything. Before the first
    /// connection it is the machine's own time. A decision in a database transaction therefore
    /// reads the time inside that database transaction.
    public var machineTime: MachineTime { MachineTime(clock.now) }
}
