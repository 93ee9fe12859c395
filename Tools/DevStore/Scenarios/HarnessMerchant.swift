import EventTypes
import Foundation
import Scenarios
import StoreHarness

/// A merchant's server on this machine.
struct HarnessMerchant: ScenarioMerchant {
    private static let notificationPath = "/notifications"

    private let receiver: WebhookReceiver

    /// Starts the server, and has the store send it the notifications of the test app.
    init(of store: StoreHarness) async throws {
        receiver = try await WebhookReceiver.start()
        let url = receiver.url.replacing("/deliveries", with: Self.notificationPath)
        _ = try await store.administrator.setNotificationEndpoint(to: url).value
    }

    var webhookURL: String { receiver.url }

    var webhooks: [[UInt8]] {
        var seen: Set<String> = []
        return receiver.confirmedDeliveries.filter { delivery in
            guard delivery.path != Self.notificationPath, let id = delivery.id else { return false }
            return seen.insert(id).inserted
        }.map(\.body)
    }

    var notifications: [[UInt8]] {
        var seen: Set<[UInt8]> = []
        // A notification that is sent again has the same bytes.
        return receiver.confirmedDeliveries.filter { $0.path == Self.notificationPath }
            .map(\.body).filter { seen.insert($0).inserted }
    }

    func answer(with status: Int) { receiver.reply { _, _ in .status(status) } }

    /// Ends the server.
    func end() async { await receiver.stop() }
}
