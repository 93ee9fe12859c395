import Callbacks
import ServiceKit

/// The settings of notifications, read from environment variables.
///
/// | key | default | meaning |
/// | --- | --- | --- |
/// | `NOTIFICATION_CONCURRENCY` | 32 | notifications sent at once; a quarter of them to one host |
/// | `NOTIFICATION_POLL_MS` | 5000 | the longest wait before another instance's work is continued |
/// | `NOTIFICATION_TIMEOUT_MS` | 10000 | the time that a recipient has to answer |
/// | `NOTIFICATION_LEASE_MS` | 30000 | the time until a killed sender's call is made again |
/// | `NOTIFICATION_RETENTION_DAYS` | 180 | the time after which an ended one is deleted |
/// | `NOTIFICATION_TESTS_PER_MINUTE` | 10 | the limit of test notifications for one app |
struct NotificationSettings: Sendable {
    let limits: CallbackLimits
    let timeout: Duration
    let lease: Duration
    let retention: Duration
    let testsPerMinute: Int

    init(_ reader: inout SettingsReader) {
        limits = CallbackLimits(
            concurrency: reader.integer(
                "NOTIFICATION_CONCURRENCY",
                default: 32,
                in: 1...1000,
                "Notifications sent at once; a quarter of it to one host."
            ),
            pollInterval: reader.milliseconds(
                "NOTIFICATION_POLL_MS",
                default: .seconds(5),
                in: .milliseconds(50)...(.seconds(300)),
                "How long at most until notifications that another instance left are sent."
            )
        )
        timeout = reader.milliseconds(
            "NOTIFICATION_TIMEOUT_MS",
            default: .seconds(10),
            in: .milliseconds(50)...(.seconds(120)),
            "How long a notification's recipient may take to answer."
        )
        lease = reader.milliseconds(
            "NOTIFICATION_LEASE_MS",
            default: .seconds(30),
            in: .milliseconds(100)...(.seconds(600)),
            "After it a notification whose sender was killed is sent again; longer than the timeout."
        )
        retention = .seconds(
            86_400
                * reader.integer(
                    "NOTIFICATION_RETENTION_DAYS",
                    default: 180,
                    in: 180...3650,
                    "After how many days a notification that was confirmed or given up is deleted."
                )
        )
        testsPerMinute = reader.integer(
            "NOTIFICATION_TESTS_PER_MINUTE",
            default: 10,
            in: 1...1000,
            "Test notifications that the servers of one app may ask for; further ones get 429."
        )
        if lease <= timeout {
            reader.refuse("NOTIFICATION_LEASE_MS", "is not longer than NOTIFICATION_TIMEOUT_MS")
        }
    }
}
