import Foundation
import Postgres
import Testing
import TestSupport

/// The probe of a server that cannot do its work.
@Suite(.timeLimit(.minutes(10))) struct PostgresProbeTests {
    /// Runs a body with its own server, a client of that server, and a probe.
    private func withProbe(
        _ body: (PostgresCluster, PostgresClient, PostgresProbe) async throws -> Void
    ) async throws {
        let directory = "/tmp/counterfoil-probe-\(UUID().uuidString.prefix(8))"
        let cluster = try PostgresCluster(
            directory: directory,
            isDurable: false,
            settings: ["autovacuum=off"]
        )
        try await cluster.start()
        defer {
            // The server is stopped whatever the result of the test is; a frozen server would
            // otherwise outlive it.
            try? cluster.thaw()
            try? cluster.stop(.immediate)
            try? FileManager.default.removeItem(atPath: directory)
        }
        try await cluster.createDatabase("shop")
        let settings = PostgresSettings(
            url: cluster.url(database: "shop"),
            applicationName: "tests",
            poolSize: 2
        )
        try await withRunningClient(settings) { client async throws in
            let probe = PostgresProbe(of: client)
            let asking = Task { try await probe.run() }
            defer { asking.cancel() }
            try await say(nil, by: probe)
            try await body(cluster, client, probe)
        }
    }

    /// Waits until the probe reports a problem, or `nil`.
    ///
    /// It promises ten seconds. A busy machine takes longer.
    private func say(_ problem: String?, by probe: PostgresProbe) async throws {
        do {
            try await eventually(
                within: .seconds(60),
                "\(problem ?? "that all is well")"
            ) {
                probe.problem == problem ? true : nil
            }
        } catch {
            throw HarnessError("\(error) It says: \(probe.problem ?? "nothing")")
        }
    }

    /// Changes a setting of the whole server, which takes effect in its sessions at once.
    private func set(_ setting: String, on cluster: PostgresCluster) async throws {
        let client = PostgresSettings(
            url: cluster.url(database: "postgres", role: "postgres")
                + "?options=-cdefault_transaction_read_only%3Doff",
            applicationName: "tests-superuser",
            poolSize: 1
        )
        try await withRunningClient(client) { client async throws in
            try await client.withConnection { connection in
                try connection.execute("ALTER SYSTEM \(unsafe: setting)")
                try connection.execute("SELECT pg_reload_conf()")
            }
        }
    }

    @Test func aFrozenServerIsReportedAndItsThawToo() async throws {
        try await withProbe { cluster, _, probe in
            try cluster.freeze()
            try await say("PostgreSQL does not answer", by: probe)
            try cluster.thaw()
            try await say(nil, by: probe)
        }
    }

    @Test func aServerThatOnlyReadsIsReported() async throws {
        try await withProbe { cluster, _, probe in
            try await set("SET default_transaction_read_only = on", on: cluster)
            try await say("PostgreSQL is read-only", by: probe)
            try await set("RESET default_transaction_read_only", on: cluster)
            try await say(nil, by: probe)
        }
    }

    /// A limit of the server that refuses the probe's file as a full disk does.
    @Test func aServerWithoutRoomForAFileIsReported() async throws {
        try await withProbe { cluster, _, probe in
            try await set("SET temp_file_limit = '8kB'", on: cluster)
            try await say("53400: PostgreSQL has no room", by: probe)
            try await set("RESET temp_file_limit", on: cluster)
            try await say(nil, by: probe)
        }
    }

    @Test func aFullDiskIsReportedThoughTheProbeFindsRoom() async throws {
        try await withProbe { _, client, probe in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try connection.execute(
                        """
                        DO $$ BEGIN
                            RAISE 'could not extend file' USING ERRCODE = 'disk_full';
                        END $$
                        """
                    )
                }
            }
            #expect(error?.sqlState == "53100")
            #expect(probe.problem == "53100: PostgreSQL's disk is full")
            try await say(nil, by: probe)
        }
    }

    @Test func aServerThatIsAwayIsReportedAndItsReturnToo() async throws {
        try await withProbe { cluster, _, probe in
            try cluster.stop(.immediate)
            try await say("PostgreSQL cannot be reached", by: probe)
            try await cluster.start()
            try await say(nil, by: probe)
        }
    }

    @Test func aProbeOfAServerAtRestLeavesNothingBehind() async throws {
        try await withProbe { cluster, _, probe in
            let (next, files) = try await marks(of: cluster)
            try await eventually("several probes") {
                try await marks(of: cluster).files >= files + 2 ? true : nil
            }
            #expect(try await marks(of: cluster).next == next, "It takes no number to write under.")
        }
    }

    /// The id of the next writing database transaction, and the number of temporary files written
    /// in the database.
    private func marks(of cluster: PostgresCluster) async throws -> (next: String, files: Int64) {
        try await cluster.asSuperuser { connection in
            try connection.query(
                """
                SELECT pg_snapshot_xmax(pg_current_snapshot())::text,
                    (SELECT temp_files FROM pg_stat_database WHERE datname = 'shop')
                """
            )[0].decode(String.self, Int64.self)
        }
    }
}
