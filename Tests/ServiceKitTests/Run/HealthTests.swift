import Foundation
import Logging
import Synchronization
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct HealthTests {
    @Test func readinessNamesWhatItWaitsFor() async throws {
        let isConnected = Mutex(false)
        let checks = [
            ReadinessCheck("postgres") { isConnected.withLock { $0 } },
            ReadinessCheck("kafka") { true },
        ]
        let answers = try await withServer(readiness: checks) { port, _ in
            let live = try await send("GET", "/health/live", to: port)
            let waiting = try await send("GET", "/health/ready", to: port)
            isConnected.withLock { $0 = true }
            return [live, waiting, try await send("GET", "/health/ready", to: port)]
        }
        #expect(answers.map(\.status) == [200, 503, 200])
        #expect(answers[0].body == #"{"status":"live","version":"\#(ServiceHelp.version)"}"#)
        #expect(try answers[1].field("code") == "not_ready")
        #expect(try answers[1].field("detail") == "Waiting for: postgres.")
        #expect(answers[2].body == #"{"checks":["postgres","kafka"],"status":"ready"}"#)
    }

    @Test func aServiceThatIsReadyNamesWhatItWarnsOf() async throws {
        let problem = Mutex<String?>("it does not answer")
        let checks = [
            ReadinessCheck("postgres") { true },
            ReadinessCheck.warning("processor") { problem.withLock { $0 } },
        ]
        let answers = try await withServer(readiness: checks) { port, _ in
            let warned = try await send("GET", "/health/ready", to: port)
            problem.withLock { $0 = nil }
            return [warned, try await send("GET", "/health/ready", to: port)]
        }
        #expect(answers.map(\.status) == [200, 200])
        let ready = #""checks":["postgres","processor"],"status":"ready""#
        #expect(
            answers.map(\.body) == [
                "{\(ready),\"warnings\":[\"processor (it does not answer)\"]}", "{\(ready)}",
            ]
        )
        #expect(await checks.failing() == [])
    }

    @Test func metricsArePrometheusText() async throws {
        let answer = try await withServer { port, _ in
            try await send("GET", "/metrics", to: port)
        }
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.body.contains("process_cpu_seconds_total"))
    }

    @Test func theLogTellsWhenAServiceBecomesReadyAndCeasesToBe() async throws {
        let isConnected = Mutex(false)
        let (lines, log) = AsyncStream.makeStream(of: String.self)
        let logger = Logger(label: "test") { label in
            LogOutput(label: label, write: { log.yield($0) })
        }
        let reporter = ReadinessReporter(
            checks: [ReadinessCheck("postgres") { isConnected.withLock { $0 } }],
            logger: logger,
            warnEvery: .milliseconds(100),
            lookEvery: .milliseconds(50)
        )
        try await withRunning([reporter]) { _ in
            var iterator = lines.makeAsyncIterator()
            #expect(await iterator.next()?.contains("not ready readiness.failing=postgres") == true)
            isConnected.withLock { $0 = true }
            var line = await iterator.next()
            while line?.contains("not ready") == true { line = await iterator.next() }
            #expect(line?.contains("ready ready.milliseconds=") == true)
            isConnected.withLock { $0 = false }
            #expect(await iterator.next()?.contains("not ready readiness.failing=postgres") == true)
        }
    }
}
