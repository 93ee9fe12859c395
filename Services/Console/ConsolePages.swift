import Logging
import OperatorCore

/// Composes the pages around the door that knows who is signed in.
func consolePages(
    origin: ConsoleOrigin,
    door: ConsoleDoor,
    urls: [OperatedService: String],
    databases: DatabaseAddresses,
    deciding: DatabaseAddresses,
    board: JobBoard? = nil,
    refunds: StateFolder? = nil,
    logger: Logger
) -> ConsoleRouter {
    let desk = StoreDesk(urls: urls, databases: databases, deciding: deciding)
    let sampler = NowSampler(
        status: StatusReader(urls: urls, databases: databases),
        lag: LagReader(databases: databases),
        stories: StoryReader(databases: databases),
        events: EventCountReader(databases: databases),
        hops: HopReader(urls: urls)
    )
    let acts = ActRunner(door: door)
    let lost = LostRefunds(in: refunds, logger: logger)
    return ConsoleRouter(
        origin: origin,
        logger: logger,
        // A page that says what went wrong has no navigation for whoever is not signed in.
        visitor: { try? door.visitor(of: $0, isUse: false) }
    ) { routes in
        AssetRoutes().add(to: routes)
        SignInRoutes(door: door, origin: origin, desk: desk).add(to: routes)
        NowRoutes(door: door, sampler: sampler).add(to: routes)
        LookingRoutes(door: door, desk: desk, lost: lost) { id, visitor in
            guard let record = await board?.job(id), visitor.maySeeJobs(of: record.kind) else {
                return nil
            }
            return JobPage.path(of: record)
        }.add(to: routes)
        PurchaseListRoutes(door: door, desk: desk).add(to: routes)
        ReceiptPageRoutes(door: door, desk: desk).add(to: routes)
        ActRoutes(acts: acts, desk: desk, lost: lost).add(to: routes)
        ApprovalRoutes(door: door, desk: desk).add(to: routes)
        RefundRequestPageRoutes(acts: acts, desk: desk, lost: lost).add(to: routes)
        SubscriptionPageRoutes(acts: acts, desk: desk).add(to: routes)
        ProductRoutes(acts: acts, desk: desk).add(to: routes)
        MassExtensionPageRoutes(acts: acts, desk: desk).add(to: routes)
        OfferRoutes(acts: acts, desk: desk).add(to: routes)
        CampaignPageRoutes(acts: acts, desk: desk).add(to: routes)
        DeadLetterRoutes(acts: acts, desk: desk).add(to: routes)
        ClockPageRoutes(acts: acts, desk: desk).add(to: routes)
        let jobs = JobRequests(acts: acts, board: board)
        ReplayRoutes(jobs: jobs, desk: desk).add(to: routes)
        ProofRoutes(jobs: jobs, desk: desk).add(to: routes)
        ProofReportRoutes(door: door, board: board).add(to: routes)
        ReconciliationRoutes(jobs: jobs).add(to: routes)
        RaiseRoutes(jobs: jobs, desk: desk).add(to: routes)
        ActListRoutes(door: door, desk: desk, board: board).add(to: routes)
    }
}
