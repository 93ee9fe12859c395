import Foundation
import Postgres
import StoreHarness

extension Ceiling {
    /// The folder of the scripts.
    private static let directory = SourceTree.root
        .appendingPathComponent("deploy/benchmarks/ceiling")

    /// Returns the text of a script.
    static func text(of script: String) throws -> String {
        try String(contentsOf: directory.appendingPathComponent(script + ".sql"), encoding: .utf8)
    }

    /// Runs pgbench.
    ///
    /// - Parameters:
    ///   - session: In whose place.
    ///   - script: What each client does, again and again.
    ///   - variables: `name=value`, beside those that all scripts have.
    ///   - clients: How many there are.
    ///   - rounds: How often each does it.
    ///   - mode: Of the protocol: the services prepare their statements.
    /// - Returns: The seconds it took once all clients were connected.
    /// - Throws: ``HarnessError`` if a statement fails.
    @discardableResult
    func pgbench(
        _ session: CeilingTransaction.Session,
        script: String,
        variables: [String] = [],
        clients: Int,
        rounds: Int,
        mode: String = "prepared"
    ) async throws -> Double {
        let name = database(session.service)
        let path = "\(store.directory)/\(name)-\(session.rawValue).sql"
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        let places = try await logPlaces(in: name)
        let all =
            variables + places
            + [
                "accounts=\(accounts)", "partitions=\(store.options.partitions)",
                "relayed_topic=ceiling",
            ]
        let output = try await ChildProcess.run(
            try PostgresCluster.program("pgbench"),
            [
                "--no-vacuum", "--protocol=\(mode)", "--client=\(clients)", "--jobs=1",
                "--transactions=\(rounds)", "--host=127.0.0.1", "--port=\(store.cluster.port)",
                "--username=\(PostgresCluster.owner)", "--file=\(path)",
            ] + all.map { "--define=\($0)" } + [name],
            // These are the settings of the services' sessions: statistics of tables that grow from
            // nothing mislead the planner.
            environment: [
                "PGOPTIONS": "-c enable_seqscan=off -c enable_hashjoin=off "
                    + "-c enable_mergejoin=off -c jit=off -c timezone=UTC"
            ]
        )
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
            let rate = Double(line.dropFirst(6).prefix { $0 != " " }), rate > 0,
            !output.contains("ERROR")
        else { throw HarnessError("pgbench did not report its rate: \(output)") }
        return Double(clients * rounds) / rate
    }

    /// The places up to which the log and the ledger were read, from which the scripts continue.
    private func logPlaces(in name: String) async throws -> [String] {
        try await store.withDatabase(named: name) { connection in
            let place = try connection.query(
                "SELECT xid::text, position FROM relay_place"
            ).first?.decode(String.self, Int64.self)
            let seal = try connection.query(
                """
                SELECT last_xid::text, last_position FROM log_seals WHERE log = 'ledger'
                ORDER BY month DESC, number DESC LIMIT 1
                """
            ).first?.decode(String.self, Int64.self)
            return [
                "relayed_xid=\(place?.0 ?? "0")", "relayed_position=\(place?.1 ?? 0)",
                "sealed_xid=\(seal?.0 ?? "0")", "sealed_position=\(seal?.1 ?? 0)",
            ]
        }
    }
}
