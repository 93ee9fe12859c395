/// A merchant's server that the store can reach.
public protocol ScenarioMerchant: Sendable {
    /// The address to which webhooks are sent.
    var webhookURL: String { get }

    /// The bodies of the webhooks that the server has confirmed, each id once, in order.
    var webhooks: [[UInt8]] { get }

    /// The bodies of the notifications that the server has confirmed, in order.
    var notifications: [[UInt8]] { get }

    /// Sets the status with which the server answers from now on.
    func answer(with status: Int)
}
