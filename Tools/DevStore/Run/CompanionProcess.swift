import Foundation
import NIOHTTP1
import StoreHarness

/// A program that runs beside the store of `devstore run`.
struct CompanionProcess {
    /// The name of the program.
    let name: String
    /// The address for a browser.
    let url: String

    private let child: ChildProcess

    /// Starts a program and waits until it answers.
    ///
    /// - Parameters:
    ///   - name: The name of the executable.
    ///   - arguments: Its arguments.
    ///   - settings: Variables beside those of this process.
    ///   - url: The address at which it answers.
    ///   - folder: The folder for its log.
    /// - Returns: The running program.
    /// - Throws: ``HarnessError`` if it does not start.
    static func start(
        _ name: String,
        _ arguments: [String] = [],
        settings: [String: String] = [:],
        at url: String,
        logsIn folder: String
    ) async throws -> CompanionProcess {
        let process = CompanionProcess(
            name: name,
            url: url,
            child: try await ChildProcess.start(
                try BuiltExecutables.path(name),
                arguments,
                environment: ProcessInfo.processInfo.environment.merging(settings) { $1 },
                logPath: "\(folder)/\(name).log"
            )
        )
        do {
            try await process.waitUntilItAnswers()
        } catch {
            await process.stop()
            throw error
        }
        return process
    }

    /// The way in which it ended; `nil` while it is running.
    var exitIfEnded: ChildProcess.Exit? { child.exitIfEnded }

    /// Asks it to end, and ends it if it does not do so within some seconds.
    func stop() async {
        child.send(SIGTERM)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                // A cancelled wait means that it has ended.
                (try? await Task.sleep(for: .seconds(5))) != nil
            }
            group.addTask {
                _ = await child.exit()
                return false
            }
            if await group.next() == true { child.send(SIGKILL) }
            group.cancelAll()
        }
    }

    private func waitUntilItAnswers() async throws {
        try await eventually("\(name) answers") {
            guard exitIfEnded == nil else {
                throw HarnessError("\(name) has ended; its log is \(child.logPath).")
            }
            // Until it listens there is no connection.
            return (try? await StoreHTTP.send(.GET, url))?.status == 200 ? () : nil
        }
    }
}
