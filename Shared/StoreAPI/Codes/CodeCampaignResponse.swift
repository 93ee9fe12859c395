/// A campaign of offer codes.
public struct CodeCampaignResponse: Codable, Hashable, Sendable {
    /// The campaign.
    public var campaign: CodeCampaign
    /// The one-time codes, in the answer to the request that made them and in no other.
    public var codes: [String]?

    /// Makes a response.
    public init(campaign: CodeCampaign, codes: [String]? = nil) {
        self.campaign = campaign
        self.codes = codes
    }
}

/// A page of campaigns, the newest first.
public struct CodeCampaignsResponse: Codable, Hashable, Sendable {
    /// The campaigns.
    public var campaigns: [CodeCampaign]
    /// The `before` of the next page; `nil` if this is the last.
    public var next: Int64?

    /// Makes a page.
    public init(campaigns: [CodeCampaign], next: Int64? = nil) {
        self.campaigns = campaigns
        self.next = next
    }
}
