/// The query parameters of a request for the app receipt (``Routes/appReceipt``).
public enum AppReceiptQuery {
    /// A UUID that identifies the device.
    ///
    /// The receipt is bound to it by a hash.
    public static let device = "device"
    /// The app's version: 1 to 64 visible ASCII characters.
    public static let applicationVersion = "applicationVersion"
    /// If `true` in a sandbox, the receipt is an expired one, for tests.
    public static let expired = "expired"
    /// If `true` in a sandbox, every purchase in the receipt is revoked, for tests.
    public static let revoked = "revoked"
    /// If `true` in a sandbox, the receipt is that of a volume purchase, for tests.
    public static let volumePurchase = "vpp"
}
