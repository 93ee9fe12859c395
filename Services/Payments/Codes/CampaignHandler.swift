import EventTypes
import Postgres
import StoreAPI

/// Makes campaigns of codes, shows them and ends them.
struct CampaignHandler: Sendable {
    let client: PostgresClient
    let products: ProductStore
    let now: @Sendable () -> StoreTime

    /// The answer to an administrator.
    enum Reply: Sendable {
        case unknown
        /// The product has no such code offer.
        case offerUnknown
        /// The request contradicts itself; the text says how.
        case invalid(String)
        /// The app has, or had, a custom code of this word.
        case wordTaken
        case campaign(CodeCampaign, codes: [String] = [])
    }

    /// The most codes, and redemptions of a custom code, that one request may make.
    static let codesMax = 25_000
    static let redemptionsMax = 1_000_000

    /// Makes a campaign.
    ///
    /// One-time codes are answered here and never again: the books have only their digests.
    func create(_ request: CodeCampaignRequest, by act: Act) async throws -> Reply {
        let time = now()
        if let fault = Self.fault(of: request, at: time) { return .invalid(fault) }
        let product = try await client.withConnection { connection in
            try connection.read(products.load([request.productID], at: time))[request.productID]
        }
        guard product?.codeOffers.contains(where: { $0.id == request.offerID }) == true else {
            return .offerUnknown
        }
        let word = request.word.flatMap(CodeDigest.normalized)
        let codes = word.map { [$0] } ?? NewCodes.make(request.count)
        let digests = codes.compactMap { CodeDigest(typed: $0, in: request.bundleID) }
        do {
            let campaign = try await client.withTransaction { connection in
                try CampaignStore.insert(
                    request,
                    word: word,
                    digests,
                    at: time,
                    by: act,
                    on: connection
                )
            }
            return .campaign(campaign, codes: word == nil ? codes : [])
        } catch let error as PostgresError where error.constraint == CampaignStore.codeConstraint {
            return .wordTaken
        }
    }

    /// The fault of a request; `nil` if there is none.
    static func fault(of request: CodeCampaignRequest, at time: StoreTime) -> String? {
        if let word = request.word {
            guard CodeDigest.normalized(word) != nil else {
                return "A custom code has from 4 to 64 letters and digits."
            }
            guard (1...redemptionsMax).contains(request.count) else {
                return
                    "count must be from 1 to \(redemptionsMax): how often the custom code can be redeemed."
            }
        } else if !(1...codesMax).contains(request.count) {
            return "count must be from 1 to \(codesMax): how many one-time codes are made."
        }
        if let end = request.expiresAt, end <= time { return "The end (expiresAt) is in the past." }
        return nil
    }

    /// A campaign.
    func campaign(_ id: Int64) async throws -> Reply {
        let found = try await client.withConnection { connection in
            try CampaignStore.load(id, on: connection)
        }
        return found.map { .campaign($0) } ?? .unknown
    }

    /// A page of campaigns, the newest first.
    func campaigns(before id: Int64?) async throws -> CodeCampaignsResponse {
        let found = try await client.withConnection { connection in
            try CampaignStore.page(before: id, limit: 101, on: connection)
        }
        let page = Array(found.prefix(100))
        return CodeCampaignsResponse(
            campaigns: page,
            next: found.count > page.count ? page.last?.id : nil
        )
    }

    /// Deactivates the codes of a campaign; the first decision counts.
    func deactivate(_ id: Int64, by act: Act) async throws -> Reply {
        let time = now()
        let found = try await client.withTransaction { connection in
            try CampaignStore.deactivate(id, at: time, by: act, on: connection)
            return try CampaignStore.load(id, on: connection)
        }
        return found.map { .campaign($0) } ?? .unknown
    }
}
