import ArgumentParser
import OperatorCore

/// A subcommand whose failures become one line on standard error and a documented exit code.
protocol OperatorSubcommand: AsyncParsableCommand {
    /// Does the work.
    func perform() async throws
}

extension OperatorSubcommand {
    func run() async throws {
        do {
            try await perform()
        } catch let error as OperatorError {
            Console.complain(error.description)
            throw ExitCode(error.code.exitCode)
        } catch let error as any LogFailure {
            Console.complain(error.message)
            throw ExitCode(OperatorError.Code.failed.exitCode)
        }
    }
}
