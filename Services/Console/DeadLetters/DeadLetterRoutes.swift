import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import OperatorCore
import StoreAPI
import ServiceKit

/// Dead letters: their list, those of one key, one of them, and what operators decide about them.
///
/// No service has a route for them. The console writes the decision where the command line does.
struct DeadLetterRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk

    private var door: ConsoleDoor { acts.door }

    func add(to router: Router<StoreRequestContext>) {
        router.get("/dead-letters", use: list)
        router.post("/dead-letters/redrive", use: redrive)
        router.get("/dead-letters/:service/:id", use: show)
        router.post("/dead-letters/:service/:id/discard", use: discard)
    }

    private func list(_ request: Request, _: StoreRequestContext) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .deadLetters)
        let fields = FormFields(request.uri.query ?? "")
        guard let key = fields?["key"] else {
            let (keys, next) = try await desk.openLetters(after: fields?["after"] ?? "")
            return pageResponse(
                DeadLetterListPage(keys: keys, next: next, visitor: visitor, now: door.now()).html
            )
        }
        let page = DeadLetterKeyPage(
            key: key,
            queues: try await desk.letters(of: key),
            visitor: visitor,
            now: door.now(),
            done: fields?["done"].flatMap { DeadLetterKeyPage.Act(rawValue: $0) }
        )
        return pageResponse(page.html)
    }

    private func show(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .deadLetters)
        let (service, id) = try Self.letter(of: context)
        let (letter, data) = try await desk.letter(
            id,
            of: service,
            withData: visitor.maySee(.eventData)
        )
        let page = DeadLetterPage(letter: letter, data: data, visitor: visitor, now: door.now())
        return pageResponse(page.html)
    }

    private func redrive(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let (visitor, form) = try await acts.asked(request, context, as: .operator)
        guard let key = form["key"], !key.isEmpty else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.")
        }
        let path = DeadLetterListPage.path(of: key)
        let back = ConsoleProblem.Back(path: path, words: "Back to the dead letters")
        let reason = try ActFormRules.reason(in: form, back: back)
        try ActFormRules.requireTyped(key, in: form, back: back)
        try await acts.run("redrive", on: key, by: visitor, back: back) {
            try await desk.redrive(key, by: Act(decidedBy: visitor.name, reason: reason))
        }
        return Response(status: .seeOther, headers: [.location: "\(path)&done=redrive"])
    }

    private func discard(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: .operator)
        let (service, id) = try Self.letter(of: context)
        let back = ConsoleProblem.Back(
            path: "/dead-letters/\(service.rawValue)/\(id)",
            words: "Back to the dead letter"
        )
        let reason = try ActFormRules.reason(in: form, back: back)
        let name = "\(service.rawValue) \(id)"
        try ActFormRules.requireTyped(name, in: form, back: back)
        let (letter, _) = try await desk.letter(id, of: service, withData: false)
        try await acts.run("discard", on: name, by: visitor, back: back) {
            try await desk.discard(
                id,
                of: service,
                by: Act(decidedBy: visitor.name, reason: reason)
            )
        }
        let path = DeadLetterListPage.path(of: letter.key)
        return Response(status: .seeOther, headers: [.location: "\(path)&done=discard"])
    }

    /// The service and the number that a path names.
    private static func letter(
        of context: StoreRequestContext
    ) throws(ConsoleProblem) -> (OperatedService, Int64) {
        guard
            let service = context.parameters.get("service")
                .flatMap({ OperatedService(rawValue: $0) }),
            OperatedService.consumers.contains(service),
            let id = context.parameters.get("id").flatMap({ Int64($0) })
        else { throw .notFound }
        return (service, id)
    }
}
