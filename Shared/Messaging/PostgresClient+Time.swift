public import EventTypes
public import Postgres

extension PostgresClient {
    /// The time by the database's clock, which all instances of a service share.
    ///
    /// Leases, due times and whatever else instances compare with each other are told by it: a machine
    /// whose own clock is wrong delays and expires nothing. Before the first connection it is the
    /// machine's, so what decides by it in a database transaction reads it there.
    public var time: Timestamp { Timestamp(clock.now) }
}
