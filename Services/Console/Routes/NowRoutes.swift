import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit

/// The first page, and the values that it follows.
struct NowRoutes: Sendable {
    let door: ConsoleDoor
    let sampler: NowSampler

    func add(to router: Router<StoreRequestContext>) {
        router.get("/") { request, _ in
            let visitor = try door.visitor(of: request)
            return pageResponse(NowPage(sample: await sampler.sample(), visitor: visitor).html)
        }
        router.get("/now") { request, _ in
            _ = try door.visitor(of: request, isUse: false)
            let fields = NowFields.fields(of: await sampler.sample())
            return try LiveAnswer(fields: fields).response()
        }
    }
}
