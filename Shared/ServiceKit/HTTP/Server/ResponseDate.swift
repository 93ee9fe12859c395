import Foundation
import Synchronization

/// The value of the header `Date` of answers: the machine's time, in whole seconds.
///
/// It is written once for all answers of a second, and not at all while nobody asks.
final class ResponseDate: Sendable {
    private struct Known {
        var second: Int
        var text: String
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private let second: @Sendable () -> Int
    private let known = Mutex<Known?>(nil)

    /// Makes a date.
    ///
    /// - Parameter second: The time, in seconds since 1970.
    init(second: @escaping @Sendable () -> Int = { time(nil) }) { self.second = second }

    /// The present date, in the form of RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`.
    var text: String {
        let second = second()
        return known.withLock { known in
            if let known, known.second == second { return known.text }
            let text = Self.text(of: second)
            known = Known(second: second, text: text)
            return text
        }
    }

    private static func text(of second: Int) -> String {
        var second = time_t(second)
        var parts = tm()
        gmtime_r(&second, &parts)
        let day = two(parts.tm_mday)
        let time = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(days[Int(parts.tm_wday)]), \(day) \(months[Int(parts.tm_mon)]) "
            + "\(1900 + Int(parts.tm_year)) \(time) GMT"
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
