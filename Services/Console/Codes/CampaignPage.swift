import EventTypes
import OperatorCore
import StoreAPI

/// A campaign of offer codes: its offer, its redemptions, and who made and ended it.
///
/// Pure.
struct CampaignPage {
    let campaign: CodeCampaign
    /// The one-time codes, if they were made just now.
    var codes: [String] = []
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: Self.title(of: campaign), visitor: visitor).page(
            """
            \(made)
            <section class="card" aria-label="The campaign"><dl class="facts">
            <div><dt>state</dt><dd id="state" class="tone-\(state.tone.rawValue)">\(state.text)</dd></div>
            <div><dt>redeemed</dt><dd id="redeemed">\(campaign.redemptions.grouped) of \(campaign.count.grouped)</dd></div>
            <div><dt>offer</dt><dd><a href="\(OfferListPage.path(of: campaign.productID))">\(campaign.offerID)</a></dd></div>
            <div><dt>subscription</dt><dd><a href="\(PlainWords.path(ofProduct: campaign.productID))">\(campaign.productID)</a></dd></div>
            <div><dt>app</dt><dd>\(campaign.bundleID)</dd></div>
            </dl></section>
            \(ActDialog.row(dialogs))
            \(DecisionList.section(decisions))
            <p><a href="/codes">All codes</a></p>
            """
        )
    }

    /// The name of a campaign.
    static func title(of campaign: CodeCampaign) -> String {
        campaign.word.map { "Code \($0)" } ?? "Campaign \(campaign.id)"
    }

    /// The state in words, with its tone.
    static func state(of campaign: CodeCampaign) -> NowField {
        if campaign.deactivatedAt != nil { return NowField("deactivated", .warn) }
        if campaign.redemptions >= campaign.count { return NowField("used up", .plain) }
        return NowField(
            campaign.expiresAt.map { "good until \(PlainWords.second($0))" } ?? "good",
            .good
        )
    }

    private var state: NowField { Self.state(of: campaign) }

    private var made: HTML {
        guard !codes.isEmpty else { return "" }
        return """
            <section aria-labelledby="made"><h2 id="made">The codes</h2>
            <p class="problem" role="status">Keep these \(codes.count.grouped) codes now: nobody can see them again. If \
            they are lost, deactivate the campaign and make new ones.</p>
            <pre id="codes">\(codes.joined(separator: "\n"))</pre></section>
            """
    }

    private var decisions: [HTML] {
        var lines = [
            DecisionList.line("made it", at: campaign.createdAt, by: campaign.created)
        ]
        if let time = campaign.deactivatedAt, let act = campaign.deactivated {
            lines.append(DecisionList.line("deactivated it", at: time, by: act))
        }
        return lines
    }

    private var dialogs: [ActDialog] {
        guard visitor.mayAct(as: .merchandiser), campaign.deactivatedAt == nil else { return [] }
        return [
            ActDialog(
                id: "deactivate",
                words: "Deactivate",
                explanation: """
                    <p>Nobody can redeem its codes any more, and nothing brings them back. What was redeemed stays.</p>
                    """,
                fields: """
                    <label for="typed">Type the number of the campaign, \(campaign.id)</label>
                    <input id="typed" name="typed" required inputmode="numeric" autocomplete="off">
                    """,
                action: "/codes/\(campaign.id)/deactivation",
                by: visitor
            )
        ]
    }
}
