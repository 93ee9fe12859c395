import Hummingbird
import Logging
import OperatorCore
import ServiceKit
import StoreAPI
import StoreTracing

/// Reads the forms of acts, carries the acts out with the administrator's own token, and logs them.
///
/// The console refuses what the visitor may not do, and the service refuses it again.
struct ActRunner: Sendable {
    let door: ConsoleDoor

    /// Reads a request for an act, and requires that its sender may ask for one.
    func asked(
        _ request: Request,
        _ context: StoreRequestContext,
        as scope: AdministratorScope,
        upTo lengthMax: Int = ConsoleDoor.formLengthMax
    ) async throws -> (visitor: Visitor, form: FormFields) {
        var visitor = try door.visitor(of: request)
        visitor.trace = context.trace
        let form = try await door.form(of: request, upTo: lengthMax)
        try door.visits.requireAct(by: visitor, as: scope, form: form)
        return (visitor, form)
    }

    /// Carries out an act and logs it; the reason is in the books, not in the log.
    ///
    /// - Parameters:
    ///   - name: The name of the act.
    ///   - subject: The id of what the administrator decides about.
    ///   - visitor: The administrator.
    ///   - back: The page to go on from if the act fails.
    ///   - work: The act.
    /// - Returns: What the act returns.
    /// - Throws: ``ConsoleProblem`` that says whether the act was refused, or its answer was lost.
    @discardableResult
    func run<R>(
        _ name: String,
        on subject: String,
        by visitor: Visitor,
        back: ConsoleProblem.Back,
        _ work: () async throws -> R
    ) async throws -> R {
        var metadata: Logger.Metadata = [
            "act": "\(name)", "administrator": "\(visitor.name)", "act.subject": "\(subject)",
        ]
        metadata["trace"] = visitor.trace.map { "\($0.traceID)" }
        do {
            // The store's events of the act have its trace, too.
            let result = try await StoreConnection.withTrace(visitor.trace, work)
            door.logger.info("an administrator acted", metadata: metadata)
            return result
        } catch let error as OperatorError {
            metadata["error"] = "\(PlainWords.firstLine(error.description))"
            let isLost = error.mayHaveActed
            let words = isLost ? "the answer to an act was lost" : "an act was refused"
            door.logger.info("\(words)", metadata: metadata)
            var problem =
                isLost
                ? ConsoleProblem.answerLost(PlainWords.firstLine(error.description))
                : ConsoleProblem(refusal: error)
            problem.back = back
            throw problem
        }
    }
}

extension OperatorError {
    /// Whether the act may have been done, although it has failed.
    ///
    /// A service that cannot be reached may have got the request, and one that fails may have committed.
    var mayHaveActed: Bool { code == .unavailable || (status ?? 0) >= 500 }
}
