import EventTypes
import StoreAPI

/// Campaigns of codes as they are printed.
enum CampaignReport {
    /// A campaign in one line.
    static func line(_ campaign: CodeCampaign) -> String {
        let codes = campaign.word.map { "the code \($0)" } ?? "\(campaign.count) one-time codes"
        return "\(campaign.id): \(codes) for \(campaign.offerID) of \(campaign.productID), "
            + "\(campaign.redemptions) of \(campaign.count) redeemed\(end(of: campaign))"
    }

    /// A campaign with who made and ended it.
    static func lines(of campaign: CodeCampaign) -> [String] {
        var lines = [
            "campaign \(line(campaign))", "app       \(campaign.bundleID)",
            "made      \(campaign.createdAt) \(campaign.created)",
        ]
        if let time = campaign.deactivatedAt, let act = campaign.deactivated {
            lines.append("ended     \(time) \(act)")
        }
        return lines
    }

    private static func end(of campaign: CodeCampaign) -> String {
        if campaign.deactivatedAt != nil { return ", deactivated" }
        return campaign.expiresAt.map { ", good until \($0)" } ?? ""
    }
}
