import EventTypes
import StoreAPI

/// Everything that may stand in a scenario file.
enum ScenarioForms {
    /// The words for the sandbox's payment methods: `success` for `sandbox_success`.
    static let methods = SandboxPaymentMethod.allCases.map {
        String($0.rawValue.dropFirst("sandbox_".count))
    }

    /// The type of products that renew.
    static let autoRenewable = "autoRenewable"

    /// The states of a subscription.
    static let subscriptionStates = ["active", "grace", "retry", "expired", "revoked"]

    /// The states that a device sees.
    ///
    /// A transaction that has left the queue is `finished`.
    static let states = [
        "purchasing", "deferred", "purchased", "failed", "restored", "finished",
    ]

    /// The whole file.
    static let document = ScenarioForm.fields([
        .init("scenario", .text, isRequired: true, "What the scenario shows, in one sentence."),
        .init("about", .text, "More about it."),
        .init(
            "seed",
            .whole(0...4_294_967_295),
            "Decides the order of shuffled steps. 1 if left out."
        ),
        .init("products", .named(.fields(product)), "The products for sale, by name."),
        .init(
            "accounts",
            .named(.fields(account)),
            "Accounts with settings of their own, by name."
        ),
        .init(
            "devices",
            .named(.name),
            "Each device and the account that uses it. The device 'phone' of 'ada' if left out."
        ),
        .init("steps", .steps, isRequired: true, "What happens, in order."),
    ])

    private static let product: [ScenarioForm.Field] = [
        .init(
            "type",
            .choice([
                "consumable", "nonConsumable", "nonRenewingSubscription", autoRenewable,
            ]),
            isRequired: true,
            "The type of the product."
        ),
        .init("price", .money, isRequired: true, "The price of a unit in the United States."),
        .init("prices", .named(.money), "The prices in other storefronts."),
        .init("credits", .named(.whole(1...1_000_000)), "The units that a purchase credits."),
        .init("entitlement", .flag, "Whether the account owns the product after the purchase."),
        .init(
            "entitlements",
            .list(.name),
            "The names of entitlements that the product gives while an account owns it."
        ),
        .init("webhook", .flag, "Whether the merchant's server delivers it."),
        .init("app", .flag, "Whether the app delivers it by itself."),
        .init("restorable", .flag, "Whether a finished purchase can be restored."),
        .init("shareable", .flag, "Whether families share it."),
        .init("group", .name, "The group of a product that renews."),
        .init(
            "level",
            .whole(1...1000),
            "Its level in the group; 1 is the highest. 1 if left out."
        ),
        .init("period", .period, "The length of its periods."),
        .init(
            "introductory",
            .fields(introductoryOffer),
            "The offer to accounts that never had one in the group."
        ),
        .init("offers", .named(.fields(offer)), "The offers that have a name."),
    ]

    private static let offer = [offerKind] + introductoryOffer

    private static let offerKind = ScenarioForm.Field(
        "kind",
        .choice(ScenarioOffer.Kind.allCases.map(\.rawValue)),
        isRequired: true,
        "Who may have it: a buyer for whom the merchant's server signs it, one with a code, or one who has left."
    )

    private static let introductoryOffer: [ScenarioForm.Field] = [
        .init(
            "mode",
            .choice(["freeTrial", "payAsYouGo", "payUpFront"]),
            isRequired: true,
            "How it is paid."
        ),
        .init(
            "period",
            .period,
            "The length of one of its periods. That of the product if left out."
        ),
        .init("periods", .whole(1...12), "The number of its periods. 1 if left out."),
        .init(
            "price",
            .money,
            "The price of one of its periods in the United States. Nothing if left out."
        ),
    ]

    private static let account: [ScenarioForm.Field] = [
        .init("storefront", .storefront, "Where it buys."),
        .init("canPay", .flag, "Whether it may pay."),
    ]

    private static let device = ScenarioForm.Field(
        "device",
        .name,
        "The device. The first one if left out."
    )
    private static let method = ScenarioForm.Field(
        "method",
        .choice(methods),
        "How the sandbox's processor answers the charge. 'success' if left out."
    )
    private static let service = ScenarioForm.choice(ServiceName.allCases.map(\.rawValue))
    private static let refused = ScenarioForm.Field(
        "refused",
        .text,
        "The code with which the store has to refuse it."
    )
    private static let disputeStep = ScenarioForm.Field(
        "step",
        .choice(TestDisputeRequest.Step.allCases.map(\.rawValue)),
        "The step: the bank asks, takes the money, gives it back, or keeps it. 'open' if left out."
    )

