import Foundation
import StoreHarness

/// The measurements of `devstore signing` that need only a processor.
struct SigningRun {
    /// The results.
    struct Report {
        /// The ratio of a signature's time in `receipts` to that in openssl.
        var signing: Double
        /// The ratio of the time to check a JWS with a known chain to that of the bare check of its
        /// signature.
        var verification: Double
        /// The milliseconds to build a receipt.
        var receipt: Double
    }

    /// The output of `receipts measure`, in microseconds.
    private struct Measurement: Decodable {
        var signing = Double.infinity
        var bareCheck = Double.infinity
        var verification = Double.infinity
        var receipt = Double.infinity

        mutating func keepBest(of other: Measurement) {
            signing = min(signing, other.signing)
            bareCheck = min(bareCheck, other.bareCheck)
            verification = min(verification, other.verification)
            receipt = min(receipt, other.receipt)
        }
    }

    let terminal: Terminal
    let keys: StoreKeys

    /// Measures openssl and `receipts` alternately on the same core.
    func measure(rounds: Int) async throws -> Report {
        terminal.heading("One core")
        var best = Measurement()
        var openssl = (sign: Double.infinity, check: Double.infinity)
        for _ in 0..<rounds {
            let speed = try await opensslSpeed()
            openssl = (min(openssl.sign, speed.sign), min(openssl.check, speed.check))
            best.keepBest(of: try await receiptsMeasure())
        }
        func row(_ name: String, _ microseconds: Double) -> [String] {
            [name, String(format: "%.1f", microseconds)]
        }
        terminal.table(
            [
                ["", "µs"],
                row("openssl: a signature", openssl.sign),
                row("receipts: a transaction signed", best.signing),
                row("openssl: a check", openssl.check),
                row("receipts: the bare check of a signature", best.bareCheck),
                row("receipts: a JWS verified, its chain known", best.verification),
                row("receipts: a receipt of 1,000 purchases built", best.receipt),
            ],
            rightAligned: [1]
        )
        return Report(
            signing: best.signing / openssl.sign,
            verification: best.verification / best.bareCheck,
            receipt: best.receipt / 1000
        )
    }

    /// Measures a signature and a check in openssl, in microseconds.
    private func opensslSpeed() async throws -> (sign: Double, check: Double) {
        let output = try await onOneCore("openssl", ["speed", "-seconds", "1", "ecdsap256"])
        // The last line ends with signatures and checks per second.
        let numbers = output.split(separator: "\n").last?.split(separator: " ").suffix(2)
            .compactMap { Double($0) }
        guard let numbers, numbers.count == 2, numbers[0] > 0, numbers[1] > 0 else {
            throw HarnessError("openssl speed printed no numbers:\n\(output)")
        }
        return (1e6 / numbers[0], 1e6 / numbers[1])
    }

    private func receiptsMeasure() async throws -> Measurement {
        let output = try await onOneCore(
            try BuiltExecutables.path("receipts"),
            ["measure"],
            environment: [
                "STORE_ENVIRONMENT": "Sandbox",
                "SIGNING_KEY_FILE": keys.signingKey,
                "SIGNING_CHAIN_FILE": keys.signingChain,
                "LOG_LEVEL": "error",
            ]
        )
        return try JSONDecoder().decode(Measurement.self, from: Data(output.utf8))
    }

    private func onOneCore(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> String {
        var environment = environment
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        // Both have one thread. Running them on the same core excludes differences between cores.
        return try await ChildProcess.run(
            "/usr/bin/taskset",
            ["--cpu-list", "0", program] + arguments,
            environment: environment
        )
    }
}
