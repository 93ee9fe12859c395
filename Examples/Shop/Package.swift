// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as an app's would be; an app names the store by its URL instead of a path.
let package = Package(
    name: "shop",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "counterfoil", path: "../.."),
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