    /// The steps.
    static let steps: [ScenarioForm.Alternative] = [
        .init(
            "buy",
            .name,
            "A device pays for a product.",
            [
                .init("as", .name, "The payment's name. The product's name if left out."),
                device, method,
                .init("quantity", .whole(1...10), "The number of units. 1 if left out."),
                .init("offer", .name, "The promotional or win-back offer that it redeems."),
                refused,
                .init(
                    "unanswered",
                    .flag,
                    "Whether the next step comes before the store has answered."
                ),
            ]
        ),
        .init("approve", .name, "The parent approves a payment.", [refused]),
        .init("decline", .name, "The parent declines a payment.", [refused]),
        .init(
            "refund",
            .name,
            "The merchant refunds a payment.",
            [
                .init("amount", .money, "A part of the price. The rest if left out."),
                .init("revokes", .flag, "Whether the refund takes the product away."),
                refused,
            ]
        ),
        .init(
            "reverse",
            .name,
            "The money of a refund comes back.",
            [.init("number", .whole(1...50), "The refund's number. 1 if left out."), refused]
        ),
        .init(
            "confirm",
            .name,
            "The buyer confirms a charge on the page of their bank, or declines it.",
            [
                .init(
                    "decision",
                    .choice(["confirm", "decline"]),
                    "The decision. 'confirm' if left out."
                ),
                refused,
            ]
        ),
        .init(
            "dispute",
            .name,
            "The buyer's bank takes a step of a dispute about a payment.",
            [disputeStep, refused]
        ),
        .init(
            "resume",
            .name,
            "An interrupted payment goes on as another one, or a cancelled subscription renews again.",
            [.init("as", .name, "The name of the other payment."), refused]
        ),
        .init("cancel", .name, "The buyer turns off the renewal of a subscription.", [refused]),
        .init(
            "extend",
            .name,
            "The merchant extends a subscription for nothing.",
            [.init("days", .whole(1...1000), isRequired: true, "The number of days."), refused]
        ),
        .init(
            "family",
            .name,
            "The administrator makes a family of this account and others.",
            [.init("with", .list(.name), isRequired: true, "The other accounts.")]
        ),
        .init("leave", .name, "A member leaves its family by itself.", [refused]),
        .init(
            "ask",
            .name,
            "The buyer asks for a refund of a payment, and the administrator decides.",
            [
                .init(
                    "decision",
                    .choice(["approve", "decline"]),
                    "The decision. 'approve' if left out."
                ),
                refused,
            ]
        ),
        .init(
            "campaign",
            .name,
            "The administrator makes a code, or one-time codes.",
            [
                .init("product", .name, isRequired: true, "The product."),
                .init("offer", .name, isRequired: true, "The product's offer, of the kind 'code'."),
                .init(
                    "count",
                    .whole(1...1000),
                    "How often the code can be redeemed, or how many codes there are. 1 if left out."
                ),
                .init("oneTime", .flag, "Whether each code can be redeemed once."),
            ]
        ),
        .init(
            "redeem",
            .name,
            "The buyer types a code of a campaign on the store's page.",
            [
                .init("as", .name, isRequired: true, "The name of its payment."),
                .init("number", .whole(1...1000), "The code's number. 1 if left out."),
                device, method,
                .init("refused", .text, "Words with which the page has to refuse it."),
            ]
        ),
        .init(
            "price",
            .name,
            "The merchant schedules a product's price in the United States.",
            [
                .init("to", .money, isRequired: true, "The price."),
                .init("in", .span, isRequired: true, "The time until it counts."),
                .init("raise", .flag, "Whether subscribers pay it too, if it is higher."),
                refused,
            ]
        ),
        .init(
            "consent",
            .name,
            "The subscriber answers the question about a higher price.",
            [
                .init(
                    "decision",
                    .choice(["agree", "decline"]),
                    "The answer. 'agree' if left out."
                ),
                refused,
            ]
        ),
        .init("restore", .name, "A device restores what its account owns."),
        .init("finish", .name, "The app finishes a transaction.", [device]),
        .init(
            "advance",
            .span,
            "The store's clock goes forward.",
            [
                .init(
                    "unanswered",
                    .flag,
                    "Whether the next step comes while the clock still goes forward."
                )
            ]
        ),
        .init("clock", .clock, "The store's clock stands still, or runs at a rate."),
        .init("pass", .span, "The run goes on when so much time has passed on the store's clock."),
        .init("start", .name, "The app starts on a device."),
        .init("stop", .name, "The app is killed on a device."),
        .init(
            "change",
            .name,
            "The administrator changes an account, or the buyer the next product of a subscription.",
            account + [.init("to", .name, "The next product of a subscription."), refused]
        ),
        .init("kill", service, "A service is killed without warning."),
        .init("restart", service, "A service that was killed starts again."),
        .init("freeze", service, "A service stops without its noticing."),
        .init("thaw", service, "A frozen service goes on."),
        .init(
            "drop",
            .choice(DroppedAnswer.allCases.map(\.rawValue)),
            "The store's next answer to such a request is lost on its way.",
            [.init("times", .whole(1...10), "The number of lost answers. 1 if left out.")]
        ),
        .init("duplicate", .name, "All events about a payment are sent once more."),
        .init(
            "reorder",
            .name,
            "All events about the periods of a subscription are sent once more, the newest first."
        ),
        .init(
            "answer",
            .whole(200...599),
            "The status with which the merchant's server answers from now on. 200 at first."
        ),
        .init("shuffle", .steps, "Steps in an order that the seed decides."),
        .init("expect", .fields(expectation), "What has to become true, within the time limit."),
        .init(
            "test",
            .fields(test),
            "A test's wishes for an account, in place of earlier ones."
        ),
    ]

    private static let test: [ScenarioForm.Field] = [
        .init("account", .name, isRequired: true, "The account."),
        .init("grace", .flag, "Whether there is a grace period."),
        .init("declineRenewals", .flag, "Whether renewals are declined."),
    ]
}
