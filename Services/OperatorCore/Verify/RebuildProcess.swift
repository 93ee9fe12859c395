import Foundation
import Rebuild
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// `<service> rebuild`, as a process that reports its findings line by line.
///
/// The service's own executable rebuilds the books, so the rules are those that run live. One
/// service's rebuild cannot touch another's memory or databases.
struct RebuildProcess: Sendable {
    /// The service's executable.
    let executable: String
    /// All that the process knows of this one.
    let environment: [String: String]

    /// The time that a cancelled rebuild has to end by itself, before it is killed.
    private static let endMax = Duration.seconds(10)
    /// The number of bytes of standard error that are kept.
    private static let complaintMax = 4096

    /// The way in which the process ended.
    struct Ending: Sendable {
        let isSuccess: Bool
        /// The end of its output on standard error.
        let complaint: String
        /// The number of its lines that this version does not understand.
        let unreadLines: Int
    }

    /// Runs the process until it ends.
    ///
    /// - Parameter take: Takes each line.
    /// - Returns: The way in which it ended.
    /// - Throws: An error when it cannot be started; `CancellationError`.
    func run(_ take: @Sendable (RebuildLine) -> Void) async throws -> Ending {
        var options = PlatformOptions()
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: Self.endMax)]
        do {
            let result = try await Subprocess.run(
                .path(FilePath(executable)),
                arguments: ["rebuild"],
                environment: .custom(
                    Dictionary(
                        uniqueKeysWithValues: environment.map { name, value in
                            (Environment.Key(stringLiteral: name), value)
                        }
                    )
                ),
                platformOptions: options,
                input: .none,
                output: .sequence,
                error: .sequence
            ) { execution in
                async let complaint = Self.end(of: execution.standardError)
                let unreadLines = try await Self.read(execution.standardOutput, take)
                return try await (text: complaint, unreadLines: unreadLines)
            }
            try Task.checkCancellation()
            return Ending(
                isSuccess: result.terminationStatus.isSuccess,
                complaint: result.closureResult.text,
                unreadLines: result.closureResult.unreadLines
            )
        } catch {
            // A process that was torn down ends in an error of its pipes.
            try Task.checkCancellation()
            throw error
        }
    }

    /// Decodes the findings.
    ///
    /// - Returns: The number of lines that are none.
    private static func read(
        _ output: SubprocessOutputSequence,
        _ take: (RebuildLine) -> Void
    ) async throws -> Int {
        var unread = 0
        // Values in a finding may hold any line break but this one.
        let lines = output.strings(
            separatedBy: .unicodeScalarSequence(["\n"]),
            bufferingPolicy: .unbounded
        )
        for try await line in lines {
            do {
                take(try JSONDecoder().decode(RebuildLine.self, from: Data(line.utf8)))
            } catch {
                // The line may report a difference, so it must not be ignored.
                unread += 1
            }
        }
        return unread
    }

    /// Reads a stream to its end.
    ///
    /// - Returns: Its last bytes as text.
    private static func end(of stream: SubprocessOutputSequence) async throws -> String {
        var end = Data()
        for try await buffer in stream {
            end = (end + buffer.withUnsafeBytes { Data($0) }).suffix(complaintMax)
        }
        return String(decoding: end, as: UTF8.self)
    }
}
