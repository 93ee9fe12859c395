import HTTPTypes
import Hummingbird
import OperatorCore
import StoreAPI
import ServiceKit

/// The page of the store's clock, which a store in production does not have.
struct ClockPageRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk

    private var door: ConsoleDoor { acts.door }

    func add(to router: Router<StoreRequestContext>) {
        router.get("/clock") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .clock)
            let clock = try await desk.clock(token: visitor.session.token)
            return pageResponse(
                ClockPage(clock: clock, visitor: visitor, key: RandomSecret.make()).html
            )
        }
        router.get("/clock/live") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .clock, isUse: false)
            let clock = try await desk.clock(token: visitor.session.token)
            return try LiveAnswer(
                stamp: ClockPage.stamp(of: clock),
                fields: ClockFields.fields(of: clock)
            ).response()
        }
        router.post("/clock") { request, context in
            let (visitor, form) = try await acts.asked(request, context, as: .operator)
            let change = try ClockChange(form)
            try await acts.run(change.name, on: "clock", by: visitor, back: ClockChange.back) {
                try await desk.change(change, token: visitor.session.token)
            }
            return Response(status: .seeOther, headers: [.location: "/clock"])
        }
    }
}
