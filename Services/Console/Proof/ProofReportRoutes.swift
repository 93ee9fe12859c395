import EventTypes
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Takes the findings of proofs that were made elsewhere, as by the job `prove` in Kubernetes.
///
/// The command line sends them with the token of an administrator. They change nothing in the store, so
/// a console that is read-only takes them, too.
struct ProofReportRoutes: Sendable {
    /// The longest message; the command line sends the first hundred differences of each service.
    private static let lengthMax = 8 << 20

    let door: ConsoleDoor
    /// The jobs; `nil` if the console has no folder to keep them in.
    let board: JobBoard?

    func add(to router: Router<StoreRequestContext>) {
        router.post("/reports", use: take)
    }

    private func take(_ request: Request, _: StoreRequestContext) async throws -> Response {
        let administrator = try sender(of: request)
        guard let board else {
            throw HTTPProblem(
                .conflict,
                code: "nothing_is_kept",
                title: "This console keeps no proofs",
                detail: "Set CONSOLE_STATE_DIRECTORY of the console."
            )
        }
        let proof = try await decodeBody(
            ProofHandover.self,
            from: request,
            upTo: Self.lengthMax,
            within: .seconds(30)
        )
        let decision = JobRecord.Decision(
            words: "made it outside this console",
            act: Act(decidedBy: administrator.name),
            at: door.now().millisecondsSinceEpoch
        )
        do throws(ConsoleProblem) {
            try await board.take(proof, by: decision)
        } catch {
            // The command line reads problems, and not pages.
            throw HTTPProblem.tryAgain(error.detail)
        }
        return Response(status: .created)
    }

    /// The administrator whose token came with a message, and who may prove.
    private func sender(of request: Request) throws -> AuthenticatedAdministrator {
        let administrator = try door.authenticator.administrator(
            of: ConsoleDoor.token(of: request) ?? ""
        )
        guard administrator.scopes.contains(.operator) else {
            throw HTTPProblem(
                .forbidden,
                code: "scope_missing",
                title: "The token lacks a scope",
                detail: "Findings of a proof need the scope operator, which the token of "
                    + "\(administrator.name) lacks."
            )
        }
        return administrator
    }
}
