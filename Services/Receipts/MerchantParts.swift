import Callbacks
import EventTypes
import ServiceFoundation
import ServiceKit

/// The parts of `receipts` that serve merchants' servers: notifications and the server API.
struct MerchantParts {
    /// Writes the notifications.
    let notificationWriter: NotificationWriter
    /// Sends them.
    let sender: CallbackSender<OutgoingNotifications>
    /// Keeps the log of notifications within its limits.
    let keeper: NotificationLogKeeper

    /// Wakes the sender because a notification may be due.
    var wake: @Sendable () -> Void {
        { [sender] in sender.wake() }
    }

    private let settings: ReceiptsSettings
    private let frame: ServiceFrame
    private let servers: ServerAPIAuthenticator
    private let serverAPI: ServerAPIRoutes

    init(
        _ settings: ReceiptsSettings,
        store: ReceiptStore,
        signer: ReceiptSigner,
        on frame: ServiceFrame
    ) throws {
        let (client, now, logger) = (frame.client, frame.storeNow, frame.logger)
        let notifications = settings.notifications
        // Everything that can throw comes before the HTTP clients, which would have to be closed.
        servers = try ServerAPIAuthenticator(
            settings.servers,
            now: frame.machineNow,
            logger: logger
        )
        let apps = AppRegistry(
            directory: settings.common.appKeysDirectory,
            now: frame.machineNow,
            logger: logger
        )
        notificationWriter = NotificationWriter(
            signer: signer,
            store: store,
            machineNow: frame.machineNow,
            app: { apps.app($0) }
        )
        sender = Self.sender(notifications, signer: signer, on: frame)
        keeper = NotificationLogKeeper(
            log: NotificationLogHandler(
                client: client,
                retention: notifications.retention,
                now: now,
                machineNow: frame.machineNow
            ),
            logger: logger
        )
        let queries = ServerAPIStore()
        serverAPI = ServerAPIRoutes(
            authenticator: servers,
            reader: ServerAPIReader(store: queries, client: client, signer: signer, now: now),
            tokens: AppAccountTokenHandler(
                receipts: store,
                store: queries,
                client: client,
                signer: signer,
                now: now
            ),
            fulfillment: ServerAPIForwarder(
                to: .fulfillment,
                baseURL: settings.fulfillmentURL,
                timeout: settings.fulfillmentTimeout,
                logger: logger
            ),
            payments: ServerAPIForwarder(
                to: .payments,
                baseURL: settings.paymentsURL,
                timeout: settings.paymentsTimeout,
                logger: logger
            ),
            apps: apps,
            now: now
        )
        self.settings = settings
        self.frame = frame
    }

    private static func sender(
        _ settings: NotificationSettings,
        signer: ReceiptSigner,
        on frame: ServiceFrame
    ) -> CallbackSender<OutgoingNotifications> {
        CallbackSender(
            calls: OutgoingNotifications(
                client: frame.client,
                transport: CallbackTransport(timeout: settings.timeout, confirming: 200..<207),
                signer: signer,
                lease: settings.lease,
                now: frame.storeNow,
                machineNow: frame.machineNow,
                logger: frame.logger
            ),
            limits: settings.limits,
            logger: frame.logger
        )
    }

    /// Adds the routes for merchants' servers, and the administrators' routes for notifications.
    func addRoutes(to router: StoreRouter) {
        let notifications = NotificationHandler(
            client: frame.client,
            writer: notificationWriter,
            testsPerMinute: settings.notifications.testsPerMinute,
            now: frame.storeNow,
            machineNow: frame.machineNow,
            wake: wake
        )
        NotificationAdminRoutes(notifications: notifications).add(to: router)
        serverAPI.add(to: router)
        NotificationServerRoutes(
            authenticator: servers,
            notifications: notifications,
            environment: settings.environment,
            now: frame.storeNow,
            machineNow: frame.machineNow
        ).add(to: router)
        ConsumptionRoutes(
            authenticator: servers,
            consumptions: ConsumptionHandler(client: frame.client, now: frame.storeNow)
        ).add(to: router)
    }
}
