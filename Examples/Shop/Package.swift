// swift-tools-version: 6.2
import PackageDescription

// This is a separate package, like that of a real app. An app refers to Counterfoil by its URL
// instead of a path. Without traits, the package fetches only the client's dependencies and nothing
// for the services.
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
