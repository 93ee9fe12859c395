/// The version of this package.
///
/// It is defined only here.
///
/// The services and the operator's command line print it with `--version`. Services also report it
/// in `/health/live` and in their logs. A test compares it with the newest release in
/// `CHANGELOG.md` and with the names of the images.
public enum CounterfoilVersion {
    /// The version, as in `0.1.0`.
    public static let current = "0.1.0"
}
