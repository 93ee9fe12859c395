// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as an app's would be. An app names Counterfoil by its URL instead of a path. With
// no traits it fetches what the client needs, and nothing of the services.
let package = Package(
    name: "shop",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "counterfoil", path: "../..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "Shop",
            dependencies: [
                .product(name: "PaymentQueue", package: "counterfoil"),
                .product(name: "ReceiptValidation", package: "counterfoil"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        )
    ]
)
